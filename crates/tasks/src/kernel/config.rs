//! Parameters of kernels, and of the store of their rows.

use multiplane_core::parameter::{ParameterError, require};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::KernelError;
use super::gamma::Gamma;
use crate::data::SparseRows;

/// The inner product of two rows x and y in the kernel's space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Kernel {
    /// `x.y`: what there is without a kernel.
    #[default]
    Linear,
    /// `exp(-gamma |x - y|^2)`.
    Rbf(Rbf),
    /// `(gamma x.y + coef0)^degree`.
    Polynomial(Polynomial),
    /// The sum of the smaller of each two features, for features >= 0 such as histograms.
    Intersection,
    /// `exp(-gamma sum (x - y)^2 / (x + y))`, for features >= 0 such as histograms.
    ChiSquare(ChiSquare),
    /// The rows are those of the kernel matrix itself: R x R for training, a row of R values for each new row.
    Precomputed,
}

/// Parameters of the Gaussian kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rbf {
    /// The factor on squared distances: a number > 0, `scale` for 1 / (features * variance of all entries of the training
    /// rows), or `auto` for 1 / features.
    pub gamma: Gamma,
}

/// Parameters of the polynomial kernel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Polynomial {
    /// The power, at least 1.
    pub degree: u32,
    /// The factor on inner products: a number > 0, `scale` for 1 / (features * variance of all entries of the training
    /// rows), or `auto` for 1 / features.
    pub gamma: Gamma,
    /// What is added before the power is taken; below 0 the kernel would be none.
    pub coef0: f64,
}

impl Default for Polynomial {
    fn default() -> Self {
        Polynomial { degree: 3, gamma: Gamma::default(), coef0: 0.0 }
    }
}

/// Parameters of the exponential chi-square kernel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChiSquare {
    /// The factor on distances: a number > 0, `scale` for 1 / (features * variance of all entries of the training rows), or
    /// `auto` for 1 / features.
    pub gamma: Gamma,
}

impl Default for ChiSquare {
    fn default() -> Self {
        ChiSquare { gamma: Gamma::Value(1.0) }
    }
}

/// Bits of a value of the kernel matrix. Values are rounded to them before any use, so the cache changes no result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Storage {
    /// 32 bits: about 7 digits, half the memory.
    #[default]
    F32,
    /// 64 bits.
    F64,
}

/// How rows of the kernel matrix are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct KernelStore {
    /// Bits of a value.
    pub storage: Storage,
    /// Memory for rows that were computed, in MiB; the row that was not used for longest makes room. At least one row is
    /// held. Changes no result.
    pub cache_mb: u32,
}

impl Default for KernelStore {
    fn default() -> Self {
        KernelStore { storage: Storage::default(), cache_mb: 1000 }
    }
}

impl KernelStore {
    /// Checks that there is a kernel whose rows could be kept.
    ///
    /// # Errors
    ///
    /// The first parameter that was changed, where there is no kernel.
    pub fn validate(self, kernel: Option<Kernel>) -> Result<(), ParameterError> {
        let (usual, rule) = (KernelStore::default(), "needs a kernel, without one there are no rows of its matrix");
        let has = kernel.is_some();
        require(has || self.cache_mb == usual.cache_mb, "cache_mb", self.cache_mb, rule)?;
        let storage = if self.storage == Storage::F32 { "f32" } else { "f64" };
        require(has || self.storage == usual.storage, "storage", storage, rule)
    }
}

impl Kernel {
    /// Checks the parameters.
    ///
    /// # Errors
    ///
    /// The first one that breaks a rule.
    pub fn validate(self) -> Result<(), ParameterError> {
        match self {
            Kernel::Linear | Kernel::Intersection | Kernel::Precomputed => Ok(()),
            Kernel::Rbf(Rbf { gamma }) | Kernel::ChiSquare(ChiSquare { gamma }) => gamma.validate(),
            Kernel::Polynomial(Polynomial { degree, gamma, coef0 }) => {
                require(degree >= 1, "degree", degree, "must be at least 1")?;
                require(coef0.is_finite() && coef0 >= 0.0, "coef0", coef0, "must be a finite number >= 0")?;
                gamma.validate()
            }
        }
    }

    /// Returns the kernel with its gamma as a number, which training rows give: what a model has to remember.
    ///
    /// # Errors
    ///
    /// A parameter that breaks a rule, or rows that give no finite gamma > 0.
    pub fn resolved(self, rows: &SparseRows) -> Result<Kernel, KernelError> {
        self.validate()?;
        Ok(match self {
            Kernel::Rbf(Rbf { gamma }) => Kernel::Rbf(Rbf { gamma: gamma.resolved(rows)? }),
            Kernel::ChiSquare(ChiSquare { gamma }) => Kernel::ChiSquare(ChiSquare { gamma: gamma.resolved(rows)? }),
            Kernel::Polynomial(kernel) => {
                Kernel::Polynomial(Polynomial { gamma: kernel.gamma.resolved(rows)?, ..kernel })
            }
            Kernel::Linear | Kernel::Intersection | Kernel::Precomputed => self,
        })
    }

    /// Its name, as users write it.
    pub fn name(self) -> &'static str {
        match self {
            Kernel::Linear => "linear",
            Kernel::Rbf(_) => "rbf",
            Kernel::Polynomial(_) => "polynomial",
            Kernel::Intersection => "intersection",
            Kernel::ChiSquare(_) => "chi-square",
            Kernel::Precomputed => "precomputed",
        }
    }
}
