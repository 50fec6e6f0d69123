//! The step of batch Frank-Wolfe at the end of a gap pass (MP-BCFW paper, Alg. 1; an option of Osokin et al. 2016):
//! the pass has seen all n corners at one w, and so a corner of the whole dual.
//!
//! Corners wait in the working sets, without mass, and go by the rules of those sets after the step. So memory holds up
//! to n planes more while the pass lasts: coefficients, or codes where planes are kept by code. Besides its calls a
//! pass costs O(d), and for each block a plane kept and a step.

use crate::dual::BlockDual;
use crate::plane::PlaneView;
use crate::state::finite;

/// The corners of the gap pass in hand.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct BatchStep {
    /// Sum of their linear parts; empty between gap passes.
    sum: Vec<f64>,
    circ: f64,
    /// Their numbers in the working sets, by block; `None` for the truth.
    corners: Vec<Option<u32>>,
}

impl BatchStep {
    /// Begins a gap pass in `dim` dimensions.
    pub(super) fn begin(&mut self, dim: usize) {
        self.forget();
        self.sum.resize(dim, 0.0);
    }

    /// Forgets all corners: a gap pass has ended, or was left.
    pub(super) fn forget(&mut self) {
        self.sum.clear();
        self.corners.clear();
        self.circ = 0.0;
    }

    /// Remembers the corner of the next block, which is number `kept` in its working set.
    pub(super) fn add(&mut self, corner: PlaneView<'_>, kept: Option<usize>) {
        corner.star.add_to(1.0, &mut self.sum);
        self.circ += corner.circ;
        self.corners.push(kept.map(|k| k as u32));
    }

    /// Steps toward all corners by one share, and forgets them.
    pub(super) fn step(&mut self, dual: &mut impl BlockDual) {
        dual.step_together(&mut self.sum, self.circ, &self.corners);
        self.forget();
    }

    /// Returns whether restored corners are of the first `visited` blocks, in `dim` dimensions, 0 of both outside a gap
    /// pass; `kept` says how many planes a block keeps.
    pub(super) fn is_sound(&self, visited: usize, dim: usize, kept: impl Fn(usize) -> usize) -> bool {
        let known = |(block, corner): (usize, &Option<u32>)| corner.is_none_or(|k| (k as usize) < kept(block));
        let numbers = self.sum.len() == dim && finite(&self.sum) && self.circ.is_finite();
        numbers && self.corners.len() == visited && self.corners.iter().enumerate().all(known)
    }
}
