//! Parameters of partial linearisation, and the rate of full steps: halved until F rises, a little larger after
//! each step (Collins et al. 2008).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::linalg;
use crate::order::Order;
use multiplane_core::step::Step;

/// Temperatures stay within these: further below, scores divided by them leave the range of numbers.
pub(super) const RANGE: (f64, f64) = (1e-12, 1e12);

/// How far a step goes toward the expected plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Length {
    /// To where F is largest: F never falls.
    #[default]
    LineSearch,
    /// All the way: exponentiated gradient. F may fall where the rate is fixed.
    Full,
}

/// What becomes of the rate 1/tau of full steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rate {
    /// Stays as it is: of full steps, where F may fall.
    #[default]
    Fixed,
    /// A block's rate is halved until F rises, each time with another call, and grows by 1.05 after a step. It is of no
    /// effect under line search, which raises the rate where a step leads nowhere.
    Halving,
}

/// Where the distributions begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// All labellings alike, as in the papers. F begins far below 0 where lambda is small, and w far from a prior.
    Uniform,
    /// All on the truth, as Frank-Wolfe methods begin: w = 0, F = 0. Labellings without mass count as 1e-12.
    #[default]
    Truth,
}

/// Parameters of partial linearisation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PartialLinearization {
    /// Temperature, in units of the loss: labellings that score lower by this count less by a factor e. Near 0 steps
    /// are those of Frank-Wolfe.
    pub tau: f64,
    /// Where the distributions begin: `uniform` or `truth`.
    pub start: Start,
    /// How far a step goes: `line-search` or `full`.
    pub length: Length,
    /// Whether the rate 1/tau of full steps is `fixed` or `halving`.
    pub rate: Rate,
    /// Whether all blocks step at one w, by one length; else one after the other.
    pub batch: bool,
    /// Which block is next, where they step one after the other.
    pub order: Order,
}

impl Default for PartialLinearization {
    fn default() -> Self {
        PartialLinearization {
            tau: 0.01,
            start: Start::Truth,
            length: Length::LineSearch,
            rate: Rate::Fixed,
            batch: false,
            order: Order::default(),
        }
    }
}

impl PartialLinearization {
    /// Preset `bcpl`.
    pub fn bcpl() -> Self {
        PartialLinearization::default()
    }

    /// Preset `pl`.
    pub fn pl() -> Self {
        PartialLinearization { batch: true, ..PartialLinearization::default() }
    }

    /// Preset `oeg`.
    pub fn oeg() -> Self {
        PartialLinearization { length: Length::Full, rate: Rate::Halving, ..PartialLinearization::default() }
    }

    /// Preset `eg`.
    pub fn eg() -> Self {
        PartialLinearization { batch: true, ..PartialLinearization::oeg() }
    }
}

/// Factor by which a rate grows after a step.
const GROWTH: f64 = 1.05;

/// A full step must raise F by this share of its slope: at 0 it may swing to and fro between two points of one F.
const RISE: f64 = 0.01;

/// A slope below this share of the temperature leads nowhere: distributions stay where they are. The temperature is
/// then multiplied by the other factor; near 0 the slope is the block gap, as in Frank-Wolfe.
const LITTLE: f64 = 1e-6;
const COOLING: f64 = 0.25;

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
            (Length::Full, Rate::Halving) if (1.0 - RISE) * slope >= 0.5 * curvature => (1.0, RateVerdict::Done),
            (Length::Full, Rate::Halving) if halvings < MOST_HALVINGS => (0.0, RateVerdict::TooLong),
            (Length::Full, Rate::Halving) => (0.0, RateVerdict::Done),
        }
    }

    /// Returns the temperature that follows `tau`. Under line search it falls where the step leads nowhere, as
    /// distributions that are certain, or mixed of several trees, may have it, and recovers after other steps.
    pub(super) fn next_tau(&self, tau: f64, step: Step, verdict: RateVerdict) -> f64 {
        let next = match (self.length, self.rate, verdict) {
            (Length::LineSearch, ..) if step.gap < LITTLE * tau => tau * COOLING,
            (Length::LineSearch, ..) => (tau * GROWTH).min(self.tau),
            (Length::Full, Rate::Fixed, _) => return tau,
            (Length::Full, Rate::Halving, RateVerdict::TooLong) => 2.0 * tau,
            (Length::Full, Rate::Halving, RateVerdict::Done) if step.gamma > 0.0 => tau / GROWTH,
            (Length::Full, Rate::Halving, RateVerdict::Done) => tau,
        };
        next.clamp(RANGE.0, RANGE.1)
    }

    /// Returns whether a restored temperature can be.
    pub(super) fn is_tau(tau: f64) -> bool {
        (RANGE.0..=RANGE.1).contains(&tau)
    }
}
