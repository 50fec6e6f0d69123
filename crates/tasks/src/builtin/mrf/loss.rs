//! Losses of labellings of pairwise models: sums over the nodes whose truth is known.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::builtin::graph::UNLABELLED;

/// What a wrong label of a node costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MrfLoss {
    /// 1 by the number of labelled nodes: the normalised Hamming loss.
    #[default]
    Hamming,
    /// 1.
    HammingSum,
    /// The node's weight by the sum of the weights of labelled nodes.
    NodeWeighted,
}

impl MrfLoss {
    /// Returns what errors cost by node.
    pub(super) fn costs(self, truth: &[u32], weights: &[f64]) -> Vec<f64> {
        let labelled = |node: &usize| truth[*node] != UNLABELLED;
        let count = (0..truth.len()).filter(labelled).count() as f64;
        let total: f64 = (0..weights.len()).filter(labelled).map(|node| weights[node]).sum();
        let cost = |node: usize| match self {
            _ if truth[node] == UNLABELLED => 0.0,
            MrfLoss::Hamming => 1.0 / count,
            MrfLoss::HammingSum => 1.0,
            MrfLoss::NodeWeighted if total > 0.0 => weights[node] / total,
            MrfLoss::NodeWeighted => 0.0,
        };
        (0..truth.len()).map(cost).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Costs by hand; nodes without a label cost nothing and count for nothing.
    #[test]
    fn costs_by_hand() {
        let (truth, weights) = ([0, 3, UNLABELLED, 1], [1.0, 2.0, 100.0, 5.0]);
        assert_eq!(MrfLoss::Hamming.costs(&truth, &[]), [1.0 / 3.0, 1.0 / 3.0, 0.0, 1.0 / 3.0]);
        assert_eq!(MrfLoss::HammingSum.costs(&truth, &[]), [1.0, 1.0, 0.0, 1.0]);
        assert_eq!(MrfLoss::NodeWeighted.costs(&truth, &weights), [0.125, 0.25, 0.0, 0.625]);
        assert_eq!(MrfLoss::NodeWeighted.costs(&[0, 1], &[0.0, 0.0]), [0.0, 0.0]);
    }
}
