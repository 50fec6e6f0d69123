//! The hashes by which states know the examples, labels and weights of a session's problem.

use multiplane_tasks::problem::Vocabulary;
use multiplane_tasks::problem::tables::Axis;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::members::Members;
use super::open::Session;
use crate::error::Error;
use crate::model_report::{ElementName, declared_tables};

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
