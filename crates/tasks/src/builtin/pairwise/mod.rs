//! The tasks on nodes and edges: a [`Structure`] says what its nodes, edges and features are, [`PairwiseTask`] makes a
//! task of it. Labellings with the costs of their truth, the part of a graph that a question is about, engines, lists,
//! recombination, losses, warnings, and plain code for `verify` are written here once.

mod builtin;
mod engines;
mod expand;
pub(super) mod kbest;
mod known;
mod labelling;
mod loss;
mod marginals;
mod measure;
mod part;
mod prices;
mod reading;
mod recombine;
mod reference;
mod scratch;
mod solver;
mod structure;
mod task;

#[cfg(test)]
pub(super) mod testing;

/// The lambda to begin with, for the tasks on nodes and edges.
pub(super) const LAMBDA: &str =
    "1, up to 100 where examples are few: an example's features are sums over its nodes, and 1/n is far too small";

pub use engines::EngineChoice;
pub(super) use engines::{EngineLimits, Engines, quality};
pub(super) use labelling::Judge;
pub use labelling::{Labelling, UNLABELLED};
pub use loss::NodeLoss;
pub use part::LabelledPart;
pub(super) use part::PartEdge;
pub(super) use prices::{ExampleSizes, of_engine, of_planes};
pub(super) use reading::{Misfit, bare, check_use_of_weights, check_weights, misfit, repeated};
#[cfg(test)]
pub(super) use reference::cut_hinge;
pub use scratch::PairwiseScratch;
pub(super) use solver::LONG;
pub use solver::StructureSolver;
pub use structure::{Structure, StructureKernels};
pub(super) use structure::{StructureQuestion, is_known};
pub use task::PairwiseTask;
