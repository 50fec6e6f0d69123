//! Which kernel a task has.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kernel::{ChiSquare, Kernel, Polynomial, Rbf};

/// The kernel of a task on rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum KernelSpec {
    /// No kernel: one weight for each feature.
    #[default]
    None,
    /// x.y: the weights of no kernel, by way of rows.
    Linear,
    /// exp(-gamma |x - y|^2).
    Rbf(Rbf),
    /// (gamma x.y + coef0)^degree.
    Polynomial(Polynomial),
    /// Sum of min(x_j, y_j), for features >= 0 such as histograms.
    Intersection,
    /// exp(-gamma sum (x_j - y_j)^2 / (x_j + y_j)), for features >= 0 such as histograms.
    ChiSquare(ChiSquare),
    /// The features are rows of the kernel matrix itself: R columns, one for each training row, R rows to train on and any
    /// number of them after.
    Precomputed,
}

impl KernelSpec {
    /// Returns the kernel, where there is one.
    pub fn kernel(self) -> Option<Kernel> {
        match self {
            KernelSpec::None => None,
            KernelSpec::Linear => Some(Kernel::Linear),
            KernelSpec::Rbf(rbf) => Some(Kernel::Rbf(rbf)),
            KernelSpec::Polynomial(polynomial) => Some(Kernel::Polynomial(polynomial)),
            KernelSpec::Intersection => Some(Kernel::Intersection),
            KernelSpec::ChiSquare(chi_square) => Some(Kernel::ChiSquare(chi_square)),
            KernelSpec::Precomputed => Some(Kernel::Precomputed),
        }
    }
}
