//! The moments at which bounds are evaluated, and the gap to expect before they are.

use serde::{Deserialize, Serialize};

use super::spent::Spent;

/// When bounds are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Evaluate {
    /// When they can decide something: the gap that the visits let expect is near the target, or a budget ends. What an
    /// evaluation finds may serve training.
    #[default]
    Auto,
    /// After every outer iteration, as long as that has cost no more time than training: aside, off the training clock,
    /// and nothing that is found reaches the solver. For curves as papers draw them.
    Pass,
}

/// First guess of the proven gap, as a share of the gaps that visits met. On all problems tried it lay between 0.25
/// and 1.
const USUAL_SHARE: f64 = 0.5;

/// Before a share was learned, an attempt is made if the gap forecast is at most this many times the target. It ends as
/// soon as failure is expected, and then the share is known.
const SLACK: f64 = 2.0;

/// The same once a share was learned. Forecasts are some 15 % too low, as blocks that seem settled are not, and an
/// attempt that fails at its last calls costs more than waiting for a quarter of a pass.
const SLACK_ONCE_LEARNED: f64 = 0.85;

/// The same for the part of the gap that planes kept show, which varies less.
const SLACK_OF_LEAST: f64 = 1.2;

/// After so many times the cost of a look, the planes kept are looked at again, whatever they showed before.
const LOOKS_APART: f64 = 16.0;

/// Fewest passes between attempts that made calls: outer iterations may be shorter, and gaps go up and down.
const ATTEMPTS_APART: f64 = 0.25;

/// Learns how the sum of the gaps that visits met relates to the proven gap.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct GapPredictor {
    share: f64,
    /// If the share was learned, from a proven gap or from a part of the blocks.
    learned: bool,
    /// A lower bound on the share, by the last look at the planes kept.
    least: f64,
    /// The pass of the last attempt; below zero before the first.
    tried: f64,
    /// The cost of the last look over the planes kept, in seconds and as decisions go by it.
    look_seconds: f64,
    look_pace: f64,
    /// Training until then, as decisions go by it.
    looked_at: f64,
}

impl GapPredictor {
    /// Begins with nothing learned.
    pub(super) fn new() -> Self {
        GapPredictor {
            share: USUAL_SHARE,
            learned: false,
            least: 0.0,
            tried: -ATTEMPTS_APART,
            look_seconds: 0.0,
            look_pace: 0.0,
            looked_at: 0.0,
        }
    }

    /// Returns the gap to expect where the visits met gaps that sum to `seen`.
    pub(super) fn gap(&self, seen: f64) -> f64 {
        self.share * seen.max(0.0)
    }

    /// Returns whether a target is near enough for an attempt after `pace` of training. The last look at the planes
    /// kept counts until another one is cheap.
    pub(super) fn is_near(&self, seen: f64, target: f64, pace: f64) -> bool {
        let slack = if self.learned { SLACK_ONCE_LEARNED } else { SLACK };
        let may_look = pace >= self.looked_at + LOOKS_APART * self.look_pace;
        self.gap(seen) <= slack * target && (may_look || self.least * seen.max(0.0) <= SLACK_OF_LEAST * target)
    }

    /// Returns whether an attempt would be the first that teaches anything.
    pub(super) fn is_unlearned(&self) -> bool {
        !self.learned
    }

    /// Learns from a lower bound on the gap, by the planes kept.
    pub(super) fn learn_least(&mut self, seen: f64, least: f64) {
        if seen > 0.0 && seen.is_finite() && least.is_finite() {
            self.least = (least / seen).max(0.0);
        }
    }

    /// Learns from a gap that was proven, or made out from a part of the blocks. One above the gaps met counts as their
    /// sum: the visits saw other weights.
    pub(super) fn learn(&mut self, seen: f64, gap: f64) {
        if seen > 0.0 && seen.is_finite() && gap >= 0.0 && gap.is_finite() {
            self.share = (gap / seen).min(1.0);
            self.learned = true;
        }
    }

    /// Learns what a look over the planes kept took, after `pace` of training.
    pub(super) fn looked(&mut self, spent: Spent, pace: f64) {
        (self.look_seconds, self.look_pace, self.looked_at) = (spent.seconds, spent.pace, pace);
    }

    /// Returns the seconds that a look over the planes kept took the last time; 0 before the first.
    pub(super) fn seconds_of_look(&self) -> f64 {
        self.look_seconds
    }

    /// Learns that an attempt was made.
    pub(super) fn tried(&mut self, pass: f64) {
        self.tried = pass;
    }

    /// Returns whether the last attempt is too near for another.
    pub(super) fn is_too_soon(&self, pass: f64) -> bool {
        pass < self.tried + ATTEMPTS_APART
    }

    /// Refuses a forecast that was restored and makes no sense.
    pub(super) fn is_sound(&self) -> bool {
        self.share.is_finite()
            && self.share >= 0.0
            && self.least.is_finite()
            && self.tried.is_finite()
            && self.look_seconds >= 0.0
            && self.look_pace >= 0.0
            && self.looked_at.is_finite()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The forecast follows what was proven, and keeps what it has where there is nothing to learn from.
    #[test]
    fn shares_are_learned() {
        let mut forecast = GapPredictor::new();
        assert_eq!(forecast.gap(0.1), USUAL_SHARE * 0.1);
        forecast.learn(0.2, 0.05);
        assert_eq!(forecast.gap(0.4), 0.1);
        for (seen, gap) in [(0.0, 1.0), (f64::INFINITY, 1.0), (0.2, f64::NAN), (0.2, -1e-18)] {
            let before = forecast;
            forecast.learn(seen, gap);
            assert_eq!(forecast, before, "{seen} {gap}");
        }
        forecast = GapPredictor::new();
        assert!(forecast.is_near(0.03, 0.01, 0.0) && !forecast.is_near(0.05, 0.01, 0.0));
        forecast.learn(0.03, 0.015);
        assert!(
            !forecast.is_near(0.018, 0.01, 0.0) && forecast.is_near(0.016, 0.01, 0.0),
            "what was learned has no slack"
        );
    }

    /// A share that was learned from next to nothing does not keep attempts away.
    #[test]
    fn shares_are_at_most_one() {
        let mut forecast = GapPredictor::new();
        forecast.learn(1e-17, 0.02);
        assert!(forecast.is_near(0.008, 0.01, 0.0) && !forecast.is_near(0.009, 0.01, 0.0));
    }

    /// The last look at the planes kept counts until another look is cheap.
    #[test]
    fn looks_are_not_repeated_at_once() {
        let mut forecast = GapPredictor::new();
        forecast.learn_least(0.03, 0.015);
        forecast.looked(Spent { seconds: 0.1, pace: 0.1, ..Spent::default() }, 1.0);
        assert!(!forecast.is_near(0.03, 0.01, 1.0) && forecast.is_near(0.02, 0.01, 1.0));
        assert!(!forecast.is_near(0.03, 0.01, 2.5) && forecast.is_near(0.03, 0.01, 2.7));
        assert_eq!(forecast.seconds_of_look(), 0.1);
    }
}
