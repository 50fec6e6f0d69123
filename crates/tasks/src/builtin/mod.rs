//! The tasks whose features, loss and decoder are in this program: each is a file or folder here, and one line in the
//! [registry](crate::registry).

pub mod binary;
pub mod boxes;
pub mod chain;
mod classes;
mod difference;
mod enumerate;
pub mod graph;
mod groups;
#[cfg(feature = "highs")]
pub mod ilp;
pub mod kernelized;
mod label_codes;
mod lists;
mod magnitudes;
mod marginals;
pub mod mrf;
pub mod multiclass;
pub mod multilabel;
mod neighbours;
pub mod pairwise;
mod partial;
pub mod pose;
mod prices;
mod probe;
mod problem;
mod reading;
mod reference;
pub mod rows;
mod scaling;
pub mod sequences;
mod task;
#[cfg(test)]
mod testing;
pub mod tree;
pub mod unused_columns;
pub mod vocabulary_match;

pub use neighbours::one_changed;
pub use partial::Partial;
pub use problem::TaskProblem;
pub use reading::Reading;
pub use scaling::ScaleSpec;
pub use task::BuiltinTask;
