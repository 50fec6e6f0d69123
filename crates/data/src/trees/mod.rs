//! The format `tree`: a tree a line, as a JSON object (jsonl); and trees as a kind of data, in `kind.rs`.

mod fault;
mod json;
mod kind;
mod read;
mod shape;
mod write;

pub use fault::{TreeFault, TreePlace};
pub use kind::{NodeFeatures, TreeParts, Trees};
pub use read::FORMAT;
pub use write::write;

#[cfg(test)]
pub(super) use read::parse;
