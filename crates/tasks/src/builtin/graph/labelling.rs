//! A label for every node, and what errors at the nodes cost.

use std::sync::Arc;

/// Stands for a node that has no label in the truth: it is no part of the training graph, and its edges are none either.
/// In every labelling of that graph it has this number too.
pub const UNLABELLED: u32 = u32::MAX - 1;

/// One label per node. Two are equal if their labels are.
#[derive(Clone, Debug, Default)]
pub struct Labelling {
    /// Number of the label by node; [`UNLABELLED`], or in a truth [`UNSEEN`](crate::losses::UNSEEN), where there is none.
    pub labels: Vec<u32>,
    /// What judges other labellings, where this is a truth.
    pub(in crate::builtin) judge: Option<Arc<Judge>>,
}

/// What judges labellings of one graph.
#[derive(Clone, Debug, Default)]
pub(in crate::builtin) struct Judge {
    /// What an error costs, by node.
    pub(in crate::builtin) costs: Vec<f64>,
    /// What a node counts in weighted accuracy; empty where nodes have no weights.
    pub(in crate::builtin) weights: Vec<f64>,
    /// How many labels each node has, where these are its own; else empty.
    pub(in crate::builtin) counts: Vec<u32>,
}

impl PartialEq for Labelling {
    fn eq(&self, other: &Self) -> bool {
        self.labels == other.labels
    }
}

impl Labelling {
    /// Takes labels that judge nothing.
    pub fn new(labels: Vec<u32>) -> Self {
        Labelling { labels, judge: None }
    }

    /// What an error at a node costs; where nobody said, its share of the labelled nodes.
    pub(in crate::builtin) fn cost(&self, node: usize) -> f64 {
        match &self.judge {
            Some(judge) => judge.costs[node],
            None => 1.0 / self.labels.iter().filter(|label| **label != UNLABELLED).count().max(1) as f64,
        }
    }

    /// Whether a node has a label.
    pub(in crate::builtin) fn is_known(&self) -> bool {
        self.labels.iter().any(|label| *label != UNLABELLED)
    }

    /// Whether the same nodes have a label as in `other`.
    pub(in crate::builtin) fn is_of_part(&self, other: &Labelling) -> bool {
        let pairs = self.labels.iter().zip(&other.labels);
        pairs.into_iter().all(|(one, other)| (*one == UNLABELLED) == (*other == UNLABELLED))
    }

    /// Returns the labelled nodes at which `other` differs, where this is the truth.
    pub(in crate::builtin) fn errors<'a>(&'a self, other: &'a Labelling) -> impl Iterator<Item = usize> + 'a {
        let pairs = self.labels.iter().zip(&other.labels).enumerate();
        pairs.filter(|(_, (truth, label))| truth != label && **truth != UNLABELLED).map(|(node, _)| node)
    }
}
