//! The origin of a file's weights.

use multiplane_tasks::problem::{Problem, Vocabulary};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::container::broken;
use super::dictionary::FeatureTensors;

/// The task, the data and the run behind weights, as every model file names them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// Name of the task.
    pub task: String,
    /// Label names and feature count.
    #[serde(flatten)]
    pub vocabulary: Vocabulary,
    /// The specification of the run.
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

/// Reads what a file says of itself, with what it holds of its features; labels must differ. Fields that no struct of
/// ours takes are the task's own.
pub(super) fn read_info<T: Serialize + DeserializeOwned>(
    info: Value,
    features: FeatureTensors,
    provenance: fn(&mut T) -> &mut Provenance,
) -> Result<T, String> {
    let mut read: T = serde_json::from_value(info.clone()).map_err(|error| broken(&error))?;
    let known = serde_json::to_value(&read).map_err(|error| broken(&error))?;
    let Value::Object(mut own) = info else { return Ok(read) }; // it was a struct
    own.retain(|key, _| known.get(key).is_none());
    let vocabulary = &mut provenance(&mut read).vocabulary;
    vocabulary.own = own;
    features.give(vocabulary);
    let mut labels: Vec<&str> = vocabulary.labels.iter().map(String::as_str).collect();
    labels.sort_unstable();
    if let Some(pair) = labels.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("its label `{}` comes twice", pair[0]));
    }
    let (labels, kinds) = (vocabulary.labels.len(), vocabulary.label_kinds.len());
    if kinds > 0 && kinds != labels {
        return Err(format!("it has kinds of {kinds} labels, expected {labels}"));
    }
    if let Some(field) = ["task", "solver", "stop"].into_iter().find(|field| {
        let given = &provenance(&mut read).spec[field];
        !(given.is_null() || given.is_object())
    }) {
        return Err(format!("its spec.{field} is no object"));
    }
    modernise(&mut provenance(&mut read).spec);
    Ok(read)
}

/// Rewrites what earlier versions wrote of a run: a kernel's budget was an object with its `rows` (ADR 0067).
fn modernise(spec: &mut Value) {
    if let Some(budget @ Value::Object(_)) = spec.pointer_mut("/task/kernel_budget") {
        *budget = budget["rows"].take();
    }
}
