//! The losses that labellings of graphs may have.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::builtin::pairwise::NodeLoss;
use crate::losses::LossError;

/// What a wrong label of a node costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GraphLoss {
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

impl GraphLoss {
    /// Returns what errors cost by node; see [`NodeLoss::costs`].
    pub(super) fn costs(self, truth: &[u32], weights: &[f64], factors: Option<&[f64]>) -> Vec<f64> {
        NodeLoss::from(self).costs(truth, weights, factors)
    }
}

impl From<GraphLoss> for NodeLoss {
    fn from(loss: GraphLoss) -> Self {
        match loss {
            GraphLoss::Hamming => NodeLoss::Hamming,
            GraphLoss::HammingSum => NodeLoss::HammingSum,
            GraphLoss::NodeWeighted => NodeLoss::NodeWeighted,
            GraphLoss::Balanced => NodeLoss::Balanced,
        }
    }
}

/// Refuses factors that are not one finite number >= 0 for each label.
pub(super) fn check_factors(factors: Option<&[f64]>, labels: usize) -> Result<(), LossError> {
    let Some(factors) = factors else { return Ok(()) };
    if factors.len() != labels {
        return Err(LossError::WeightCount { found: factors.len(), labels });
    }
    match factors.iter().find(|factor| !(factor.is_finite() && **factor >= 0.0)) {
        Some(&factor) => Err(LossError::Weight(factor)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::pairwise::UNLABELLED;
    use crate::losses::UNSEEN;

    /// Costs by hand; nodes without a label cost nothing and count for nothing, an unseen label counts as one of its own.
    #[test]
    fn costs_by_hand() {
        let truth = [0, 0, UNLABELLED, 1, UNSEEN];
        let weights = [1.0, 2.0, 100.0, 5.0, 2.0];
        let costs = |loss: GraphLoss, factors| loss.costs(&truth, &weights, factors);
        assert_eq!(costs(GraphLoss::Hamming, None), [0.25, 0.25, 0.0, 0.25, 0.25]);
        assert_eq!(costs(GraphLoss::HammingSum, Some(&[1.0, 3.0])), [1.0, 1.0, 0.0, 3.0, 1.0]);
        assert_eq!(costs(GraphLoss::NodeWeighted, None), [0.1, 0.2, 0.0, 0.5, 0.2]);
        assert_eq!(costs(GraphLoss::Balanced, None), [1.0 / 6.0, 1.0 / 6.0, 0.0, 1.0 / 3.0, 1.0 / 3.0]);
        assert_eq!(GraphLoss::NodeWeighted.costs(&[0, 1], &[0.0, 0.0], None), [0.0, 0.0]);
        assert!(GraphLoss::Hamming.costs(&[], &[], None).is_empty());
        assert!(check_factors(Some(&[1.0]), 2).is_err() && check_factors(Some(&[1.0, -1.0]), 2).is_err());
    }
}
