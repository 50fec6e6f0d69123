//! The task of a specification, opened on data.

use std::path::Path;
use std::sync::Arc;

use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::problem::{OpenError, Problem, Vocabulary};
use serde_json::Value;

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
