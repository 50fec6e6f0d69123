//! The registry's line of LaSVM.

use super::solver::{LaSvm, LaSvmSolver};
use crate::parameter::{ParameterError, require};
use crate::regularizer::Regularizer;
use multiplane_core::solvers::{BoxedSolver, SolverConfig, SolverEntry, values};

impl SolverConfig for LaSvm {
    fn validate(&self) -> Result<(), ParameterError> {
        require(self.candidates >= 1, "candidates", self.candidates, "must be at least 1")?;
        require(self.tau.is_finite() && self.tau > 0.0, "tau", self.tau, "must be a finite number greater than 0")
    }
    fn takes_kernels(&self) -> bool {
        true
    }
    fn notes(&self, blocks: usize, _passes: Option<f64>) -> Vec<String> {
        // The preset's 50 are nobody's choice.
        let is_cut = self.candidates as usize > blocks && self.candidates != LaSvm::default().candidates;
        let candidates = self.candidates;
        let told = || {
            format!(
                "solver.candidates = {candidates} is more than the {blocks} examples there are: all that are left are \
                 asked"
            )
        };
        is_cut.then(told).into_iter().collect()
    }
    fn prefers_kernels(&self) -> bool {
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
    .continues()
    .online()];
