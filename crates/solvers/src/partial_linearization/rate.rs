//! The rate of full steps: halved until F does not fall, a little larger after each step (Collins et al. 2008).

use super::config::{Length, PartialLinearization, RANGE, Rate};
use crate::linalg;

/// Factor by which a rate grows after a step.
const GROWTH: f64 = 1.05;

/// A step that is still too long after so many halvings gains nothing that numbers can tell.
const MOST_HALVINGS: u32 = 40;

/// The verdict of line search, or of the rule for full steps, on a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum RateVerdict {
    /// The step was made, or there is nothing to gain.
    Done,
    /// It was too long, and is to be tried at half the rate.
    TooLong,
}

impl PartialLinearization {
    /// Returns the length of a step and what becomes of it, after `halvings` of the rate for it.
    pub(super) fn judge(&self, slope: f64, curvature: f64, halvings: u32) -> (f64, RateVerdict) {
        match (self.length, self.rate) {
            (Length::LineSearch, _) => (linalg::step_length(slope, curvature, 1.0), RateVerdict::Done),
            (Length::Full, Rate::Fixed) => (1.0, RateVerdict::Done),
            (Length::Full, Rate::Halving) if slope <= 0.0 => (0.0, RateVerdict::Done),
            (Length::Full, Rate::Halving) if slope >= 0.5 * curvature => (1.0, RateVerdict::Done),
            (Length::Full, Rate::Halving) if halvings < MOST_HALVINGS => (0.0, RateVerdict::TooLong),
            (Length::Full, Rate::Halving) => (0.0, RateVerdict::Done),
        }
    }

    /// Returns the temperature that follows `tau`.
    pub(super) fn next_tau(&self, tau: f64, gamma: f64, verdict: RateVerdict) -> f64 {
        let next = match (self.rate, verdict) {
            _ if self.length == Length::LineSearch => return tau,
            (Rate::Fixed, _) => return tau,
            (Rate::Halving, RateVerdict::TooLong) => 2.0 * tau,
            (Rate::Halving, RateVerdict::Done) if gamma > 0.0 => tau / GROWTH,
            (Rate::Halving, RateVerdict::Done) => tau,
        };
        next.clamp(RANGE.0, RANGE.1)
    }

    /// Returns whether a restored temperature can be.
    pub(super) fn is_tau(tau: f64) -> bool {
        (RANGE.0..=RANGE.1).contains(&tau)
    }
}
