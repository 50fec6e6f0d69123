//! What a saved state must know of its problem to be handed to another one: which example, label and weight is which.
//! Hashes alone, so that nothing of an example stays where it was removed.

use multiplane_core::state::{StateError, ensure, finite};
use multiplane_tasks::dataset::Dataset;
use serde::{Deserialize, Serialize};

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
    pub(super) digests: Vec<u128>,
    pub(super) weights: Option<Vec<f64>>,
    /// The names of labels whose numbers alone the task knows.
    pub(super) labels: Vec<String>,
}

impl ExampleKeys {
    /// Of data; of such as is only predicted there are none.
    pub(crate) fn of(data: &Dataset) -> Self {
        ExampleKeys { digests: data.digests(), weights: data.weights().map(<[f64]>::to_vec), labels: Vec::new() }
    }
}
