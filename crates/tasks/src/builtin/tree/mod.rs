//! Labelling the nodes of trees: features of nodes as rows, one weight per pair of labels of an edge for each type of
//! edges. The oracle is max-product. Trees that are to be found: [`arborescence`].

pub mod arborescence;
mod builtin;
mod input;
mod layout;
mod marginals;
mod reading;
mod recombine;
mod reference;
mod spec;
mod task;

#[cfg(test)]
mod tests;

pub use input::TreeInput;
pub use layout::TreeTask;
pub use reading::TreeVocabulary;
pub use spec::{ENTRY, StructureSpec, TreeSpec};
pub use task::TreeScratch;
