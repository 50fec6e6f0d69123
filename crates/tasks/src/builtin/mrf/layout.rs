//! The task itself: how many features there are, and what finds labellings.

use super::spec::{Inference, MrfSpec};
use crate::problem::tables::{Axis, WeightTable};

/// The task: the number of features, and what finds labellings.
#[derive(Clone, Debug)]
pub struct MrfTask {
    pub(super) features: usize,
    pub(super) inference: Inference,
    pub(super) max_iterations: u64,
}

/// The table of the weights; features are counted from 0, as columns of arrays are.
pub(super) fn tables(features: usize) -> Vec<WeightTable> {
    vec![WeightTable::new("feature", [Axis::features("feature", features, 0)])]
}

impl MrfTask {
    /// Makes a task of so many features; see [`MrfSpec`] for the rest.
    pub fn new(features: usize, spec: &MrfSpec) -> Self {
        MrfTask { features, inference: spec.inference, max_iterations: spec.max_iterations }
    }
}
