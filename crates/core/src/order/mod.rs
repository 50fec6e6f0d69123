//! Dial 1: which block is visited next.
//!
//! An order is a variant of [`Order`] with its state in a file of its own; all draws come from the run's generator.

mod dial;
mod fenwick;
mod largest;
mod permutation;
mod shrinking;
mod uniform;
mod visits;
mod weighted;

pub use dial::{GapOrder, Order};
pub use shrinking::Shrinking;
pub use visits::BlockOrder;
