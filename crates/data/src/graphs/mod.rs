//! Labelled graphs: nodes with features and labels, edges with features. What a container of the format `graph` holds,
//! and what programs hand over as arrays.

mod arrays;
mod check;
mod kind;
mod read;
mod write;

pub use super::pairwise::NO_LABEL;
pub use arrays::GraphArrays;
pub use kind::Graphs;
pub use read::FORMAT;
