//! Averages of iterates that online solvers answer with.
//!
//! `w_bar <- (1 - r_t) w_bar + r_t w_t` with a weight r_t that falls with time (Shamir and Zhang, "Stochastic gradient
//! descent for non-smooth optimization", ICML 2013), r_1 = 1.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parameter::{ParameterError, not_negative};

/// What the answer is.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum AnswerAverage {
    /// The last iterate.
    #[default]
    None,
    /// The average of all iterates, each by its number.
    Weighted,
    /// Polynomial decay: the newest iterate has the weight (eta + 1) / (t + eta).
    Polynomial(PolynomialDecay),
    /// Polynomial decay with the weight 3 / (t + 4), as the SFD thesis prints it.
    Thesis,
}

/// Parameters of averages with polynomial decay.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PolynomialDecay {
    /// 0 is the plain mean; the larger, the less early iterates count.
    pub eta: f64,
}

impl Default for PolynomialDecay {
    fn default() -> Self {
        PolynomialDecay { eta: 3.0 }
    }
}

impl AnswerAverage {
    /// Checks the average's own parameters.
    ///
    /// # Errors
    ///
    /// An eta below 0.
    pub(super) fn validate(self) -> Result<(), ParameterError> {
        match self {
            AnswerAverage::Polynomial(PolynomialDecay { eta }) => not_negative("eta", eta),
            AnswerAverage::None | AnswerAverage::Weighted | AnswerAverage::Thesis => Ok(()),
        }
    }

    /// Returns `a` and `b` such that iterates `from + 1` to `to` make `a average + b point` of a running average, if
    /// iterate t is `scale(t) point`; `None` without averages.
    pub(super) fn over(self, from: u64, to: u64, scale: impl Fn(u64) -> f64) -> Option<(f64, f64)> {
        let step = |(a, b): (f64, f64), t| {
            self.weight(t).map(|weight| ((1.0 - weight) * a, (1.0 - weight) * b + weight * scale(t)))
        };
        (from + 1..=to).try_fold((1.0, 0.0), step).filter(|_| self != AnswerAverage::None)
    }

    /// Returns the weight of iterate `t`, from 1, in a running average; `None` where there is none.
    pub(super) fn weight(self, t: u64) -> Option<f64> {
        let t = t as f64;
        let weight = match self {
            AnswerAverage::None => return None,
            AnswerAverage::Weighted => 2.0 / (t + 1.0),
            AnswerAverage::Polynomial(PolynomialDecay { eta }) => (eta + 1.0) / (t + eta),
            AnswerAverage::Thesis => 3.0 / (t + 4.0),
        };
        Some(if t <= 1.0 { 1.0 } else { weight })
    }
}
