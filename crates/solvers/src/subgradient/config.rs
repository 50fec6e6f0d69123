//! Parameters of the subgradient method.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer_average::AnswerAverage;
use crate::order::{Order, Uniform};

/// Parameters of the subgradient method.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Subgradient {
    /// Which example is visited next.
    pub order: Order,
    /// Examples of a step (k): a whole number, or below 1 a share of all, at least one.
    pub size: f64,
    /// What the answer is: the last iterate or an average.
    pub averaging: AnswerAverage,
}

impl Default for Subgradient {
    fn default() -> Self {
        Subgradient { order: Order::default(), size: 1.0, averaging: AnswerAverage::None }
    }
}

impl Subgradient {
    /// Preset `ssg`: uniform order, the last iterate.
    pub fn ssg() -> Self {
        Subgradient { order: Order::Uniform(Uniform {}), ..Subgradient::default() }
    }

    /// Preset `ssg-avg`: `ssg` with weighted averaging.
    pub fn ssg_avg() -> Self {
        Subgradient { averaging: AnswerAverage::Weighted, ..Subgradient::ssg() }
    }

    /// Preset `pegasos`: `ssg` with steps of 1 % of the examples.
    pub fn pegasos() -> Self {
        Subgradient { size: 0.01, ..Subgradient::ssg() }
    }

    /// Preset `pegasos-avg`: `pegasos` with the average of the SFD thesis.
    pub fn pegasos_avg() -> Self {
        Subgradient { averaging: AnswerAverage::Thesis, ..Subgradient::pegasos() }
    }
}
