//! A label for every node, and what errors at the nodes cost.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use multiplane_core::task::TaskLabel;
pub use multiplane_core::task::UNLABELLED;

use crate::losses::{CostTable, NodeCosts};

/// One label per node, which it can be used as. Two are equal if their labels are.
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

impl Deref for Labelling {
    type Target = Vec<u32>;

    fn deref(&self) -> &Vec<u32> {
        &self.labels
    }
}

impl DerefMut for Labelling {
    fn deref_mut(&mut self) -> &mut Vec<u32> {
        &mut self.labels
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

    /// Returns the factors of a table's costs by node, if this is the truth; without a judge labelled nodes share one.
    pub(in crate::builtin) fn factors(&self, costs: &CostTable) -> NodeCosts<'_> {
        match &self.judge {
            Some(judge) => NodeCosts::Each(&judge.costs),
            None => NodeCosts::Alike(costs.factor_of(&self.labels)),
        }
    }

    /// Returns the loss of `y` by a table of costs, if this is the truth.
    pub(in crate::builtin) fn table_loss(&self, costs: &CostTable, y: &[u32]) -> f64 {
        let Some(judge) = &self.judge else { return costs.loss(&self.labels, y) };
        let cost = |((&truth, &y), &factor): ((&u32, &u32), &f64)| factor * costs.row(truth)[y as usize];
        self.labels.iter().zip(y).zip(&judge.costs).map(cost).sum()
    }

    /// Returns the largest loss of any labelling by a table of costs, if this is the truth.
    pub(in crate::builtin) fn largest_loss(&self, costs: &CostTable) -> f64 {
        let Some(judge) = &self.judge else { return costs.largest_loss(&self.labels) };
        let largest = costs.largest();
        self.labels.iter().zip(&judge.costs).map(|(&truth, factor)| factor * largest[truth as usize]).sum()
    }

    /// Returns the truth with a label for every node, in which errors cost what they cost in this one: at nodes without
    /// a label here nothing. `cost` is that of labelled nodes, or a table's factor, if there is no judge.
    pub(in crate::builtin) fn completed(&self, labels: Vec<u32>, cost: f64) -> Labelling {
        let judge = self.judge.clone().unwrap_or_else(|| {
            let costs = (0..self.labels.len()).map(|node| if self.is_labelled(node) { cost } else { 0.0 });
            Arc::new(Judge { costs: costs.collect(), weights: Vec::new() })
        });
        Labelling { labels, judge: Some(judge) }
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
