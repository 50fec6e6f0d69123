//! The registry's lines of the subgradient method.

use super::config::Subgradient;
use super::solver::SubgradientSolver;
use super::stream::{OnlineSubgradient, UNUSED};
use crate::online::{Online, StreamFacts};
use crate::oracle::MaxOracle;
use crate::order::size_note;
use crate::parameter::ParameterError;
use crate::regularizer::Regularizer;
use crate::solver::Solver;
use multiplane_core::solvers::{BoxedSolver, SolverConfig, SolverEntry, values};

impl Subgradient {
    /// Builds a solver with these parameters for `blocks` examples and `dim` weights.
    pub fn solver<O: MaxOracle + ?Sized>(
        self,
        blocks: usize,
        dim: usize,
        regularizer: impl Into<Regularizer>,
    ) -> Box<dyn Solver<O>> {
        Box::new(SubgradientSolver::new(self, blocks, dim, regularizer.into()))
    }
}

impl SolverConfig for Subgradient {
    fn validate(&self) -> Result<(), ParameterError> {
        self.check()
    }
    fn takes_kernels(&self) -> bool {
        true
    }
    fn online(&self, facts: StreamFacts) -> Option<Result<Box<dyn Online>, ParameterError>> {
        Some(OnlineSubgradient::new(*self, facts).map(|learner| Box::new(learner) as _))
    }
    fn unused_online(&self) -> &'static [(&'static str, &'static str)] {
        UNUSED
    }
    fn notes(&self, blocks: usize, _passes: Option<f64>) -> Vec<String> {
        size_note("solver.size", self.size, blocks).into_iter().collect()
    }
    fn build(&self, blocks: usize, dim: usize, regularizer: Regularizer) -> BoxedSolver {
        self.solver(blocks, dim, regularizer)
    }
}

/// The registry's lines.
pub const ENTRIES: &[SolverEntry] = &[
    SolverEntry::new::<Subgradient>("ssg", || values(&Subgradient::ssg()))
        .summary("stochastic subgradient: the baseline without a certificate")
        .source("Lacoste-Julien et al. 2013"),
    SolverEntry::new::<Subgradient>("ssg-avg", || values(&Subgradient::ssg_avg()))
        .summary("ssg with weighted averaging")
        .source("Lacoste-Julien et al. 2013"),
    SolverEntry::new::<Subgradient>("pegasos", || values(&Subgradient::pegasos()))
        .summary("ssg with steps of 1 % of the examples")
        .source("Shalev-Shwartz et al. 2007; the SFD thesis")
        .online(),
    SolverEntry::new::<Subgradient>("pegasos-avg", || values(&Subgradient::pegasos_avg()))
        .summary("pegasos with an average that forgets polynomially")
        .source("Shamir, Zhang 2013; the SFD thesis")
        .online(),
];
