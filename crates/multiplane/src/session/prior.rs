//! Prior weights and frozen weights of a run, as a specification names them: `lambda/2 |w - w0|^2` instead of
//! `lambda/2 |w|^2`, and weights that keep their prior value.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::Path;

use multiplane_core::metric::Metric;
use multiplane_core::regularizer::{Constraint, Regularizer};
use multiplane_tasks::problem::tables::{Axis, AxisNames, WeightTable};
use multiplane_tasks::problem::{OpenError, Problem, Vocabulary};
use serde_json::{Map, Value};

use crate::error::Error;
use crate::file::{Model, ModelFile, Provenance, sha256};
use crate::model_report::{ElementName, declared_tables, readable};
use crate::spec::RunSpec;
use crate::suggest;

/// sha256 of weights, 8 bytes each, little endian.
pub fn weights_sha256(w: &[f64]) -> String {
    sha256(&[&w.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>()])
}

/// Reads the weights, in the layout of files, of a model that is to be the prior of runs on `problem`, matched by the
/// names of labels and features. Refuses a model of another task, of other labels or features without names, at several
/// lambdas, or, with `sha256`, of other weights.
///
/// # Errors
///
/// [`Error::Input`] with what does not fit.
pub fn read_prior(path: &Path, sha256: Option<&str>, problem: &dyn Problem) -> Result<Vec<f64>, Error> {
    Ok(weights_for(path, &load(path)?, sha256, problem)?.0)
}

fn load(path: &Path) -> Result<Model, Error> {
    match ModelFile::load(path)? {
        ModelFile::Model(model) => Ok(model),
        ModelFile::Path(_) => {
            let path = path.display();
            Err(Error::input(format!("prior {path}: it is a path or grid, expected a model at one lambda")))
        }
    }
}

/// The weights of a model that was read, if they fit, and a warning about names that one of the two does not have.
fn weights_for(
    path: &Path,
    model: &Model,
    sha256: Option<&str>,
    problem: &dyn Problem,
) -> Result<(Vec<f64>, Option<String>), Error> {
    let refuse = |reason: String| Err(Error::input(format!("prior {}: {reason}", path.display())));
    let (info, vocabulary) = (&model.info, problem.vocabulary());
    let old = &info.provenance.vocabulary;
    if info.provenance.task != problem.task() {
        return refuse(format!("it is a model of task `{}`, expected `{}`", info.provenance.task, problem.task()));
    }
    if info.provenance.vocabulary.support.is_some() {
        return refuse(without_kernel("it is a model with a kernel, whose weights are those of rows"));
    }
    if info.provenance.vocabulary.scale != vocabulary.scale {
        return refuse("its features were not scaled as those of the training data are (task.scale)".into());
    }
    let (w, told) = if old == vocabulary {
        (model.w.clone(), None)
    } else {
        let now = Provenance { vocabulary: vocabulary.clone(), ..info.provenance.clone() };
        let (before, after) = (declared_tables(&info.provenance)?, declared_tables(&now)?);
        let by_label = |axis: &Axis| matches!(axis.names, AxisNames::Labels | AxisNames::LabelPairs(_));
        if before.iter().map(WeightTable::size).sum::<usize>() != model.w.len() {
            return refuse("its weights are not those of its labels and features".into());
        }
        if old.labels != vocabulary.labels && !after.iter().flat_map(|table| &table.axes).any(by_label) {
            return refuse("its labels are not those of the training data".into());
        }
        let named = old.dictionary.is_some() && vocabulary.dictionary.is_some();
        if old.own.get("template") != vocabulary.own.get("template") || !(named || old.features == vocabulary.features)
        {
            return refuse("its features are not those of the training data".into());
        }
        let tables = [(&before[..], old), (&after[..], vocabulary)];
        let told = differences(old, vocabulary).map(|told| format!("prior {}: {told}", path.display()));
        (matched(&model.w, tables), told)
    };
    if w.len() != problem.layout().file_dim() {
        return refuse(format!("it has {} weights, expected {}", w.len(), problem.layout().file_dim()));
    }
    let found = weights_sha256(&w);
    match sha256 {
        Some(expected) if expected != found => {
            refuse(format!("these are not the weights of before (sha256 {found:.12}..., expected {expected:.12}...)"))
        }
        _ => Ok((w, told)),
    }
}

/// Moves weights from the tables of one vocabulary to those of another, by the names on their axes. What has no
/// counterpart begins at 0.
fn matched(w: &[f64], [(before, old), (after, new)]: [(&[WeightTable], &Vocabulary); 2]) -> Vec<f64> {
    let mut found = Vec::with_capacity(after.iter().map(WeightTable::size).sum());
    for table in after {
        let start: usize = before.iter().take_while(|other| other.name != table.name).map(WeightTable::size).sum();
        let other = before.iter().find(|other| other.name == table.name && other.axes.len() == table.axes.len());
        let Some(other) = other else {
            found.resize(found.len() + table.size(), 0.0);
            continue;
        };
        let places = |(axis, other): (&Axis, &Axis)| -> Vec<Option<usize>> {
            // A feature of the data may have the bias's name.
            let key = |axis: &Axis, at, of| (axis.bias && at + 1 == axis.len, ElementName::of(axis, at, of));
            let known: HashMap<_, usize> = (0..other.len).map(|at| (key(other, at, old), at)).collect();
            (0..axis.len).map(|at| known.get(&key(axis, at, new)).copied()).collect()
        };
        let places: Vec<_> = table.axes.iter().zip(&other.axes).map(places).collect();
        found.extend((0..table.size()).map(|index| {
            let at = table.place(index).into_iter().zip(&places).map(|(at, places)| places[at]);
            let index = at.zip(&other.axes).try_fold(0, |index, (at, axis)| at.map(|at| index * axis.len + at));
            index.map_or(0.0, |index| w[start + index])
        }));
    }
    found
}

/// Says which labels and features only one of two vocabularies has; `None` if there are none.
fn differences(old: &Vocabulary, new: &Vocabulary) -> Option<String> {
    let names = |vocabulary: &Vocabulary| -> Vec<String> {
        vocabulary.dictionary.iter().flat_map(|names| names.iter().map(readable)).collect()
    };
    let missing = |what: &str, of: &[String], from: &[String]| {
        let known: HashSet<&String> = from.iter().collect();
        let missing: Vec<&String> = of.iter().filter(|name| !known.contains(name)).collect();
        let first = missing.first()?;
        Some(format!("{} {what} (such as `{first}`)", missing.len()))
    };
    let (had, has) = (names(old), names(new));
    let list = |parts: [Option<String>; 2]| match parts.into_iter().flatten().collect::<Vec<_>>().join(" and ") {
        parts if parts.is_empty() => "nothing".into(),
        parts => parts,
    };
    let gone = [missing("labels", &old.labels, &new.labels), missing("features", &had, &has)];
    let fresh = [missing("labels", &new.labels, &old.labels), missing("features", &has, &had)];
    let is_any = gone.iter().chain(&fresh).any(Option::is_some);
    let (gone, fresh) = (list(gone), list(fresh));
    is_any.then(|| format!("the training data does not have {gone} of it; {fresh} of the data is new and begins at 0"))
}

/// Says that priors do without kernels.
fn without_kernel(found: &str) -> String {
    format!("{found}; priors do without kernels, expected task.kernel = none")
}

/// The regulariser of a run; notes the fingerprint of the prior in `spec`, and what is to be said of it in `warnings`.
pub(crate) fn regularizer(
    spec: &mut RunSpec,
    problem: &dyn Problem,
    lambda: f64,
    warnings: &mut Vec<String>,
) -> Result<Regularizer, Error> {
    let mut regularizer = Regularizer::from(lambda).with_metric(metric(spec, problem)?);
    if let Some(path) = &spec.regularizer.prior {
        if regularizer.metric().has_kernel() {
            return Err(Error::Input(format!("prior {}: {}", path.display(), without_kernel("the task has a kernel"))));
        }
        let model = load(path)?;
        if model.info.provenance.task == problem.task() {
            check_switches(path, &model, &spec.task.params)?;
        }
        let (w, told) = weights_for(path, &model, spec.regularizer.prior_sha256.as_deref(), problem)?;
        warnings.extend(told);
        spec.regularizer.prior_sha256 = Some(weights_sha256(&w));
        regularizer = regularizer.with_prior(problem.from_file_layout(&w));
    }
    if let Some(items) = &spec.regularizer.freeze {
        if regularizer.metric().has_kernel() {
            let kernel = spec.task.params.get("kernel").and_then(|kernel| kernel["name"].as_str()).unwrap_or("?");
            return Err(Error::input(format!(
                "regularizer.freeze: not with a kernel (task.kernel={kernel}), whose weights are coefficients of rows"
            )));
        }
        regularizer = regularizer.with_constraints(frozen(items, problem)?);
    }
    with_task(regularizer, problem)
}

/// The metric of a run; what is wrong with the data names the file.
fn metric(spec: &RunSpec, problem: &dyn Problem) -> Result<Metric, Error> {
    problem.metric().map_err(|error| match (&error, &spec.data.path) {
        (OpenError::Mismatch(_), Some(path)) => Error::input(format!("{}: {error}", path.display())),
        _ => error.into(),
    })
}

/// The regulariser with the constraints that the task declares, if the two go together.
pub(crate) fn with_task(regularizer: Regularizer, problem: &dyn Problem) -> Result<Regularizer, Error> {
    let ranges = &problem.facts().nonnegative;
    match regularizer.fault(problem.dim()).or_else(|| regularizer.nonnegative_fault(ranges)) {
        Some(fault) => Err(Error::Input(fault)),
        None => Ok(regularizer.with_nonnegative(ranges, problem.dim())),
    }
}

/// Refuses a prior whose task has other switches (a bias, ends) or pairs: its weights may be as many and mean other
/// things.
fn check_switches(path: &Path, model: &Model, params: &Map<String, Value>) -> Result<(), Error> {
    for (key, value) in params.iter().filter(|(key, value)| value.is_boolean() || *key == "pairwise") {
        let found = &model.info.provenance.spec["task"][key];
        if found != value {
            let path = path.display();
            return Err(Error::input(format!(
                "prior {path}: it was trained with task.{key} = {found}, expected {value}"
            )));
        }
    }
    Ok(())
}

/// The constraints that freeze these blocks and ranges.
fn frozen(items: &[String], problem: &dyn Problem) -> Result<Vec<Constraint>, Error> {
    let mut marks = vec![0.0; problem.dim()];
    for item in items {
        marks[weights(item, problem)?].fill(1.0);
    }
    if !marks.contains(&0.0) {
        return Err(Error::input(format!("freeze = {}: must leave a weight free", items.join(","))));
    }
    let sign = |mark: f64| if mark == 1.0 { Constraint::Frozen } else { Constraint::Free };
    Ok(problem.from_file_layout(&marks).into_iter().map(sign).collect())
}

/// The indices that `text` names.
fn weights(text: &str, problem: &dyn Problem) -> Result<Range<usize>, Error> {
    let blocks = problem.layout().weight_blocks();
    if let Some((_, range)) = blocks.iter().find(|(name, _)| *name == text) {
        return Ok(range.clone());
    }
    if !text.starts_with(|first: char| first.is_ascii_digit()) && !blocks.is_empty() {
        return Err(Error::Input(suggest::unknown("block of weights", text, blocks.iter().map(|(name, _)| *name))));
    }
    let (start, end) = match text.split_once("..") {
        Some((start, end)) => (start.parse().ok(), end.parse().ok()),
        None => (text.parse().ok(), text.parse::<usize>().ok().and_then(|k| k.checked_add(1))),
    };
    match (start, end) {
        (Some(start), Some(end)) if start < end && end <= problem.dim() => Ok(start..end),
        _ => Err(Error::input(format!(
            "freeze = {text}: must be an index or a range as in 0..128, of weights 0..{}",
            problem.dim()
        ))),
    }
}
