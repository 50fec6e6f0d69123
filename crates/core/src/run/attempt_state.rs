//! An evaluation that is not finished, as data: the answer, the hinges found so far, what they took.

use serde::{Deserialize, Serialize};

use super::spent::Spent;
use crate::certificate::GapTarget;
use crate::rounding::TermSizes;
use crate::state::{StateError, ensure, finite};

/// An answer that may be evaluated, and what is known of its primal value.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Candidate {
    pub(super) w: Vec<f64>,
    /// Lower bounds on the hinges, by block.
    pub(super) floors: Vec<f64>,
    /// True for the average, false for the last iterate, if the solver has both.
    pub(super) averaged: Option<bool>,
}

impl Candidate {
    /// Returns which answer it is, if the solver has two.
    pub(super) fn name(&self) -> Option<&'static str> {
        self.averaged.map(|averaged| if averaged { "average" } else { "last" })
    }
}

/// The hinges of an answer as far as they were asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PartialEvaluation {
    /// Hinges by block; lower bounds on them where none was asked for yet.
    pub(super) hinges: Vec<f64>,
    pub(super) calls: usize,
    /// If the oracle vouches for all hinges that were asked for, and if for some of them.
    pub(super) proven: bool,
    pub(super) partly_proven: bool,
    /// Terms of the scores, if the task does not bound them.
    pub(super) terms: TermSizes,
}

impl PartialEvaluation {
    /// Begins before the first call; `floors` are lower bounds on the hinges.
    pub(super) fn new(floors: &[f64]) -> Self {
        PartialEvaluation {
            hinges: floors.to_vec(),
            calls: 0,
            proven: true,
            partly_proven: false,
            terms: TermSizes::default(),
        }
    }
}

/// An attempt to prove the gap.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Attempt {
    pub(super) target: GapTarget,
    /// If observers hear of it even if it is broken off.
    pub(super) tells: bool,
    pub(super) candidate: Candidate,
    pub(super) found: PartialEvaluation,
    /// The gaps last seen when it began, by block, if they are known; the largest are asked for first.
    pub(super) gaps: Option<Vec<f64>>,
    /// Their sum as the solver counts it, and that of the blocks that were asked for.
    pub(super) seen: Option<f64>,
    pub(super) seen_of_found: f64,
    /// The dual value to beat, and lower bounds on `P`: in the beginning, and at the last look.
    pub(super) dual: f64,
    pub(super) floor: f64,
    pub(super) least: f64,
    /// The value of `P` to expect, as of the last look.
    pub(super) expected: f64,
    /// True until something was learned of the gap: then it ends as soon as failure is expected.
    pub(super) is_probe: bool,
    /// The sum of the hinges' excess over their floors.
    pub(super) excess: f64,
    /// Calls at which it is looked at next.
    pub(super) next_look: usize,
    /// If the solver takes what is found: then its calls are training.
    pub(super) keeps: bool,
    pub(super) spent: Spent,
}

impl Attempt {
    /// The blocks in the order in which they are asked for.
    pub(super) fn order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.found.hinges.len() as u32).collect();
        if let Some(gaps) = &self.gaps {
            order.sort_by(|&a, &b| gaps[b as usize].total_cmp(&gaps[a as usize]).then(a.cmp(&b)));
        }
        order
    }

    /// Returns the excess of all hinges over their floors to expect: for blocks not asked for yet, in proportion to the
    /// gaps last seen. It is rather too low, as the largest gaps were asked for first and shrink most.
    pub(super) fn expected_excess(&self) -> f64 {
        let all = self.found.calls == self.found.hinges.len();
        let seen = self.seen.filter(|_| !all && self.seen_of_found > 0.0);
        self.excess * seen.map_or(1.0, |seen| (seen / self.seen_of_found).max(1.0))
    }

    /// Returns true if it cannot succeed any more, or as a probe is not expected to.
    pub(super) fn is_out_of_reach(&self) -> bool {
        let least = if self.is_probe { self.least.max(self.expected) } else { self.least };
        least - self.dual > self.target.at(least)
    }

    /// Refuses an attempt that was restored and does not fit.
    pub(super) fn check(&self, blocks: usize, dim: usize) -> Result<(), StateError> {
        let lengths = [self.candidate.floors.len(), self.found.hinges.len()];
        let of_gaps = self.gaps.as_ref().is_none_or(|gaps| gaps.len() == blocks);
        ensure(self.candidate.w.len() == dim && finite(&self.candidate.w), "the weights under evaluation")?;
        ensure(lengths == [blocks; 2] && of_gaps && self.found.calls <= blocks, "the evaluation under way")
    }
}
