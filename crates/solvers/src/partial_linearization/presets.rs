//! The registry's lines of partial linearisation.

use super::batch::BatchSolver;
use super::block::BlockSolver;
use super::config::{PartialLinearization, RANGE};
use crate::oracle::Ability;
use crate::parameter::{ParameterError, require};
use crate::regularizer::Regularizer;
use multiplane_core::solvers::{BoxedSolver, SolverConfig, SolverEntry, values};

impl SolverConfig for PartialLinearization {
    fn validate(&self) -> Result<(), ParameterError> {
        let within = (RANGE.0..=RANGE.1).contains(&self.tau);
        require(within, "tau", self.tau, "must be from 1e-12 to 1e12")?;
        self.order.validate().map_err(|error| error.under("order"))
    }
    fn needs(&self) -> Option<Ability> {
        Some(Ability::Marginals)
    }
    fn build(&self, blocks: usize, dim: usize, regularizer: Regularizer) -> BoxedSolver {
        match self.batch {
            false => Box::new(BlockSolver::new(*self, blocks, dim, regularizer)),
            true => Box::new(BatchSolver::new(*self, blocks, dim, regularizer)),
        }
    }
}

/// The registry's lines.
pub const ENTRIES: &[SolverEntry] = &[
    SolverEntry::new::<PartialLinearization>("bcpl", || values(&PartialLinearization::bcpl()))
        .summary("block-coordinate partial linearisation: steps toward what is expected under a Gibbs distribution")
        .source("Mohapatra et al. 2016")
        .with_dual(),
    SolverEntry::new::<PartialLinearization>("pl", || values(&PartialLinearization::pl()))
        .summary("batch partial linearisation: n distributions at one w, then one step")
        .source("Mohapatra et al. 2016")
        .with_dual(),
    SolverEntry::new::<PartialLinearization>("oeg", || values(&PartialLinearization::oeg()))
        .summary("online exponentiated gradient: bcpl with full steps, at rates that are halved until F rises")
        .source("Collins et al. 2008")
        .with_dual(),
    SolverEntry::new::<PartialLinearization>("eg", || values(&PartialLinearization::eg()))
        .summary("batch exponentiated gradient: pl with full steps, at a rate that is halved until F rises")
        .source("Collins et al. 2008")
        .with_dual(),
];
