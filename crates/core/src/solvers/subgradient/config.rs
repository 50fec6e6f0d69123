//! Parameters of the subgradient method.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metric::SupportBudget;
use crate::order::{Order, Uniform, check_size};
use crate::parameter::{ParameterError, not_negative, require, shown};

/// Parameters of the subgradient method.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Subgradient {
    /// Which example is visited next.
    pub order: Order,
    /// Examples of a step (k): a whole number, or below 1 a share of all, at least one.
    pub size: f64,
    /// What the answer is: the last iterate or an average.
    pub averaging: SubgradientAverage,
    /// With a kernel: how many rows may carry weight after a step, and what becomes of the others (`removal`, or `projection`).
    /// An average is brought within it when it is the answer. Merging is for models: `task.kernel_budget`.
    pub budget: SupportBudget,
}

/// What the answer is.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum SubgradientAverage {
    /// The last iterate.
    #[default]
    None,
    /// The average of all iterates, each by its number.
    Weighted,
    /// Polynomial decay: the newest iterate has the weight (eta + 1) / (t + eta).
    Polynomial(Polynomial),
    /// Polynomial decay with the weight 3 / (t + 4), as the SFD thesis prints it.
    Thesis,
}

/// Parameters of averages with polynomial decay.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Polynomial {
    /// 0 is the plain mean; the larger, the less early iterates count.
    pub eta: f64,
}

impl Default for Polynomial {
    fn default() -> Self {
        Polynomial { eta: 3.0 }
    }
}

impl SubgradientAverage {
    /// Returns the weight of iterate `t`, from 1, in a running average; `None` where there is none.
    pub(super) fn weight(self, t: u64) -> Option<f64> {
        let weight = match self {
            SubgradientAverage::None | SubgradientAverage::Weighted => return None,
            SubgradientAverage::Polynomial(Polynomial { eta }) => (eta + 1.0) / (t as f64 + eta),
            SubgradientAverage::Thesis => 3.0 / (t as f64 + 4.0),
        };
        Some(if t <= 1 { 1.0 } else { weight })
    }
}

impl Default for Subgradient {
    fn default() -> Self {
        Subgradient {
            order: Order::default(),
            size: 1.0,
            averaging: SubgradientAverage::None,
            budget: SupportBudget::None,
        }
    }
}

impl Subgradient {
    /// Preset `ssg`: uniform order, the last iterate.
    pub fn ssg() -> Self {
        Subgradient { order: Order::Uniform(Uniform {}), ..Subgradient::default() }
    }

    /// Preset `ssg-avg`: `ssg` with weighted averaging.
    pub fn ssg_avg() -> Self {
        Subgradient { averaging: SubgradientAverage::Weighted, ..Subgradient::ssg() }
    }

    /// Preset `pegasos`: `ssg` with steps of 1 % of the examples.
    pub fn pegasos() -> Self {
        Subgradient { size: 0.01, ..Subgradient::ssg() }
    }

    /// Preset `pegasos-avg`: `pegasos` with the average of the SFD thesis.
    pub fn pegasos_avg() -> Self {
        Subgradient { averaging: SubgradientAverage::Thesis, ..Subgradient::pegasos() }
    }

    pub(super) fn check(&self) -> Result<(), ParameterError> {
        let name = serde_json::to_value(self.order).map_or_else(|_| String::new(), |order| shown(&order["name"]));
        let rule = "must be uniform or permutation: this solver measures no gaps to order by";
        let holds = matches!(self.order, Order::Uniform(_) | Order::Permutation(_));
        require(holds, "order", name.as_str(), rule)?;
        check_size("size", self.size)?;
        self.budget.validate().map_err(|error| error.under("budget"))?;
        match self.averaging {
            SubgradientAverage::Polynomial(Polynomial { eta }) => not_negative("averaging.eta", eta),
            SubgradientAverage::None | SubgradientAverage::Weighted | SubgradientAverage::Thesis => Ok(()),
        }
    }
}
