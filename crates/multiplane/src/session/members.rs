//! What a saved state must know of its problem to be handed to another one: which example, label and weight is which.
//! Hashes alone, so that nothing of an example stays where it was removed.

use multiplane_core::state::{StateError, ensure, finite};
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::problem::Vocabulary;
use multiplane_tasks::problem::tables::Axis;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::open::Session;
use crate::error::Error;
use crate::model_report::{ElementName, declared_tables};

/// The examples, labels and weights of a problem, by their hashes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Members {
    /// By example; empty if examples are known by their order alone.
    pub(crate) digests: Vec<u128>,
    /// The share of each example in the mean.
    pub(crate) shares: Vec<f64>,
    /// By label, in their order.
    pub(crate) labels: Vec<u64>,
    /// By weight, in the layout of training; empty if the task does not name its weights.
    pub(crate) weights: Vec<u64>,
    /// Of everything else that planes depend on: the parameters of the task and what it learned from the data.
    pub(crate) rest: u64,
}

impl Members {
    /// Refuses members that were read and do not fit.
    pub(crate) fn check(&self, n: usize, d: usize) -> Result<(), StateError> {
        let by_example = self.shares.len() == n && (self.digests.is_empty() || self.digests.len() == n);
        ensure(by_example && finite(&self.shares), "the shares of the examples")?;
        ensure(self.weights.is_empty() || self.weights.len() == d, "the names of the weights")
    }
}

/// The digests and the weights of the examples of a data set.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExampleKeys {
    digests: Vec<u128>,
    weights: Option<Vec<f64>>,
    /// The names of labels whose numbers alone the task knows.
    labels: Vec<String>,
}

impl ExampleKeys {
    /// Of data; of such as is only predicted there are none.
    pub(crate) fn of(data: &Dataset) -> Self {
        ExampleKeys { digests: data.digests(), weights: data.weights().map(<[f64]>::to_vec), labels: Vec::new() }
    }
}

fn hashed(text: &str) -> u64 {
    Sha256::digest(text).iter().take(8).fold(0, |hash, byte| hash << 8 | u64::from(*byte))
}

/// Joins the hashes of a name's parts.
fn joined(hash: u64, next: u64) -> u64 {
    (hash.rotate_left(25) ^ next).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Session {
    /// Returns true if examples are known by their content.
    pub(crate) fn knows_examples(&self) -> bool {
        !self.keys.digests.is_empty()
    }

    /// Says how labels are called, by number, where the task knows their numbers alone: with other examples these may
    /// be others.
    #[must_use]
    pub fn calling_labels(mut self, names: Vec<String>) -> Session {
        self.keys.labels = names;
        self
    }

    /// Returns true if the task knows labels by numbers that depend on the examples.
    pub(crate) fn numbers_labels(&self) -> bool {
        !self.keys.labels.is_empty()
    }

    /// Returns the vocabulary with labels as users call them.
    fn called(&self) -> Vocabulary {
        let mut vocabulary = self.problem().vocabulary().clone();
        for label in &mut vocabulary.labels {
            let name = label.parse().ok().and_then(|number: usize| self.keys.labels.get(number));
            name.iter().for_each(|name| label.clone_from(name));
        }
        vocabulary
    }

    /// Returns what states of this session's runs must know of its problem.
    pub(crate) fn members(&self) -> Result<Members, Error> {
        let (problem, vocabulary) = (self.problem(), self.called());
        let n = problem.blocks();
        let shares = match &self.keys.weights {
            Some(weights) => weights.iter().map(|weight| weight / problem.facts().total_weight).collect(),
            None => vec![1.0 / n as f64; n],
        };
        let mut task = self.spec().provenance()["task"].take();
        if let Some(task) = task.as_object_mut() {
            task.retain(|_, value| !value.is_null());
        }
        let mut own = vocabulary.own.clone();
        own.remove("width"); // columns are known by their names
        let rest = json!([task, own, format!("{:?}", vocabulary.scale)]);
        Ok(Members {
            digests: self.keys.digests.clone(),
            shares,
            labels: vocabulary.labels.iter().map(|label| hashed(label)).collect(),
            weights: self.weight_names(&vocabulary)?,
            rest: hashed(&Value::to_string(&rest)),
        })
    }

    /// Returns the hash of the name of each weight, in the layout of training; nothing if there are no names.
    fn weight_names(&self, vocabulary: &Vocabulary) -> Result<Vec<u64>, Error> {
        let problem = self.problem();
        if problem.kernel().is_some() {
            return Ok(Vec::new()); // coefficients of rows, which no other data has
        }
        let mut names = Vec::with_capacity(problem.dim());
        for table in declared_tables(&self.provenance())? {
            let of_axis = |axis: &Axis| -> Vec<u64> {
                let name = |at| match ElementName::of(axis, at, vocabulary) {
                    // A feature of the data may have the bias's name.
                    ElementName::Text(name) if axis.bias && at + 1 == axis.len => joined(1, hashed(&name)),
                    ElementName::Text(name) => hashed(&name),
                    ElementName::Number(number) => joined(2, number as u64),
                };
                (0..axis.len).map(name).collect()
            };
            let axes: Vec<Vec<u64>> = table.axes.iter().map(of_axis).collect();
            let mut of_table = vec![hashed(table.name)];
            for axis in &axes {
                of_table = of_table.iter().flat_map(|&hash| axis.iter().map(move |&next| joined(hash, next))).collect();
            }
            names.extend(of_table);
        }
        if names.len() != problem.dim() || problem.layout().file_dim() != problem.dim() {
            return Ok(Vec::new());
        }
        let places: Vec<f64> = (0..names.len()).map(|place| place as f64).collect();
        Ok(problem.from_file_layout(&places).into_iter().map(|place| names[place as usize]).collect())
    }
}
