//! Common parts of the containers of graphs and of pairwise models: nodes with labels and weights, and edges,
//! example after example.

mod check;
mod frame;
mod read;
mod write;

pub(super) use check::{check_length, check_offsets, place};
pub(super) use frame::Frame;
pub use frame::NO_LABEL;
pub(super) use read::{Common, matrix, offsets};
pub(super) use write::TensorList;
