//! How many rows a model may hold.

use multiplane_core::metric::{BudgetRows, SupportBudget};
use multiplane_core::parameter::{ParameterError, require};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kernel::Kernel;

/// What becomes of a model with more rows than it may hold, once training has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum KernelBudget {
    /// It holds as many as carry weight.
    #[default]
    None,
    /// Rows go one by one, each time the one with which all that went have moved the weights least.
    Removal(BudgetRows),
    /// The weights are projected onto the span of rows chosen one by one, each time the one that leaves the least.
    Projection(BudgetRows),
    /// Rows are merged two by two into new ones, and the weights are projected onto the span of these; kernel `rbf`.
    Merging(BudgetRows),
}

impl KernelBudget {
    /// Returns the most rows of a model; `None` without a bound.
    pub fn rows(self) -> Option<usize> {
        match self {
            KernelBudget::None => None,
            KernelBudget::Removal(budget) | KernelBudget::Projection(budget) | KernelBudget::Merging(budget) => {
                Some(budget.rows as usize)
            }
        }
    }

    /// Returns the budget of a point, whose rows are those of training; `None` of merging.
    pub(super) fn of_point(self) -> Option<SupportBudget> {
        match self {
            KernelBudget::None => Some(SupportBudget::None),
            KernelBudget::Removal(budget) => Some(SupportBudget::Removal(budget)),
            KernelBudget::Projection(budget) => Some(SupportBudget::Projection(budget)),
            KernelBudget::Merging(_) => None,
        }
    }

    /// Checks the size, and whether rows of the kernel can be merged.
    ///
    /// # Errors
    ///
    /// A budget of no row, without a kernel, or of a kernel whose rows cannot be merged.
    pub fn validate(self, kernel: Option<Kernel>) -> Result<(), ParameterError> {
        let (name, size) = match self {
            KernelBudget::None => return Ok(()),
            KernelBudget::Removal(size) => ("removal", size),
            KernelBudget::Projection(size) => ("projection", size),
            KernelBudget::Merging(size) => ("merging", size),
        };
        size.validate()?;
        require(kernel.is_some(), "", name, "needs a kernel, without one there are no support vectors")?;
        let merges = matches!(kernel, Some(Kernel::Rbf(_))) || name != "merging";
        let found = kernel.map_or("none", Kernel::name);
        require(
            merges,
            "",
            name,
            &format!("is for kernel rbf, found {found}: budgets of other kernels are removal, projection"),
        )
    }
}
