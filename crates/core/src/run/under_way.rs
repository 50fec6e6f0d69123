//! An evaluation under way, as data: the answer, what was asked for so far, what it took.

use serde::{Deserialize, Serialize};

use super::stop::GapTarget;
use crate::rounding::Seen;
use crate::state::{StateError, ensure, finite};

/// An answer that may be evaluated, and what is known of its primal value.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Candidate {
    pub(super) w: Vec<f64>,
    /// Lower bounds on the hinges, by block.
    pub(super) floors: Vec<f64>,
    /// Whether it is the average or the last iterate, where the solver has both.
    pub(super) averaged: Option<bool>,
}

impl Candidate {
    /// Which answer it is, where the solver has two.
    pub(super) fn name(&self) -> Option<&'static str> {
        self.averaged.map(|averaged| if averaged { "average" } else { "last" })
    }
}

/// What the calls so far say of an answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Asked {
    /// Hinges by block; lower bounds on them where none was asked for yet.
    pub(super) hinges: Vec<f64>,
    pub(super) calls: usize,
    /// Whether the oracle's word stands behind all hinges that were asked for, and behind some.
    pub(super) proven: bool,
    pub(super) partly_proven: bool,
    /// Terms of the scores, where the task does not bound them.
    pub(super) terms: Seen,
}

impl Asked {
    /// Nothing asked for yet; `floors` are lower bounds on the hinges.
    pub(super) fn new(floors: &[f64]) -> Self {
        Asked { hinges: floors.to_vec(), calls: 0, proven: true, partly_proven: false, terms: Seen::default() }
    }
}

/// How long calls take when answers are asked for in batches, several workers taken together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Latency {
    pub(super) calls: u64,
    pub(super) seconds: f64,
    /// Seconds that the calls took beside these: several workers had some in hand.
    pub(super) hidden: f64,
    /// Coefficients of the planes that came back.
    pub(super) coefficients: u64,
}

impl Latency {
    /// Counts calls that the run waited for so long, and that took so long whoever answered, where that was measured.
    pub(super) fn add(&mut self, calls: usize, waited: f64, taken: Option<f64>) {
        self.calls += calls as u64;
        self.seconds += waited;
        self.hidden += taken.unwrap_or(waited) - waited;
    }

    /// Returns what has come to it since it was `before`.
    pub(super) fn since(self, before: Latency) -> Latency {
        Latency {
            calls: self.calls - before.calls,
            seconds: self.seconds - before.seconds,
            hidden: self.hidden - before.hidden,
            coefficients: self.coefficients - before.coefficients,
        }
    }

    /// Returns the mean seconds of a call, where there were any.
    pub(super) fn mean(self) -> Option<f64> {
        (self.calls > 0).then(|| self.seconds / self.calls as f64)
    }
}

/// What an evaluation took: seconds as they are reported, those of them that went into answers, what these took beside
/// (`hidden`), seconds as decisions go by them, and work.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Spent {
    pub(super) seconds: f64,
    /// Of these, those that the run waited for answers.
    pub(super) answers: f64,
    pub(super) hidden: f64,
    pub(super) pace: f64,
    pub(super) work: f64,
}

impl Spent {
    /// Adds what was spent after it.
    pub(crate) fn add(&mut self, more: Spent) {
        self.seconds += more.seconds;
        self.answers += more.answers;
        self.hidden += more.hidden;
        self.pace += more.pace;
        self.work += more.work;
    }
}

/// An attempt under way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Attempt {
    pub(super) target: GapTarget,
    /// Whether observers hear of it even if it is broken off.
    pub(super) tells: bool,
    pub(super) candidate: Candidate,
    pub(super) asked: Asked,
    /// The gaps last seen when it began, by block, where they are known; the largest are asked for first.
    pub(super) gaps: Option<Vec<f64>>,
    /// Their sum as the solver counts it, and that of the blocks that were asked for.
    pub(super) seen: Option<f64>,
    pub(super) seen_of_asked: f64,
    /// The dual value to beat, and what `P` was at least in the beginning, and at the last look.
    pub(super) dual: f64,
    pub(super) floor: f64,
    pub(super) least: f64,
    /// What `P` is expected to be, as of the last look.
    pub(super) expected: f64,
    /// Whether it is broken off where it is expected to fail: before anything was learned of the gap, that is worth knowing.
    pub(super) is_probe: bool,
    /// Hinges beyond their floors, in sum.
    pub(super) excess: f64,
    /// Calls at which it is looked at next.
    pub(super) next_look: usize,
    /// Whether the solver takes what is found: then its calls are training.
    pub(super) keeps: bool,
    pub(super) spent: Spent,
}

impl Attempt {
    /// The blocks in the order in which they are asked for.
    pub(super) fn order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.asked.hinges.len() as u32).collect();
        if let Some(gaps) = &self.gaps {
            order.sort_by(|&a, &b| gaps[b as usize].total_cmp(&gaps[a as usize]).then(a.cmp(&b)));
        }
        order
    }

    /// Hinges beyond their floors to expect of all blocks: of those that were not asked for, in the proportion of the gaps
    /// last seen. The largest of these were asked for first, and shrink most, so it is rather too little.
    pub(super) fn expected_excess(&self) -> f64 {
        let all = self.asked.calls == self.asked.hinges.len();
        let seen = self.seen.filter(|_| !all && self.seen_of_asked > 0.0);
        self.excess * seen.map_or(1.0, |seen| (seen / self.seen_of_asked).max(1.0))
    }

    /// Whether it cannot succeed any more, or as a probe is not expected to.
    pub(super) fn is_out_of_reach(&self) -> bool {
        let least = if self.is_probe { self.least.max(self.expected) } else { self.least };
        least - self.dual > self.target.at(least)
    }

    /// Refuses an attempt that was restored and does not fit.
    pub(super) fn check(&self, blocks: usize, dim: usize) -> Result<(), StateError> {
        let lengths = [self.candidate.floors.len(), self.asked.hinges.len()];
        let of_gaps = self.gaps.as_ref().is_none_or(|gaps| gaps.len() == blocks);
        ensure(self.candidate.w.len() == dim && finite(&self.candidate.w), "the weights under evaluation")?;
        ensure(lengths == [blocks; 2] && of_gaps && self.asked.calls <= blocks, "the evaluation under way")
    }
}
