//! The longest plane that every example has had: what bounds the terms of any sum of planes, one of each example.

use serde::{Deserialize, Serialize};

use crate::linalg;
use crate::plane::PlaneView;
use crate::rounding::TermSizes;
use crate::state::{StateError, ensure, finite};

/// The longest linear part and the largest constant part of each example's planes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Longest {
    lengths: Vec<f64>,
    constants: Vec<f64>,
}

impl Longest {
    /// Nothing seen yet of any of `blocks` examples.
    pub(super) fn new(blocks: usize) -> Self {
        Longest { lengths: vec![0.0; blocks], constants: vec![0.0; blocks] }
    }

    /// Sees a plane of an example. Costs O(stored coefficients).
    pub(super) fn see(&mut self, block: usize, plane: PlaneView<'_>) {
        let length = linalg::sum_squares(plane.star.values()).sqrt();
        self.lengths[block] = self.lengths[block].max(length);
        self.constants[block] = self.constants[block].max(plane.circ.abs());
    }

    /// Returns a bound on the terms at `w` of any sum of planes seen, one of each example.
    pub(super) fn terms(&self, w: &[f64]) -> TermSizes {
        let length = self.lengths.iter().sum::<f64>();
        let norm = linalg::sum_squares(w).sqrt();
        TermSizes { score: length * norm, length, constant: self.constants.iter().sum() }
    }

    /// Refuses what was restored and is not of `blocks` examples.
    pub(super) fn check(&self, blocks: usize) -> Result<(), StateError> {
        let lengths = self.lengths.len() == blocks && self.constants.len() == blocks;
        ensure(lengths && finite(&self.lengths) && finite(&self.constants), "the lengths of planes")
    }
}
