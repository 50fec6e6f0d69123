//! Labelled graphs: nodes with features and labels, edges with features. What a container of the format `graph` holds,
//! and what programs hand over as arrays.

mod arrays;
pub(super) mod check;
mod kind;
pub(super) mod read;
mod write;

pub use arrays::{GraphArrays, NO_LABEL};
pub use kind::Graphs;
pub use read::FORMAT;
