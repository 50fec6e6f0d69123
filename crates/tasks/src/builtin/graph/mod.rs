//! Labelling the nodes of graphs: features per node, and edges whose ends like to agree (MP-BCFW paper, Eq. 10) or have
//! a learned weight for every pair of labels.
//!
//! Weights: `unary[label][feature]`, then `edge[feature]`, kept >= 0, or `pair[edge feature][label][label]`. Two labels
//! that like to agree are a minimum cut, exactly; the other ways are listed at [`GraphInference`].

mod cut;
mod energies;
mod entry;
mod input;
mod layout;
mod loss;
mod reading;
mod spec;
mod structure;

#[cfg(test)]
mod tests;

pub use super::pairwise::{Labelling, NodeLoss, UNLABELLED};
pub use cut::CutMemory;
pub use entry::ENTRY;
pub use input::GraphInput;
pub use layout::{GraphStructure, GraphTask};
pub use reading::{GraphVocabulary, examples};
pub use spec::{GraphInference, GraphSpec, Pairwise};
pub use structure::GraphScratch;
