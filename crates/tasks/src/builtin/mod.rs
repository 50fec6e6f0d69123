//! The tasks whose features, loss and decoder are in this program: each is a file or folder here, and one line in the
//! [registry](crate::registry).

pub mod binary;
pub mod chain;
mod coded;
mod difference;
pub mod gaps;
pub mod graph;
pub mod kernelized;
pub mod known;
mod listed;
mod magnitudes;
mod marginals;
pub mod mrf;
pub mod multiclass;
pub mod multilabel;
mod neighbours;
mod pairwise;
mod prices;
mod probe;
mod problem;
mod reading;
pub mod rows;
mod scaling;
mod second_opinion;
pub mod sequences;
mod several;
mod task;
pub mod tree;

pub use neighbours::one_changed;
pub use problem::TaskProblem;
pub use reading::Reading;
pub use scaling::ScaleSpec;
pub use task::BuiltinTask;
