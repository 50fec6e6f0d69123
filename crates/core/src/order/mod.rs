//! Dial 1: which block is visited next.
//!
//! An order is one file, with its parameters ([`OrderConfig`]) and its state ([`BlockVisits`]), and one line of the
//! list in `orders.rs`, from which [`Order`] and [`BlockOrder`] are made.

mod block_visits;
mod fenwick;
mod max_gap;
mod orders;
mod permutation;
mod sample;
mod weighted;

pub use block_visits::{BlockVisits, OrderConfig, Visiting};
pub use max_gap::{MaxGap, MaxGapVisits};
pub use orders::{BlockOrder, Order};
pub use permutation::{Permutation, PermutationVisits, Shrinking, ShrinkingVisits, Uniform, UniformVisits};
pub use sample::{Active, ExampleSampler, InOrder, Prefer, Sampling, check_size, size_note, size_of};
pub use weighted::{GapSampling, GapVisits, Lipschitz, LipschitzVisits};
