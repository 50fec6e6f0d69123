//! Dial 1: which block is visited next.
//!
//! An order is one file, with its parameters ([`OrderConfig`]) and its state ([`BlockVisits`]), and one line of the list
//! below, from which [`Order`] and [`BlockOrder`] are made.

mod block_visits;
mod fenwick;
mod gap;
mod lipschitz;
mod max_gap;
mod orders;
mod permutation;
mod shrinking;
mod uniform;
mod weighted;

pub use block_visits::{BlockVisits, OrderConfig};
pub use gap::{GapSampling, GapVisits};
pub use lipschitz::{Lipschitz, LipschitzVisits};
pub use max_gap::{MaxGap, MaxGapVisits};
pub use permutation::{Permutation, PermutationVisits};
pub use shrinking::{Shrinking, ShrinkingVisits};
pub use uniform::{Uniform, UniformVisits};

crate::orders! {
    /// Every visit draws any block with equal probability (Lacoste-Julien et al. 2013).
    Uniform(Uniform) => UniformVisits;
    /// Every pass visits each block once, in a fresh random order (MP-BCFW, Alg. 3).
    Permutation(Permutation) => PermutationVisits;
    /// Draws blocks in proportion to a power of their last seen gap (Osokin et al. 2016, 3.1).
    Gap(GapSampling) => GapVisits;
    /// Always the block of the largest last seen gap.
    MaxGap(MaxGap) => MaxGapVisits;
    /// Draws blocks in proportion to their curvature, the largest squared length of a corner seen.
    Lipschitz(Lipschitz) => LipschitzVisits;
    /// Like a permutation, but blocks whose last seen gap was small wait for some passes.
    Shrinking(Shrinking) => ShrinkingVisits;
}

impl Default for Order {
    fn default() -> Self {
        Order::Permutation(Permutation {})
    }
}
