//! Arborescences: trees directed away from a root, as dependency parses are; the best, the M best, and their
//! distribution.
//!
//! Vertex 0 is the root, the others are *words*, of which each has one *head*. The score of a tree is the sum of its
//! edges' scores, larger is better, as for [chains](crate::viterbi); `-inf` forbids. Where edges have types, the best
//! type of each edge is the caller's affair for maxima, and `ln sum e^score` over types for sums.
//!
//! * [`Arborescence`]: the best tree in O(n^2), and the M best at n of these each;
//! * [`Arborescence::weights`]: their distribution as a product of weights within the range of doubles;
//! * [`MatrixTree`]: the log-partition and the probability of every edge, in O(n^3).
//!
//! Both know the rule of treebanks that the root has exactly one child ([`HeadScores::single_root`]).

mod best;
mod edmonds;
mod matrix_tree;
mod numbers;
mod reduction;
mod scores;
mod weights;

pub use edmonds::Arborescence;
pub use matrix_tree::{EdgeMarginals, MatrixTree};
pub use scores::{HeadScores, HeadTree};
