//! Pairwise models given as tables of features: a row for every label of a node, and for every pair of labels of an edge.
//! What a container of the format `mrf` holds, and what programs hand over as arrays.

mod arrays;
mod check;
mod kind;
mod read;
mod write;

pub use arrays::MrfArrays;
pub use kind::{Checked, Mrfs};
pub use read::FORMAT;
