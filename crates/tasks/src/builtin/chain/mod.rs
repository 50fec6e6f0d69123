//! Sequence labelling with a linear chain: unary features per position, one weight per pair of neighbours
//! (MP-BCFW paper, Eq. 9). The oracle is Viterbi.

mod builtin;
mod layout;
mod marginals;
mod spec;
mod task;
mod transitions;

#[cfg(test)]
mod tests;

pub use layout::Chain;
pub use spec::{ChainSpec, ENTRY};
pub use task::ChainScratch;
pub use transitions::{AllowedSteps, StepList};
