//! Sets of labels: one binary node per label, and weights for pairs of them (Finley and Joachims, "Training structural
//! SVMs when exact inference is intractable", ICML 2008).
//!
//! Weights: `unary[label][feature]`, the score of a label that is in the set; then for every pair j < k that has
//! weights a table of four, for neither, k alone, j alone, both: `pair[j < k][4]`.
//!
//! An oracle call costs one product of x with the weight matrix, and then: messages along a tree or forest, exact for
//! any number of labels; else tables over all sets, exact up to [`MOST_ENUMERATED`] labels (about three additions a
//! set); else a cut, exact where no pair of labels repels; else tree-reweighted message passing, with the bound that it
//! proves.

mod all_sets;
mod builtin;
mod chow_liu;
mod coded;
mod costs;
mod decode;
mod graph;
mod layout;
mod marginals;
mod measures;
mod reference;
mod scores;
mod search;
mod spec;
mod table;
mod task;

#[cfg(test)]
mod tests;

pub use costs::SetCosts;
pub use graph::LabelGraph;
pub use layout::{MOST_ENUMERATED, Multilabel};
pub use spec::{ENTRY, MultilabelSpec, MultilabelVocabulary, PairwiseSpec, open};
pub use task::MultilabelScratch;
