//! How a line of the registry becomes a solver, and why it may not.

use serde_json::Value;

use super::entry::{BoxedSolver, SolverEntry};
use super::registry::SOLVERS;
use crate::parameter::ParameterError;
use crate::regularizer::Regularizer;

/// Why a solver cannot be built from a table of parameters.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A parameter is at fault.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The regulariser does not fit the weights.
    #[error("{0}")]
    Regularizer(String),
    /// The solver's steps are those of linear weights.
    #[error("solver {name} does not train with a kernel{}; these do: {}", self.at_fault(), taking_kernels().join(", "))]
    Kernel {
        /// Its name.
        name: &'static str,
    },
}

impl BuildError {
    /// Says that a solver's parameters are at fault, and not the solver.
    fn at_fault(&self) -> &'static str {
        match self {
            BuildError::Kernel { name } if taking_kernels().contains(name) => " at these parameters",
            _ => "",
        }
    }
}

/// Returns the names of the solvers whose presets train with kernels.
fn taking_kernels() -> Vec<&'static str> {
    SOLVERS.iter().filter(|entry| entry.takes_kernels()).map(|entry| entry.name).collect()
}

impl SolverEntry {
    /// Builds the solver from a table of parameters, for `blocks` examples and `dim` weights.
    ///
    /// # Errors
    ///
    /// The parameter at fault, what does not fit of the regulariser, or a kernel that the solver does not take.
    pub fn build(
        &self,
        parameters: &Value,
        blocks: usize,
        dim: usize,
        regularizer: Regularizer,
    ) -> Result<BoxedSolver, BuildError> {
        let config = (self.parse)(parameters)?;
        config.check_metric(regularizer.metric())?;
        match regularizer.fault(dim) {
            Some(fault) => Err(BuildError::Regularizer(fault)),
            None if regularizer.metric().has_kernel() && !config.takes_kernels() => {
                Err(BuildError::Kernel { name: self.name })
            }
            None => Ok(config.build(blocks, dim, regularizer)),
        }
    }
}
