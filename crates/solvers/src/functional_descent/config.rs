//! Parameters of functional descent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer_average::{AnswerAverage, PolynomialDecay};
use crate::order::{Sampling, check_size};
use crate::parameter::{ParameterError, require};

/// The largest lambda_t: beyond it steps are 0 for all that numbers can tell.
const LARGEST: f64 = 1e100;

/// The planes kept of a step are solved to this share of the gap that its last pass met.
pub(super) const MASTER: f64 = 0.1;

/// Parameters of stochastic functional descent. `lambda` is none of them: nothing but lambda_t regularises.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FunctionalDescent {
    /// Examples of a step (k): a whole number, or below 1 a share of all, at least one. A pass is n examples drawn;
    /// each costs a call for every cutting plane of its step.
    pub size: f64,
    /// Which examples a step is about.
    pub sampling: Sampling,
    /// What becomes of residual margins outside of what losses can be: `clamped`, `capped` or `exact`.
    pub margins: Margins,
    /// How strongly the t-th step is regularised (lambda_t), t from 1.
    pub schedule: Schedule,
    /// A step is solved to this gap, in units of the loss: that of the mean hinge of its examples.
    pub accuracy: f64,
    /// What solves a step.
    pub inner: InnerSolver,
    /// What the answer is: the last w_t or an average of them, which takes out what single samples do.
    pub averaging: AnswerAverage,
}

/// What solves the problem of a step, a regularised problem of its examples alone with w_t as the prior mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum InnerSolver {
    /// 1-slack cutting planes, a plane for each pass over the examples. Calls of a pass are made at the same weights,
    /// on all threads.
    OneSlack,
    /// Blocks with planes kept, one for each example. Of a step's passes of calls only the first and the last are made
    /// at the same weights; the others move them after each call, on one thread.
    MpBcfw(MpBcfw),
}

impl Default for InnerSolver {
    fn default() -> Self {
        InnerSolver::MpBcfw(MpBcfw::default())
    }
}

/// Parameters of block solves of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MpBcfw {
    /// Passes over the planes kept after each pass of calls, at most; fewer where little is left to gain.
    pub passes: u32,
}

impl Default for MpBcfw {
    fn default() -> Self {
        MpBcfw { passes: 100 }
    }
}

/// What becomes of residual margins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Margins {
    /// At most the largest loss: no example pulls harder than one that is not known yet. Margins that are met may be
    /// given up again as far as they are met. Of problems with few labels all labellings are looked at; else the value
    /// of the one that the oracle finds is bounded, so that a step stops at a gap that is not proven.
    #[default]
    Capped,
    /// Between 0 and the largest loss, as the thesis has it: no step may lessen a margin that is met. Otherwise as
    /// `capped`.
    Clamped,
    /// As they are: a step is the problem itself on its sample, with w_t as the prior mean.
    Exact,
}

/// The strength of the local regulariser at step t.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Schedule {
    /// The same at every step.
    Constant(Constant),
    /// t / n.
    Linear,
    /// t to a power.
    Power(Power),
    /// A ratio below 1 to the power -t.
    Geometric(Geometric),
}

/// Parameters of a constant strength.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Constant {
    /// The strength; null is 1/k.
    pub value: Option<f64>,
}

/// Parameters of a power of time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Power {
    /// The power, above 0: at 0 lambda_t would be 1 at every step, which is `constant` with value 1. Above 1 the sum of
    /// all 1 / lambda_t is finite, and w_t converges.
    pub exponent: f64,
}

impl Default for Power {
    fn default() -> Self {
        Power { exponent: 1.1 }
    }
}

/// Parameters of a geometric schedule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Geometric {
    /// The ratio q, above 0 and below 1.
    pub ratio: f64,
}

impl Default for Geometric {
    fn default() -> Self {
        Geometric { ratio: 0.9 }
    }
}

impl Schedule {
    /// Returns lambda_t at step `t`, from 1, with `size` of `blocks` examples to a step.
    pub(super) fn at(&self, t: u64, size: usize, blocks: usize) -> f64 {
        let t = t as f64;
        let lambda = match *self {
            Schedule::Constant(Constant { value }) => value.unwrap_or(1.0 / size as f64),
            Schedule::Linear => t / blocks as f64,
            Schedule::Power(Power { exponent }) => t.powf(exponent),
            Schedule::Geometric(Geometric { ratio }) => ratio.powf(-t),
        };
        lambda.min(LARGEST)
    }

    fn check(&self) -> Result<(), ParameterError> {
        match *self {
            Schedule::Constant(Constant { value: Some(value) }) => {
                require(value.is_finite() && value > 0.0, "value", value, "must be a finite number greater than 0")
            }
            Schedule::Constant(Constant { value: None }) | Schedule::Linear => Ok(()),
            Schedule::Power(Power { exponent }) => {
                let rule = "must be a finite number greater than 0: at 0 steps are never regularised more, which is `constant`";
                require(exponent.is_finite() && exponent > 0.0, "exponent", exponent, rule)
            }
            Schedule::Geometric(Geometric { ratio }) => require(
                ratio > 0.0 && ratio < 1.0,
                "ratio",
                ratio,
                "must be above 0 and below 1: at 1 lambda_t would stay 1, which is `constant`",
            ),
        }
    }
}

impl Default for FunctionalDescent {
    fn default() -> Self {
        FunctionalDescent::sfd1()
    }
}

impl FunctionalDescent {
    /// Preset `sfd1`: 1 % of the examples to a step, lambda_t = 1/k. With `margins=clamped`, `inner=one-slack` and
    /// `averaging=none` it is the thesis' own.
    pub fn sfd1() -> Self {
        FunctionalDescent {
            size: 0.01,
            sampling: Sampling::default(),
            margins: Margins::Capped,
            schedule: Schedule::Constant(Constant::default()),
            accuracy: 0.01,
            inner: InnerSolver::default(),
            averaging: AnswerAverage::Polynomial(PolynomialDecay::default()),
        }
    }

    /// Preset `sfd2`: `sfd1` with lambda_t = t/n.
    pub fn sfd2() -> Self {
        FunctionalDescent { schedule: Schedule::Linear, ..FunctionalDescent::sfd1() }
    }

    pub(super) fn check(&self) -> Result<(), ParameterError> {
        check_size("size", self.size)?;
        self.sampling.validate().map_err(|error| error.under("sampling"))?;
        self.schedule.check().map_err(|error| error.under("schedule"))?;
        self.averaging.validate().map_err(|error| error.under("averaging"))?;
        if let InnerSolver::MpBcfw(MpBcfw { passes }) = self.inner {
            require(passes >= 1, "inner.passes", passes, "must be at least 1")?;
        }
        let positive = self.accuracy.is_finite() && self.accuracy > 0.0;
        require(positive, "accuracy", self.accuracy, "must be a finite number greater than 0")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Schedules that never grow are refused by what says so, `constant`; all others grow.
    #[test]
    fn schedules_grow() {
        let checked = |schedule: Schedule| {
            FunctionalDescent { schedule, ..FunctionalDescent::sfd1() }.check().map_err(|error| error.to_string())
        };
        for (schedule, name) in [
            (Schedule::Power(Power { exponent: 0.0 }), "schedule.exponent = 0: "),
            (Schedule::Power(Power { exponent: -1.0 }), "schedule.exponent = -1: "),
            (Schedule::Geometric(Geometric { ratio: 1.0 }), "schedule.ratio = 1: "),
        ] {
            let told = checked(schedule).unwrap_err();
            assert!(told.starts_with(name) && told.ends_with("which is `constant`"), "{told}");
        }
        for schedule in
            [Schedule::Power(Power { exponent: 0.5 }), Schedule::Geometric(Geometric { ratio: 0.9 }), Schedule::Linear]
        {
            assert!(checked(schedule).is_ok());
            assert!(schedule.at(2, 1, 10) > schedule.at(1, 1, 10));
        }
        assert!(checked(Schedule::Constant(Constant { value: Some(1.0) })).is_ok());
    }
}
