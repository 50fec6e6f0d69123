//! The registry's lines of functional descent.

use super::config::FunctionalDescent;
use super::solver::FunctionalDescentSolver;
use super::stream::{OnlineDescent, UNUSED};
use crate::online::{Online, StreamFacts};
use crate::parameter::ParameterError;
use crate::regularizer::Regularizer;
use multiplane_core::solvers::{BoxedSolver, SolverConfig, SolverEntry, values};

impl SolverConfig for FunctionalDescent {
    fn validate(&self) -> Result<(), ParameterError> {
        self.check()
    }
    fn takes_kernels(&self) -> bool {
        true
    }
    fn online(&self, facts: StreamFacts) -> Option<Result<Box<dyn Online>, ParameterError>> {
        Some(OnlineDescent::new(*self, facts).map(|learner| Box::new(learner) as _))
    }
    fn unused_online(&self) -> &'static [(&'static str, &'static str)] {
        UNUSED
    }
    fn notes(&self, blocks: usize, passes: Option<f64>) -> Vec<String> {
        self.notes_on(blocks, passes)
    }
    fn build(&self, blocks: usize, dim: usize, regularizer: Regularizer) -> BoxedSolver {
        Box::new(FunctionalDescentSolver::new(*self, blocks, dim, regularizer))
    }
}

/// The registry's lines.
pub const ENTRIES: &[SolverEntry] = &[
    SolverEntry::new::<FunctionalDescent>("sfd1", || values(&FunctionalDescent::sfd1()))
        .summary("stochastic functional descent, lambda_t = 1/k: online, without lambda and without a certificate")
        .source("the SFD thesis, Alg. 1 and 2")
        .without_lambda()
        .online(),
    SolverEntry::new::<FunctionalDescent>("sfd2", || values(&FunctionalDescent::sfd2()))
        .summary("sfd1 with lambda_t = t/n")
        .source("the SFD thesis, Alg. 1 and 2")
        .without_lambda()
        .online(),
];
