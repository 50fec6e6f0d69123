//! A model and the data to use it on: what `predict`, `evaluate` and `verify` share.

use std::path::Path;

use multiplane::data::Format;
use multiplane::dataset::Dataset;
use multiplane::entry::TaskEntry;
use multiplane::{DataSpec, Error, Model, ModelFile, PathModel, Problem, is_special, model_format, model_rules};
use serde_json::{Map, Value};

use crate::model_args::OnData;
use crate::terminal::warn;
use crate::tree::apply_sets;

/// Parameters of data that can be said beside a model.
const OF_DATA: [&str; 7] = ["folds", "format", "ignore", "label_column", "separator", "underscore", "weights"];

/// The number of threads asked for; 0 is as many as pay.
pub(crate) fn threads(on: &OnData) -> Result<usize, Error> {
    let text = &on.threads;
    let threads = text.parse().map_err(|_| Error::input(format!("threads = {text}: must be a whole number >= 0")))?;
    multiplane::check_threads(threads)?;
    Ok(threads)
}

/// Loads the model and opens the data in its way; of a path or grid the model at `--lambda`. With `own_folds` the
/// folds that it was trained on are used where `--set data.folds` says nothing.
pub(crate) fn open(on: &OnData, own_folds: bool) -> Result<(Model, Box<dyn Problem>), Error> {
    let model = open_model(on)?;
    let problem = open_data(on, &model, own_folds)?;
    Ok((model, problem))
}

/// Loads the model alone; of a path or grid the one at `--lambda`.
pub(crate) fn open_model(on: &OnData) -> Result<Model, Error> {
    choose(&on.model, on.lambda.as_deref(), ModelFile::load(&on.model)?)
}

/// Returns true if the data is a stream, which cannot be read twice and may be endless.
pub(crate) fn is_stream(on: &OnData) -> bool {
    on.data.as_deref().is_some_and(|path| path == Path::new("-") || is_special(path))
}

/// A path or grid and data opened in its way.
pub(crate) type OpenPath = (PathModel, Box<dyn Problem>);

/// A path or grid of which no `--lambda` is chosen, with the data opened in its way; `None` for anything else.
pub(crate) fn open_all(on: &OnData, own_folds: bool) -> Result<Option<OpenPath>, Error> {
    match ModelFile::load(&on.model)? {
        ModelFile::Path(path) if on.lambda.is_none() => {
            let problem = open_data(on, &path.at(path.lambdas[0])?, own_folds)?;
            Ok(Some((path, problem)))
        }
        _ => Ok(None),
    }
}

/// The model of a file at `--lambda`.
pub(crate) fn choose(file: &Path, lambda: Option<&str>, saved: ModelFile) -> Result<Model, Error> {
    match at_lambda(file, lambda, saved)? {
        Chosen::Model(model) => Ok(model),
        Chosen::None(path) => {
            let (end, start, count) = (path.info.lambda_end, path.lambdas[0], path.lambdas.len());
            let name = file.display();
            Err(Error::input(format!(
                "{name} holds {count} models from lambda = {end} to {start}: choose one with --lambda"
            )))
        }
    }
}

/// The model that a file and `--lambda` choose.
pub(crate) enum Chosen {
    /// Weights at one lambda.
    Model(Model),
    /// A path or grid, and nobody chose.
    None(PathModel),
}

/// The model of the file `name` at a lambda; where none is named, of a path or grid what held-out examples chose.
pub(crate) fn at_lambda(name: &Path, lambda: Option<&str>, saved: ModelFile) -> Result<Chosen, Error> {
    let name = name.display();
    let path = match (saved, lambda) {
        (ModelFile::Model(model), None) => return Ok(Chosen::Model(model)),
        (ModelFile::Model(_), Some(_)) => {
            return Err(Error::input(format!("--lambda: {name} is a model at one lambda, not a path or grid")));
        }
        (ModelFile::Path(path), _) => path,
    };
    let lambda = match (lambda, path.info.chosen) {
        (Some(text), _) => {
            text.trim().parse().map_err(|_| Error::input(format!("lambda = {text}: must be a number")))?
        }
        (None, Some(chosen)) => chosen,
        (None, None) => return Ok(Chosen::None(path)),
    };
    path.warning_at(lambda).into_iter().for_each(warn);
    path.at(lambda).map(Chosen::Model).map_err(|error| Error::input(format!("{name}: {error}")))
}

/// Refuses data that a model was not trained on.
pub(crate) fn check_fingerprint(on: &OnData, problem: &dyn Problem, expected: &str) -> Result<(), Error> {
    if problem.fingerprint() == expected {
        return Ok(());
    }
    let (found, expected) = (&problem.fingerprint()[..12], expected.get(..12).unwrap_or(expected));
    Err(Error::input(format!(
        "{}: this is not the data that the model was trained on (fingerprint {found}..., expected {expected}...)",
        shown(on)
    )))
}

fn only_data(key: &str) -> Error {
    Error::input(format!("--set {key}: only data.* can be set here, the rest is in the model"))
}

/// Returns the `--set task.*` that say how to run an external program; a model has all other parameters of a task.
pub(crate) fn local_parameters(on: &OnData, model: &Model) -> Result<Map<String, Value>, Error> {
    let mut tree = Map::new();
    apply_sets(&mut tree, &on.set)?;
    match tree.remove("task") {
        Some(Value::Object(local)) if !multiplane::tasks::local_parameters(&model.info.provenance.task).is_empty() => {
            Ok(local)
        }
        Some(_) => Err(only_data("task")),
        None => Ok(Map::new()),
    }
}

/// Asks for data where the task cannot do without.
pub(crate) fn need_data(task: &TaskEntry, path: Option<&Path>) -> Result<(), Error> {
    if path.is_none() && multiplane::needs_data(task) {
        return Err(Error::input("no data given: --data PATH"));
    }
    Ok(())
}

/// Says what happened to the workers of a problem: as a warning where it was made good, with the error where not.
pub(crate) fn told<T>(problem: &dyn Problem, result: Result<T, Error>) -> Result<T, Error> {
    match (&result, problem.oracles().pool_stats().summary()) {
        (Ok(_), Some(told)) => warn(format!("on the way {told}")),
        (Ok(_), None) | (Err(_), _) => {}
    }
    result.map_err(|error| multiplane::with_mishaps(error, problem))
}

/// The data's name, for messages.
fn shown(on: &OnData) -> String {
    on.data.as_ref().map_or_else(|| "the program's data".into(), |path| path.display().to_string())
}

/// The data as given, and the parameters that the task takes here.
pub(crate) fn said_of(on: &OnData, model: &Model) -> Result<(DataSpec, Map<String, Value>), Error> {
    let mut tree = Map::new();
    apply_sets(&mut tree, &on.set)?;
    let data = match tree.remove("data") {
        Some(Value::Object(data)) => data,
        _ => Map::new(),
    };
    let local = local_parameters(on, model)?;
    tree.remove("task");
    if let Some(key) = tree.keys().next() {
        return Err(only_data(key));
    }
    if let Some(key) = data.keys().find(|key| !OF_DATA.contains(&key.as_str())) {
        return Err(Error::input(multiplane::unknown_name("parameter of data:", key, OF_DATA)));
    }
    let mut spec = DataSpec::from_table(&data)?;
    if let Some(name) = &on.format {
        spec.format = Some(multiplane::format_by_name(name)?);
    }
    Ok((spec, local))
}

/// Returns the format of a file: the one that is said, or else the one that its name, its content or the task tells.
pub(crate) fn format_of(model: &Model, spec: &DataSpec, path: &Path) -> Result<Option<Format>, Error> {
    let only = || match multiplane::find_task(&model.info.provenance.task).map(|task| task.formats) {
        Ok([only]) => Some(*only),
        _ => None,
    };
    match spec.format {
        Some(format) => Ok(Some(format)),
        None => Ok(model_format(model, path)?.or_else(only)),
    }
}

/// Reads the data in the model's way, and what the task takes here.
pub(crate) fn read(on: &OnData, model: &Model, own_folds: bool) -> Result<(Dataset, Map<String, Value>), Error> {
    let (spec, local) = said_of(on, model)?;
    let rules = model_rules(model, &spec);
    let DataSpec { format, folds, .. } = spec;
    let entry = multiplane::find_task(&model.info.provenance.task)?;
    need_data(entry, on.data.as_deref())?;
    let format = match (format, &on.data) {
        (None, Some(path)) => model_format(model, path)?,
        (format, _) => format,
    };
    let mut data = multiplane::read_task_data(entry, on.data.as_deref(), format, folds.as_deref(), &rules)?;
    if own_folds && folds.is_none() {
        data = multiplane::training_part(&data, &model.info.provenance).unwrap_or(data);
    }
    Ok((data, local))
}

/// Opens the data in the way of a model; with `own_folds` as [`open`] does.
pub(crate) fn open_data(on: &OnData, model: &Model, own_folds: bool) -> Result<Box<dyn Problem>, Error> {
    let (data, local) = read(on, model, own_folds)?;
    let problem = model.open_with(data, &local).map_err(|error| mismatch(on, model, &local, error))?;
    for warning in problem.warnings() {
        warn(warning);
    }
    Ok(problem)
}

/// Adds the names of model and data to an error of opening them.
pub(crate) fn mismatch(on: &OnData, model: &Model, local: &Map<String, Value>, error: Error) -> Error {
    let task = &model.info.provenance.task;
    let is_program = multiplane::find_task(task).is_ok_and(|entry| entry.local.contains(&"command"));
    match error {
        // What is missing is no fault of model and data.
        Error::Input(reason) if is_program && !local.contains_key("command") => Error::input(format!(
            "{}: a model of task {task}, whose answers a program gives that is no part of it: {reason}",
            on.model.display()
        )),
        Error::Input(reason) => {
            let (model, data) = (on.model.display(), shown(on));
            Error::input(format!("model {model} and data {data} do not match: {reason}"))
        }
        failed => failed,
    }
}
