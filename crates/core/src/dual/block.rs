//! The plane of one example: a convex combination of planes seen, as numbers.

use crate::linalg;
use crate::plane::{PlaneView, Star};
use crate::rounding::TermSizes;
use crate::state::finite;

/// One example's plane `phi^i`: coordinates in order of first appearance, or all of them.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Block {
    /// Touched coordinates, each once, in no order; unused when dense.
    pub(super) indices: Vec<u32>,
    pub(super) values: Vec<f64>,
    pub(super) circ: f64,
    pub(super) dense: bool,
    /// Steps since the plane was a single one: each rounds it once more.
    pub(super) steps: u32,
}

impl Block {
    pub(super) fn is_zero(&self) -> bool {
        self.values.is_empty() && self.circ == 0.0
    }

    pub(super) fn score(&self, w: &[f64]) -> f64 {
        self.view().score(w)
    }

    pub(super) fn view(&self) -> PlaneView<'_> {
        PlaneView { star: self.along(&self.values), circ: self.circ }
    }

    /// Values aligned with the block's coordinates as a linear part.
    pub(super) fn along<'a>(&'a self, values: &'a [f64]) -> Star<'a> {
        if self.dense { Star::Dense(values) } else { Star::Sparse { indices: &self.indices, values } }
    }

    pub(super) fn is_sound(&self, dim: usize) -> bool {
        let coordinates = if self.dense {
            self.values.len() == dim
        } else {
            self.values.len() == self.indices.len() && self.indices.iter().all(|&index| (index as usize) < dim)
        };
        coordinates && finite(&self.values) && self.circ.is_finite()
    }

    pub(super) fn make_dense(&mut self, dim: usize) {
        let mut values = vec![0.0; dim];
        linalg::scatter_axpy(1.0, &self.indices, &self.values, &mut values);
        *self = Block { indices: Vec::new(), values, circ: self.circ, dense: true, steps: self.steps };
    }
}

/// Adds the linear parts of all blocks to `sum` and returns the sum of their constant parts.
pub(super) fn add_blocks(blocks: &[Block], sum: &mut [f64]) -> f64 {
    for block in blocks {
        block.view().star.add_to(1.0, sum);
    }
    blocks.iter().map(|block| block.circ).sum()
}

/// The most that a step adds to the error of a block, in units of u times the terms: of the direction, of the step, of
/// the sum. Errors shrink with the mass of what they belong to, so that those of all steps add up and no more.
const PER_STEP: f64 = 6.0;

/// Returns the additions that the coordinates of a block went through at most.
pub(super) fn additions(blocks: &[Block]) -> f64 {
    PER_STEP * f64::from(blocks.iter().map(|block| block.steps).max().unwrap_or(0))
}

/// Returns the size of the terms of all blocks at `w`.
pub(super) fn seen(blocks: &[Block], w: &[f64]) -> TermSizes {
    let mut seen = TermSizes::default();
    blocks.iter().for_each(|block| seen.add(1.0, block.view(), w));
    seen
}
