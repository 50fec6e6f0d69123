//! The registry's lines of cutting-plane methods.

use super::config::{Combine, NSlack, OneSlack, SampledCuts, Solutions};
use super::n_slack::NSlackSolver;
use super::one_slack::OneSlackSolver;
use super::sampled::SampledCutsSolver;
use crate::oracle::Ability;
use crate::order::{check_size, size_note};
use crate::parameter::{ParameterError, not_negative, require};
use crate::regularizer::Regularizer;
use multiplane_core::solvers::{BoxedSolver, SolverConfig, SolverEntry, values};

impl SolverConfig for OneSlack {
    fn validate(&self) -> Result<(), ParameterError> {
        self.master.validate().map_err(|error| error.under("master"))?;
        self.solutions.check().map_err(|error| error.under("solutions"))?;
        not_negative("cache.share", self.cache.share)?;
        let inward = self.inward >= 0.0 && self.inward < 1.0;
        require(inward, "inward", self.inward, "must be at least 0 and below 1")
    }
    fn needs(&self) -> Option<Ability> {
        match self.solutions {
            _ if self.solutions.planes() == 1 => None,
            Solutions::Map => None,
            Solutions::Diverse(_) | Solutions::Rand(_) => Some(Ability::Diverse),
            Solutions::MBest(_) => Some(Ability::Top),
        }
    }
    fn takes_kernels(&self) -> bool {
        // DOP1's gains are of linear weights.
        self.solutions.planes() == 1 || self.solutions.combine() != Combine::Dop1
    }
    fn copies(&self) -> usize {
        10 // sums over all examples are as long as w
    }

    fn build(&self, blocks: usize, dim: usize, regularizer: Regularizer) -> BoxedSolver {
        Box::new(OneSlackSolver::new(*self, blocks, dim, regularizer))
    }
}

impl SolverConfig for NSlack {
    fn validate(&self) -> Result<(), ParameterError> {
        self.master.validate().map_err(|error| error.under("master"))?;
        not_negative("violation", self.violation)
    }
    fn takes_kernels(&self) -> bool {
        true
    }
    fn copies(&self) -> usize {
        10 // sums over all examples are as long as w
    }

    fn build(&self, blocks: usize, dim: usize, regularizer: Regularizer) -> BoxedSolver {
        Box::new(NSlackSolver::new(*self, blocks, dim, regularizer))
    }
}

impl SolverConfig for SampledCuts {
    fn validate(&self) -> Result<(), ParameterError> {
        self.master.validate().map_err(|error| error.under("master"))?;
        check_size("size", self.size)?;
        not_negative("violation", self.violation)?;
        require(self.size != 1.0, "size", self.size, "must be at least 2: one example does not tell how many there are")
    }
    fn takes_kernels(&self) -> bool {
        true
    }
    fn copies(&self) -> usize {
        10 // sums over all examples are as long as w
    }
    fn notes(&self, blocks: usize, _passes: Option<f64>) -> Vec<String> {
        size_note("solver.size", self.size, blocks).into_iter().collect()
    }
    fn build(&self, blocks: usize, dim: usize, regularizer: Regularizer) -> BoxedSolver {
        Box::new(SampledCutsSolver::new(*self, blocks, dim, regularizer))
    }
}

/// The registry's lines.
pub const ENTRIES: &[SolverEntry] = &[
    SolverEntry::new::<OneSlack>("one-slack", || values(&OneSlack::default()))
        .summary("1-slack cutting planes: a plane of the sum of all hinges per pass, which is its own certificate")
        .source("Joachims, Finley, Yu 2009")
        .with_dual()
        .continues(),
    SolverEntry::new::<NSlack>("n-slack", || values(&NSlack::default()))
        .summary("n-slack cutting planes: a plane of every example per pass, then a QP over all of them")
        .source("Tsochantaridis et al. 2005")
        .with_dual()
        .continues(),
    SolverEntry::new::<OneSlack>("bundle", || values(&OneSlack::bundle()))
        .summary("one-slack with passes between the master's solution and the best weights so far")
        .source("Ben-Ameur, Neto 2007; Franc, Sonnenburg 2009")
        .with_dual()
        .continues(),
    SolverEntry::new::<OneSlack>("div-m-best", || values(&OneSlack::div_m_best()))
        .summary("one-slack with several diverse labellings of every example in a pass, a plane from each")
        .source("Guzman-Rivera, Kohli, Batra 2014")
        .with_dual()
        .continues(),
    SolverEntry::new::<SampledCuts>("sampled-cuts", || values(&SampledCuts::default()))
        .summary("one-slack with planes estimated from a sample of the examples; without a certificate")
        .source("Yu, Joachims 2008")
        .online(),
];
