//! Where the weights of a file come from.

use multiplane_tasks::problem::{Problem, Vocabulary};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The task, the data and the run behind weights, as every model file names them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// Name of the task.
    pub task: String,
    /// Label names and feature count.
    #[serde(flatten)]
    pub vocabulary: Vocabulary,
    /// What defined the run.
    pub spec: Value,
    /// sha256 of the parsed training data.
    pub fingerprint: String,
    /// Training examples.
    pub n: usize,
}

impl Provenance {
    /// Describes training on `problem` by the run that `spec` defines.
    pub fn new(problem: &dyn Problem, spec: Value) -> Self {
        Provenance {
            task: problem.task().into(),
            vocabulary: problem.vocabulary().clone(),
            spec,
            fingerprint: problem.fingerprint().into(),
            n: problem.blocks(),
        }
    }
}
