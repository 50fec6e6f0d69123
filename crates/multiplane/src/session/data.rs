//! Reading the data of a task.

use std::path::Path;

use multiplane_tasks::builtin::unused_columns::used_columns;
use multiplane_tasks::data::{self, Column, Format, ReadRules, conll, conllu, crfsuite, csv, guess, hmm, letter};
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::entry::TaskEntry;

use crate::error::Error;
use crate::file::{Model, Provenance, is_special};
use crate::spec::{DataSpec, RunSpec, find_task};

/// Reads a data set and selects its folds.
///
/// # Errors
///
/// [`Error::Input`] where the file cannot be read, or has no such folds.
pub fn read_data(path: &Path, format: Option<Format>, folds: Option<&[u32]>) -> Result<Dataset, Error> {
    read_by(path, format, folds, &ReadRules::default())
}

fn read_by(path: &Path, format: Option<Format>, folds: Option<&[u32]>, rules: &ReadRules) -> Result<Dataset, Error> {
    let mut data = data::read_with(path, format, rules)?;
    if let Some(folds) = folds {
        let refuse = |reason: String| Error::input(format!("{}: {reason}", path.display()));
        data = data.select_folds(folds).map_err(refuse)?;
    }
    weigh(data, rules)
}

/// Lets examples count as much as the file of weights says, where there is one.
pub(super) fn weigh(data: Dataset, rules: &ReadRules) -> Result<Dataset, Error> {
    let refuse = |path: &Path, reason: String| Error::input(format!("{}: {reason}", path.display()));
    match &rules.weights {
        Some(file) => data.with_weights(data::weights::read(file)?).map_err(|reason| refuse(file, reason)),
        None => Ok(data),
    }
}

/// Returns true if a task learns from files, and not only from what a program of its own knows.
pub fn needs_data(task: &TaskEntry) -> bool {
    task.without_data.is_none()
}

/// Reads what a task learns from: a task that reads nothing itself needs no data, and what it gets is not guessed at.
///
/// # Errors
///
/// [`Error::Input`] where the file cannot be read, has no such folds, or is needed and not named.
pub fn read_task_data(
    task: &TaskEntry,
    path: Option<&Path>,
    format: Option<Format>,
    folds: Option<&[u32]>,
    rules: &ReadRules,
) -> Result<Dataset, Error> {
    let only = match task.formats {
        [only] => Some(*only),
        // Treebanks are known by their lines; the first reader says best what is wrong with other lines.
        [first, second] if *second == &conllu::FORMAT => {
            let guessed = path.filter(|path| !is_special(path)).and_then(|path| guess(path).ok());
            Some(guessed.filter(|guessed| guessed == second).unwrap_or(first))
        }
        _ => None,
    };
    match (path, task.without_data) {
        (Some(path), _) => {
            let is_guessed = format.is_none();
            let format = match format.or(only) {
                None if !is_special(path) => Some(data::guess_for(path, Some((task.name, task.formats)))?),
                given => given,
            };
            let read = read_by(path, format, folds, rules);
            match format.filter(|format| !task.formats.is_empty() && !task.formats.contains(format)) {
                // Where nobody asked for this format, what is wrong with it beside helps nobody.
                Some(format) if is_guessed && read.is_err() => {
                    let names: Vec<&str> = task.formats.iter().map(|format| format.name).collect();
                    let (names, path) = (names.join(", "), path.display());
                    Err(Error::input(format!(
                        "{path}: task `{}` reads {names}, found format {}",
                        task.name, format.name
                    )))
                }
                _ => read,
            }
        }
        (None, Some(_)) if rules.weights.is_some() => {
            Err(Error::input("data.weights: only the program knows its examples: they take no weights"))
        }
        (None, Some(make)) => Ok(make()),
        (None, None) => Err(Error::input("no data given")),
    }
}

/// Returns true if rows of data are rows of a kernel matrix.
pub(crate) fn is_given(spec: &RunSpec) -> bool {
    spec.task.params.get("kernel").is_some_and(|kernel| kernel["name"] == "precomputed")
}

/// Tells the format of a file that a model is used on: what its content says, if the model's task reads that, or else
/// what the model was trained on, as far as its vocabulary gives that away. Returns nothing where neither is known.
///
/// # Errors
///
/// For a model of an unknown task.
pub fn model_format(model: &Model, path: &Path) -> Result<Option<Format>, Error> {
    format_for(model, if path.is_file() { guess(path).ok() } else { None }, path)
}

/// The same by what the content says. What content and name agree on, and letters, which nothing else looks like,
/// are believed also where the model's task does not read that: it says so best.
pub(super) fn format_for(model: &Model, guessed: Option<Format>, path: &Path) -> Result<Option<Format>, Error> {
    let Provenance { task, vocabulary, .. } = &model.info.provenance;
    let readable = find_task(task)?.formats;
    let is_readable = |format: &Format| readable.contains(format);
    let is_plain = |format: &Format| *format == &letter::FORMAT || format.is_name(path);
    let is_believed = |format: &Format| is_readable(format) || readable.len() > 1 && is_plain(format);
    if guessed.as_ref().is_some_and(is_believed) {
        return Ok(guessed);
    }
    // Numbers of columns are no names.
    let is_numbered = used_columns(vocabulary).is_some();
    let is_named = vocabulary.dictionary.is_some() && !is_numbered;
    let is_letter = |label: &String| matches!(label.as_bytes(), [b'a'..=b'z']);
    let known: Format = match readable {
        [only] => only,
        [first, second] if *second == &conllu::FORMAT => first,
        _ if is_named && readable.contains(&&csv::FORMAT) => &csv::FORMAT, // columns with names
        // Features with names are made of text by templates, or attributes.
        _ if vocabulary.own.contains_key("template") => &conll::FORMAT,
        _ if is_named => &crfsuite::FORMAT,
        _ if is_numbered || !vocabulary.labels.iter().all(is_letter) => &hmm::FORMAT,
        _ if guessed.is_none() => &letter::FORMAT,
        _ => return Ok(guessed), // what it holds is told best by the task that does not read it
    };
    Ok(Some(known).filter(is_readable))
}

/// Returns the rules for readers of data that a model is used on: labels may be missing, and what the model knows of
/// columns and labels tells where they are.
pub fn model_rules(model: &Model, spec: &DataSpec) -> ReadRules {
    let Provenance { task, vocabulary, spec: run, .. } = &model.info.provenance;
    let bias = usize::from(run["task"]["bias"] == true);
    let (features, names) = match used_columns(vocabulary) {
        Some((width, _)) => (Some(width), None),
        None => (vocabulary.features.checked_sub(bias), vocabulary.dictionary.clone()),
    };
    // Of another task's model they are no columns of tables.
    let reads = |format: Format| find_task(task).is_ok_and(|entry| entry.formats.contains(&format));
    let (is_table, is_treebank) = (reads(&csv::FORMAT), reads(&conllu::FORMAT));
    let own: Option<Vec<String>> =
        serde_json::from_value(run["data"]["ignore"].clone()).ok().filter(|_| is_table || is_treebank);
    let given = spec.rules();
    let own_label = run["data"]["label_column"].as_str().filter(|_| is_treebank && given.label_column.is_none());
    let by_model = spec.ignore.is_none() && own.is_some();
    let ignored = if by_model { own.into_iter().flatten().map(Column).collect() } else { given.ignored.clone() };
    ReadRules {
        unlabelled: true,
        label_by_model: own_label.is_some(),
        label_column: own_label.map(|label| Column(label.to_owned())).or(given.label_column),
        underscore: given.underscore.or_else(|| run["data"]["underscore"].as_bool()),
        underscore_by_model: given.underscore.is_none(),
        ignored,
        ignored_by_model: by_model,
        features: features.filter(|&features| features > 0 && is_table),
        names: names.filter(|_| is_table),
        named_labels: vocabulary.labels.iter().any(|label| label.parse::<i64>().is_err()),
        ..given
    }
}
