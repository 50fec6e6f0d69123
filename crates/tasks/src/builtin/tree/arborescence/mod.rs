//! Finding the trees: every word of a sentence gets a head, another word or the root (graph-based dependency parsing).
//!
//! A tree scores the sum of its arcs, an arc by products of the features of its two words; the oracle is
//! Chu-Liu/Edmonds. McDonald, Pereira, Ribarov and Hajic, "Non-projective dependency parsing using spanning tree
//! algorithms" (HLT 2005).

mod arcs;
mod builtin;
mod coded;
mod input;
mod layout;
mod marginals;
mod open;
mod reading;
mod reference;
mod spec;
mod task;

#[cfg(test)]
mod tests;

pub use input::Sentence;
pub use layout::ArborescenceTask;
pub use spec::{ArborescenceSpec, RootChildren};
pub use task::ArborescenceScratch;

pub(super) use layout::tables;
pub(super) use open::{SharedOptions, open};
