//! Parameters of LaSVM, and its line of the registry.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::solver::LaSvmSolver;
use crate::parameter::{ParameterError, require};
use crate::regularizer::Regularizer;
use crate::solvers::entry::{BoxedSolver, SolverConfig, SolverEntry, values};

/// Parameters of LaSVM.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LaSvm {
    /// Examples that are asked about before each PROCESS step, drawn among those that the epoch has not processed yet; the
    /// one that violates most is processed. A call each. 1 is a random order.
    pub candidates: u32,
    /// REPROCESS steps after each PROCESS step that moved.
    pub reprocess: u32,
    /// Violations up to this are none, in units of the loss (tau). Halved after an epoch in which no example that was
    /// processed violated by more.
    pub tau: f64,
    /// Whether epochs end with REPROCESS steps until no example with weight violates by more than `tau`.
    pub finish: bool,
}

impl Default for LaSvm {
    fn default() -> Self {
        LaSvm { candidates: 50, reprocess: 1, tau: 0.001, finish: true }
    }
}

impl SolverConfig for LaSvm {
    fn validate(&self) -> Result<(), ParameterError> {
        require(self.candidates >= 1, "candidates", self.candidates, "must be at least 1")?;
        require(self.tau.is_finite() && self.tau > 0.0, "tau", self.tau, "must be a finite number greater than 0")
    }
    fn takes_kernels(&self) -> bool {
        true
    }
    fn build(&self, blocks: usize, dim: usize, regularizer: Regularizer) -> BoxedSolver {
        Box::new(LaSvmSolver::new(*self, blocks, dim, regularizer))
    }
}

/// The registry's line.
pub const ENTRIES: &[SolverEntry] = &[SolverEntry::new::<LaSvm>("lasvm", || values(&LaSvm::default()))
    .summary("LaSVM: online dual ascent over examples that violate most, and again over those that carry weight")
    .source("Bordes et al. 2005; Bordes et al. 2007 (LaRank)")
    .with_dual()
    .continues()];
