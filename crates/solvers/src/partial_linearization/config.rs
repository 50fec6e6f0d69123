//! Parameters of partial linearisation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::order::Order;
use crate::parameter::{ParameterError, require};

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
    /// Stays as it is.
    #[default]
    Fixed,
    /// A block's rate is halved until F does not fall, each time with another call, and grows by 1.05 after a step. Line
    /// search makes no step too long, and leaves the rate as it is.
    Halving,
}

/// Where the distributions begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// All labellings alike, as in the papers. F begins far below 0 where lambda is small, and
    /// w far from a prior.
    Uniform,
    /// All on the truth, as Frank-Wolfe methods begin: w = 0, F = 0. Labellings without mass count as 1e-12.
    #[default]
    Truth,
}

/// Parameters of partial linearisation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PartialLinearization {
    /// Temperature, in units of the loss: labellings that score lower by this count less by a factor e. Near 0 steps are
    /// those of Frank-Wolfe.
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

    pub(super) fn check(&self) -> Result<(), ParameterError> {
        let within = (RANGE.0..=RANGE.1).contains(&self.tau);
        require(within, "tau", self.tau, "must be from 1e-12 to 1e12")?;
        self.order.validate().map_err(|error| error.under("order"))
    }
}
