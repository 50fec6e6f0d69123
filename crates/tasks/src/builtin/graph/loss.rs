//! Factors on the losses that labellings of graphs have.

use crate::losses::LossError;

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
    use crate::builtin::pairwise::{NodeLoss, UNLABELLED};
    use crate::losses::UNSEEN;

    /// Costs by hand; nodes without a label cost nothing and count for nothing, an unseen label counts as one of its own.
    #[test]
    fn costs_by_hand() {
        let truth = [0, 0, UNLABELLED, 1, UNSEEN];
        let weights = [1.0, 2.0, 100.0, 5.0, 2.0];
        let costs = |loss: NodeLoss, factors| loss.costs(&truth, &weights, factors);
        assert_eq!(costs(NodeLoss::Hamming, None), [0.25, 0.25, 0.0, 0.25, 0.25]);
        assert_eq!(costs(NodeLoss::HammingSum, Some(&[1.0, 3.0])), [1.0, 1.0, 0.0, 3.0, 1.0]);
        assert_eq!(costs(NodeLoss::NodeWeighted, None), [0.1, 0.2, 0.0, 0.5, 0.2]);
        assert_eq!(costs(NodeLoss::Balanced, None), [1.0 / 6.0, 1.0 / 6.0, 0.0, 1.0 / 3.0, 1.0 / 3.0]);
        assert_eq!(NodeLoss::NodeWeighted.costs(&[0, 1], &[0.0, 0.0], None), [0.0, 0.0]);
        assert!(NodeLoss::Hamming.costs(&[], &[], None).is_empty());
        assert!(check_factors(Some(&[1.0]), 2).is_err() && check_factors(Some(&[1.0, -1.0]), 2).is_err());
    }
}
