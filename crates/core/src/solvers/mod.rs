//! The registry of solvers: each family is one file or folder here and one line in `FAMILIES` (registry.rs).

pub(crate) mod answer_average;
pub mod auto;
pub mod batch_frank_wolfe;
pub mod block_frank_wolfe;
mod build;
pub mod cutting_plane;
pub(crate) mod entry;
pub mod functional_descent;
pub mod lasvm;
pub mod partial_linearization;
mod registry;
pub mod subgradient;

pub use answer_average::{AnswerAverage, Polynomial};
pub use build::BuildError;
pub use entry::{BoxedSolver, ParseSolver, SolverConfig, SolverEntry, values};
pub use registry::{SOLVERS, find};
