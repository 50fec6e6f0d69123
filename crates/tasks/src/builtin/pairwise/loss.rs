//! Losses of labellings: sums over the labelled nodes. Which of them a task offers is for its parameters to say.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::labelling::UNLABELLED;
use crate::losses::UNSEEN;

/// The cost of a wrong label of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NodeLoss {
    /// 1 by the number of labelled nodes: the normalised Hamming loss.
    #[default]
    Hamming,
    /// 1.
    HammingSum,
    /// The node's weight by the sum of weights, such as the sizes of superpixels.
    NodeWeighted,
    /// 1 by the number of nodes with the same true label, and by the number of labels in the truth: the mean of the
    /// labels' shares of errors.
    Balanced,
}

impl NodeLoss {
    /// Returns what errors cost by node; `factors` multiply the costs by true label. Without weights all nodes count
    /// alike.
    pub(in crate::builtin) fn costs(self, truth: &[u32], weights: &[f64], factors: Option<&[f64]>) -> Vec<f64> {
        let labelled = || truth.iter().enumerate().filter(|(_, label)| **label != UNLABELLED);
        let count = labelled().count() as f64;
        let total: f64 = labelled().map(|(node, _)| weights.get(node).copied().unwrap_or(1.0)).sum();
        let mut counts: HashMap<u32, f64> = HashMap::new();
        if self == NodeLoss::Balanced {
            labelled().for_each(|(_, &label)| *counts.entry(label).or_default() += 1.0);
        }
        let cost = |node: usize, label: u32| match self {
            NodeLoss::Hamming => 1.0 / count,
            NodeLoss::HammingSum => 1.0,
            NodeLoss::NodeWeighted if total > 0.0 => weights.get(node).copied().unwrap_or(1.0) / total,
            NodeLoss::NodeWeighted => 0.0,
            NodeLoss::Balanced => 1.0 / (counts[&label] * counts.len() as f64),
        };
        let factor = |label: u32| match factors {
            Some(factors) if label != UNSEEN => factors[label as usize],
            _ => 1.0,
        };
        let of_node = |(node, &label): (usize, &u32)| match label {
            UNLABELLED => 0.0,
            label => factor(label) * cost(node, label),
        };
        truth.iter().enumerate().map(of_node).collect()
    }
}
