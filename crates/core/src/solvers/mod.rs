//! The solvers of the Frank-Wolfe engine, and the line by which a registry knows a solver. Other families, and the
//! registry of all, are in the crate `multiplane-solvers`.

pub mod batch_frank_wolfe;
pub mod block_frank_wolfe;
pub(crate) mod entry;

pub use entry::{BoxedSolver, BuildError, ParseSolver, SolverConfig, SolverEntry, values};
