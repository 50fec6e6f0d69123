//! The losses that labellings of pairwise models may have.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::builtin::pairwise::NodeLoss;

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
    /// Returns what errors cost by node; see [`NodeLoss::costs`].
    pub(super) fn costs(self, truth: &[u32], weights: &[f64]) -> Vec<f64> {
        NodeLoss::from(self).costs(truth, weights, None)
    }
}

impl From<MrfLoss> for NodeLoss {
    fn from(loss: MrfLoss) -> Self {
        match loss {
            MrfLoss::Hamming => NodeLoss::Hamming,
            MrfLoss::HammingSum => NodeLoss::HammingSum,
            MrfLoss::NodeWeighted => NodeLoss::NodeWeighted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::pairwise::UNLABELLED;

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
