//! A label for every node, and what errors at the nodes cost.

use std::sync::Arc;

pub use multiplane_core::task::UNLABELLED;

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
}

/// What errors cost, by node.
#[derive(Clone, Copy, Debug)]
pub(in crate::builtin) enum NodeCosts<'a> {
    Each(&'a [f64]),
    /// Of every labelled node.
    Alike(f64),
}

impl NodeCosts<'_> {
    /// What an error at a node costs.
    pub(in crate::builtin) fn at(self, node: usize) -> f64 {
        match self {
            NodeCosts::Each(costs) => costs[node],
            NodeCosts::Alike(cost) => cost,
        }
    }
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

    /// Whether a node has a label.
    pub(in crate::builtin) fn is_labelled(&self, node: usize) -> bool {
        self.labels[node] != UNLABELLED
    }

    /// Returns the nodes that have a label.
    pub(in crate::builtin) fn labelled(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.labels.len()).filter(|&node| self.is_labelled(node))
    }

    /// What errors cost, where this is the truth; where nobody said, a node's share of the labelled ones, which are counted
    /// here: ask once, not for each node.
    pub(in crate::builtin) fn costs(&self) -> NodeCosts<'_> {
        match &self.judge {
            Some(judge) => NodeCosts::Each(&judge.costs),
            None => NodeCosts::Alike(1.0 / self.labelled().count().max(1) as f64),
        }
    }

    /// Returns the labelled nodes at which `other` differs, where this is the truth.
    pub(in crate::builtin) fn errors<'a>(&'a self, other: &'a Labelling) -> impl Iterator<Item = usize> + 'a {
        let pairs = self.labels.iter().zip(&other.labels).enumerate();
        pairs.filter(|(_, (truth, label))| truth != label && **truth != UNLABELLED).map(|(node, _)| node)
    }

    /// Returns how many labelled nodes `other` has wrong, and how many there are, where this is the truth.
    pub(in crate::builtin) fn count_errors(&self, other: &Labelling) -> (usize, usize) {
        (self.errors(other).count(), self.labelled().count())
    }

    /// Returns what the errors of `other` cost, where this is the truth.
    pub(in crate::builtin) fn loss(&self, other: &Labelling) -> f64 {
        let costs = self.costs();
        self.errors(other).map(|node| costs.at(node)).sum()
    }
}
