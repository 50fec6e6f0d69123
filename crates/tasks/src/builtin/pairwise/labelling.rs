//! A label for every node, and what errors at the nodes cost.

use std::sync::Arc;

use multiplane_core::task::TaskLabel;
pub use multiplane_core::task::UNLABELLED;

/// One label per node. Two are equal if their labels are.
#[derive(Clone, Debug, Default)]
pub struct Labelling {
    /// Number of the label by node; [`UNLABELLED`], or in a truth [`UNSEEN`](crate::losses::UNSEEN), where there is
    /// none.
    pub labels: Vec<u32>,
    /// The judge of other labellings, if this is a truth.
    pub(in crate::builtin) judge: Option<Arc<Judge>>,
}

/// The judge of labellings of one graph.
#[derive(Clone, Debug, Default)]
pub(in crate::builtin) struct Judge {
    /// The cost of an error, by node.
    pub(in crate::builtin) costs: Vec<f64>,
    /// The weight of a node in weighted accuracy; empty if nodes have no weights.
    pub(in crate::builtin) weights: Vec<f64>,
}

/// Costs of errors, by node.
#[derive(Clone, Copy, Debug)]
pub(in crate::builtin) enum NodeCosts<'a> {
    Each(&'a [f64]),
    /// Of every labelled node.
    Alike(f64),
}

impl NodeCosts<'_> {
    /// Returns the cost of an error at a node.
    pub(in crate::builtin) fn at(self, node: usize) -> f64 {
        match self {
            NodeCosts::Each(costs) => costs[node],
            NodeCosts::Alike(cost) => cost,
        }
    }
}

impl TaskLabel for Labelling {
    fn numbers(&self) -> Option<&[u32]> {
        Some(&self.labels)
    }

    fn from_numbers(labels: Vec<u32>) -> Option<Self> {
        Some(Labelling::new(labels))
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

    /// Returns if a node has a label.
    pub(in crate::builtin) fn is_labelled(&self, node: usize) -> bool {
        self.labels[node] != UNLABELLED
    }

    /// Returns the nodes that have a label.
    pub(in crate::builtin) fn labelled(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.labels.len()).filter(|&node| self.is_labelled(node))
    }

    /// Returns the costs of errors, if this is the truth: without a judge a node's share of the labelled ones, which
    /// are counted here: ask once, not for each node.
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

    /// Returns what the errors of `other` cost, where this is the truth.
    pub(in crate::builtin) fn loss(&self, other: &Labelling) -> f64 {
        let costs = self.costs();
        self.errors(other).map(|node| costs.at(node)).sum()
    }
}
