//! A block for each example of the sample, as `mp-bcfw` has it: visits move w as they go, and passes over the planes
//! kept, which cost no call, follow each pass of calls.
//!
//! With planes that carry 1/n as they come from the oracle, the problem is `k/n` times that of the mean over k
//! examples: its strength is `lambda_t k/n`, and its values are to be multiplied with n/k. The first pass is made at
//! w_t and the last at the point that the step ends at, so that both are measured; those between move.

use serde::{Deserialize, Serialize};

use super::super::config::{MASTER, MpBcfw};
use crate::average::{Averaging, UpdateKind};
use crate::dual::{BlockDual, BlockVisit, DualPoint, Solve, StepRule};
use crate::hull::HullState;
use crate::metric::Metric;
use crate::oracle::NoCapabilities;
use crate::plane::Plane;
use crate::regularizer::Regularizer;
use crate::state::{StateError, ensure, finite};

/// A block is solved to this share of the mean gap that is aimed at.
const BLOCK: Solve = Solve { accuracy: 0.3, skip_below: 0.0 };

/// The planes of a sample's examples. Its prior mean is w_t, its weights are w_t + u.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Blocks {
    #[serde(with = "crate::state::json")]
    config: MpBcfw,
    /// A block for every example there is, of which those of the sample have planes.
    hull: HullState,
    /// Examples asked about in this step, each once.
    sample: Vec<u32>,
    /// n / k.
    share: f64,
    /// If the pass in hand moves.
    moves: bool,
    /// The gain that the visits of a pass that moves found left, in units of the mean.
    left: f64,
    /// Up to which gap the planes kept are solved next, and the passes over them so far.
    tolerance: f64,
    passes: u32,
}

impl Blocks {
    pub(super) fn new(config: MpBcfw, blocks: usize, dim: usize, regularizer: Regularizer, share: f64) -> Self {
        let hull = HullState::new(blocks, dim, regularizer.moved_by_sums(false), Averaging::None);
        let sample = Vec::new();
        Blocks { config, hull, sample, share, moves: false, left: 0.0, tolerance: 0.0, passes: 0 }
    }

    pub(super) fn begin(&mut self, lambda: f64, from: &[f64]) {
        self.hull.begin_at(lambda / self.share, from, &self.sample);
        self.sample.clear();
        (self.moves, self.left) = (false, 0.0);
    }

    pub(super) fn hull(&self) -> &HullState {
        &self.hull
    }

    pub(super) fn attach(&mut self, metric: &Metric) {
        self.hull.attach(metric);
    }

    /// Returns true if the pass in hand moves.
    pub(super) fn moves(&self) -> bool {
        self.moves
    }

    /// Keeps the plane of an answer that scores `hinge`, and steps on it in a pass that moves. In the step's `first`
    /// pass examples are met that were not before.
    pub(super) fn take(&mut self, block: usize, plane: &Plane, hinge: f64, first: bool) {
        if first {
            self.sample.push(block as u32);
        }
        if hinge > 0.0 {
            self.hull.insert(block, plane, 0, &mut NoCapabilities);
        }
        if self.moves {
            self.left += self.visit(block);
        }
    }

    /// Solves an example's block over its planes; returns what there was to gain, in units of the mean.
    fn visit(&mut self, block: usize) -> f64 {
        if self.hull.sets().is_empty(block) {
            return 0.0;
        }
        let mean = self.tolerance / (self.share * self.sample.len() as f64);
        let visit = &mut self.hull.visit(block, &mut NoCapabilities);
        self.share * visit.step(StepRule::Solve(BLOCK), mean, UpdateKind::Exact, &mut NoCapabilities).gap
    }

    /// Ends a pass of calls that met `gap`, infinite where it moved; the next one moves unless little is left or it is
    /// the `last`.
    pub(super) fn end_pass(&mut self, gap: f64, accuracy: f64, last: bool) {
        let left = if self.moves { std::mem::take(&mut self.left) } else { gap };
        self.moves = left > accuracy && !last;
        self.tolerance = MASTER * left.max(accuracy);
        self.passes = 0;
    }

    /// Makes a pass over the planes kept; returns whether it was the last one.
    pub(super) fn solve(&mut self) -> bool {
        let mut left = 0.0;
        for at in 0..self.sample.len() {
            left += self.visit(self.sample[at] as usize);
        }
        self.passes += 1;
        left <= self.tolerance || self.passes >= self.config.passes
    }

    pub(super) fn check(&self, fresh: &Self) -> Result<(), StateError> {
        let blocks = fresh.hull.blocks();
        self.hull.check(blocks, fresh.hull.iterate().metric().weights(fresh.hull.iterate().point()).len())?;
        let known = self.sample.iter().all(|&block| (block as usize) < blocks);
        let sound = finite(&[self.left, self.tolerance]) && self.share == fresh.share;
        ensure(known && sound && self.config == fresh.config, "the problem of a step")
    }
}
