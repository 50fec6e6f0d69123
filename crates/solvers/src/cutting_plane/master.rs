//! The master problem: the QP over all planes kept, solved in parts so that a run stays responsive.

use serde::{Deserialize, Serialize};

use crate::average::UpdateKind;
use crate::dual::{BlockDual, BlockVisit, DualPoint, Solve, StepRule};
use crate::hull::HullState;
use crate::oracle::NoCapabilities;

/// A gain below this share of |F| + 1 is rounding: the master is solved.
pub(super) const NO_GAIN: f64 = 1e-15;

/// Parts of a solution at most: what is not solved then is left to the next pass. Planes that span many orders of
/// magnitude would have it go on for long.
const MOST_PARTS: u32 = 50;

/// How far the master is to be solved, and how often it was.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct MasterState {
    /// Its gap is to be at most this.
    tolerance: f64,
    /// Parts of the solution in hand so far.
    parts: u32,
    /// The rest of it.
    left: f64,
    /// Solutions so far: the time by which planes age.
    solved: u32,
    /// Training seconds that went into solutions.
    seconds: f64,
}

impl MasterState {
    /// Aims at a gap of `tolerance`.
    pub(crate) fn aim(&mut self, tolerance: f64) {
        self.tolerance = tolerance.max(0.0);
    }

    /// Returns the gap aimed at.
    pub(crate) fn tolerance(&self) -> f64 {
        self.tolerance
    }

    /// Returns the master's gap when it was solved last: what the planes kept cut off of the present point.
    pub(crate) fn left(&self) -> f64 {
        self.left
    }

    /// Returns the solutions so far.
    pub(crate) fn solved(&self) -> u32 {
        self.solved
    }

    /// Counts training seconds of a solution.
    pub(crate) fn spend(&mut self, seconds: f64) {
        self.seconds += seconds;
    }

    /// Returns the training seconds of all solutions.
    pub(crate) fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Counts a part of the solution in hand; returns whether it has had all that it may.
    pub(crate) fn spends_parts(&mut self) -> bool {
        self.parts += 1;
        self.parts > MOST_PARTS
    }

    /// Ends a solution: planes with mass are active now. Returns when those must have been active that may stay.
    pub(crate) fn end(&mut self, dual: &mut HullState, max_idle: u32) -> u32 {
        self.solved = self.solved.saturating_add(1);
        self.parts = 0;
        for block in 0..dual.blocks() {
            for k in 0..dual.sets().len(block) {
                if dual.sets().alphas(block)[k] > 0.0 {
                    dual.sets_mut().touch(block, k, self.solved);
                }
            }
        }
        self.solved.saturating_sub(max_idle)
    }
}

/// Solves the master of sums of planes, which is a single block, further; returns whether it is solved.
pub(crate) fn solve_further(dual: &mut HullState, master: &mut MasterState) -> bool {
    let value = dual.value();
    let mut visit = dual.visit(0, &mut NoCapabilities);
    master.left = visit.gap();
    if master.left <= master.tolerance || master.spends_parts() {
        return true;
    }
    let rule = StepRule::Solve(Solve { accuracy: master.tolerance, ..Solve::default() });
    let step = visit.step(rule, 1.0, UpdateKind::Exact, &mut NoCapabilities);
    step.gain <= NO_GAIN * (value.abs() + 1.0)
}
