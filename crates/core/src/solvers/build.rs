//! How a line of the registry becomes a solver, and why it may not.

use serde_json::Value;

use super::entry::{BoxedSolver, SolverEntry};
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
    #[error("solver {name} does not train with a kernel{}", if *.at_parameters { " at these parameters" } else { "" })]
    Kernel {
        /// Its name.
        name: &'static str,
        /// If the preset takes a kernel and these parameters do not.
        at_parameters: bool,
    },
}

impl BuildError {
    /// Returns the refusal of a kernel by a solver.
    pub fn kernel(entry: &SolverEntry) -> Self {
        BuildError::Kernel { name: entry.name, at_parameters: entry.takes_kernels() }
    }
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
        match regularizer.fault(dim) {
            Some(fault) => Err(BuildError::Regularizer(fault)),
            None if regularizer.metric().has_kernel() && !config.takes_kernels() => Err(BuildError::kernel(self)),
            None => Ok(config.build(blocks, dim, regularizer)),
        }
    }
}
