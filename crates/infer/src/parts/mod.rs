//! Parts on the cells of a grid, tied to each other in a tree: the placement of the highest score (pictorial
//! structures).
//!
//! A part has a score in each cell; a [`Limb`] ties a part to its parent by a quadratic score of their offset, along
//! columns and along rows. A part may have several types, each with its own scores in cells and its own springs; a limb
//! then has a score for each pair of types at its ends. Max-product sends a message along each limb, the best score
//! of the child for every cell of the parent: a generalised distance transform, whose upper envelope of parabolas is
//! built from one end to the other. Cost: `O(parts cells types^2)`, without tables of pairs of cells.
//! Felzenszwalb and Huttenlocher, Pictorial structures for object recognition (IJCV 61, 2005) and Distance transforms
//! of sampled functions (2012); types: Yang and Ramanan, Articulated pose estimation with flexible mixtures-of-parts
//! (CVPR 2011).

mod envelope;
mod tree;

#[cfg(test)]
mod tests;

pub use envelope::Spring;
pub use tree::{Limb, PartPlace, PartTree, Rest};
