//! The task of a specification, opened on data; its class weights as the list that tasks take.

use std::path::Path;
use std::sync::Arc;

use multiplane_tasks::class_weights::ClassWeights;
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::problem::{OpenError, Problem, Vocabulary};
use serde_json::{Value, json};

use crate::error::Error;
use crate::spec::RunSpec;

/// Opens it; `vocabulary` is that of the training data where these are others, and `path` the file that they are of.
///
/// # Errors
///
/// [`Error::Input`] where the data does not fit the task or its parameters.
pub(crate) fn open_task(
    spec: &RunSpec,
    data: Dataset,
    vocabulary: Option<&Vocabulary>,
    path: Option<&Path>,
) -> Result<Arc<dyn Problem>, Error> {
    let parameters = Value::Object(spec.task.params.clone());
    match (spec.task_entry()?.open(&parameters, data, vocabulary), path) {
        (Ok(problem), _) => Ok(problem.into()),
        // What is wrong with the data tells its own place, and a parameter has none in them.
        (Err(error @ (OpenError::Data(_) | OpenError::Parameter(_))), _) | (Err(error), None) => Err(error.into()),
        (Err(error), Some(path)) => Err(Error::input(format!("{}: {error}", path.display()))),
    }
}

/// Puts the list in the place of names and of `balanced`, by the labels of the training data. The task is opened
/// without them for that, as it alone knows what is a label.
pub(crate) fn list_class_weights(
    spec: &mut RunSpec,
    data: &Dataset,
    vocabulary: Option<&Vocabulary>,
) -> Result<(), Error> {
    let given = spec.task.params.get("class_weights").cloned().unwrap_or_default();
    let Ok(Some(weights)) = serde_json::from_value::<Option<ClassWeights>>(given) else { return Ok(()) };
    if !weights.needs_labels() {
        return Ok(());
    }
    let mut plain = spec.clone();
    for name in ["class_weights", "kernel", "kernel_rows", "kernel_budget"] {
        plain.task.params.remove(name);
    }
    let problem = open_task(&plain, data.clone(), vocabulary, spec.data.path.as_deref())?;
    let labels = &problem.vocabulary().labels;
    if labels.is_empty() {
        return Ok(()); // answers have no labels, so the task has no such parameter: opening it says so
    }
    let counts = problem.predictor().label_weights().unwrap_or_default();
    let listed = weights.listed(labels, &counts).map_err(|error| Error::input(error.to_string()))?;
    spec.task.params.insert("class_weights".into(), json!(listed));
    Ok(())
}
