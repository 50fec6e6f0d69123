//! The step of batch Frank-Wolfe at the end of a gap pass (MP-BCFW paper, Alg. 1; an option of Osokin et al. 2016):
//! the pass has seen all n corners at one w, and so a corner of the whole dual.
//!
//! Corners wait in the working sets, without mass, and go by the rules of those sets after the step. So memory holds up
//! to n planes more while the pass lasts: coefficients, or codes where planes are kept by code. Beyond its calls a pass
//! costs O(d), and for each block what keeping a plane and a step cost.

use super::{BlockFrankWolfeSolver, Pass};
use crate::context::Ctx;
use crate::linalg;
use crate::oracle::MaxOracle;
use crate::plane::{PlaneView, Star};
use crate::state::{expect, finite};

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
    /// Remembers a corner of dimension `dim` that is number `kept` in the working set of `block`.
    pub(super) fn add(&mut self, block: usize, dim: usize, corner: PlaneView<'_>, kept: Option<usize>) {
        if block == 0 {
            self.begin(dim);
        }
        match corner.star {
            Star::Sparse { indices, values } => linalg::scatter_axpy(1.0, indices, values, &mut self.sum),
            Star::Dense(values) => linalg::axpy(1.0, values, &mut self.sum),
        }
        self.circ += corner.circ;
        self.corners.push(kept.map(|k| k as u32));
    }

    fn begin(&mut self, dim: usize) {
        self.sum.clear();
        self.sum.resize(dim, 0.0);
        self.circ = 0.0;
        self.corners.clear();
    }
}

impl BlockFrankWolfeSolver {
    /// What is wrong with the corners of a state that was restored.
    pub(super) fn batch_step_fault(&self) -> Option<String> {
        let wanted = self.config.gap_step == super::GapStep::Batch;
        let sound = |batch: &BatchStep| {
            let kept = |(block, corner): (usize, &Option<u32>)| {
                corner.is_none_or(|k| (k as usize) < self.mechanics.sets().len(block))
            };
            let numbers = batch.sum.len() == self.mechanics.weights().len() && finite(&batch.sum);
            let corners = batch.corners.len() == self.visited && batch.corners.iter().enumerate().all(kept);
            self.pass != Pass::Gap || self.visited == 0 || (numbers && batch.circ.is_finite() && corners)
        };
        expect(self.batch_step.is_some() == wanted && self.batch_step.iter().all(sound), "the corners of a gap pass")
    }

    /// Ends a gap pass: steps toward the corners that it has seen, and lets go those that are not to be kept.
    pub(super) fn step_jointly<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) {
        let Some(batch) = &mut self.batch_step else { return };
        self.mechanics.step_jointly(&mut batch.sum, batch.circ, &batch.corners);
        batch.sum.clear();
        batch.corners.clear();
        for block in 0..self.blocks {
            ctx.charge_planes(1);
            if self.gap_cache.is_some_and(|cache| self.mechanics.sets().len(block) > cache.max_planes as usize) {
                self.mechanics.best(block, ctx); // pruning goes by the scores of the block last looked at
            }
            self.prune(block);
        }
    }
}
