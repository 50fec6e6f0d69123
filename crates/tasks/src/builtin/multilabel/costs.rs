//! Costs of wrong sets: a sum over labels of the loss's table, with factors by label.

use multiplane_infer::file::number;

use crate::losses::{CostTable, LossSpec};
use crate::problem::OpenError;

/// A loss on sets, made ready. A truth is 0 or 1 for every label, and [`UNSEEN`](crate::losses::UNSEEN) for each further
/// one that training never saw; these cost 1 each and count as labels.
#[derive(Clone, Debug, PartialEq)]
pub struct SetCosts {
    /// Absent and present.
    table: CostTable,
    weights: Vec<f64>,
}

impl SetCosts {
    /// Builds the costs of `labels` labels, each multiplied by its weight.
    ///
    /// # Errors
    ///
    /// The cost matrix is not 2 x 2, or there are not as many weights as labels, or one is no finite number >= 0.
    pub fn new(spec: &LossSpec, weights: Option<&[f64]>, labels: usize) -> Result<Self, OpenError> {
        let table = CostTable::new(spec, None, 2)?;
        let weights = weights.map_or(vec![1.0; labels], <[f64]>::to_vec);
        if weights.len() != labels {
            let found = weights.len();
            return Err(OpenError::new(format!(
                "task.label_weights has {found} entries, expected one for each of {labels} labels"
            )));
        }
        match weights.iter().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
            Some(weight) => {
                Err(OpenError::new(format!("task.label_weights has {}: must be a finite number >= 0", number(*weight))))
            }
            None => Ok(SetCosts { table, weights }),
        }
    }

    /// Returns what leaving label `k` out and taking it in cost, where `truth` says whether it belongs; before
    /// [`factor`](SetCosts::factor).
    pub(super) fn row(&self, k: usize, truth: u32) -> [f64; 2] {
        let row = self.table.row(truth);
        [self.weights[k] * row[0], self.weights[k] * row[1]]
    }

    /// Returns what the sum is multiplied by.
    pub(super) fn factor(&self, labels: usize) -> f64 {
        self.table.factor(labels)
    }

    /// Returns the loss of answering `y`.
    pub(super) fn loss(&self, truth: &[u32], y: &[u32]) -> f64 {
        self.sum(truth, |k, t| self.row(k, t)[y[k] as usize])
    }

    /// Returns the largest loss of any answer.
    pub(super) fn largest_loss(&self, truth: &[u32]) -> f64 {
        self.sum(truth, |k, t| self.row(k, t).into_iter().fold(0.0, f64::max))
    }

    /// Adds up the costs of the labels, and 1 for each label that training never saw.
    fn sum(&self, truth: &[u32], cost: impl Fn(usize, u32) -> f64) -> f64 {
        let (known, unseen) = truth.split_at(self.weights.len());
        let known: f64 = known.iter().enumerate().map(|(k, &t)| cost(k, t)).sum();
        (known + unseen.len() as f64) * self.factor(truth.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::losses::UNSEEN;

    /// Misses and false alarms, weights, both normalisations, and labels that training never saw.
    #[test]
    fn losses_by_hand() {
        let hamming = SetCosts::new(&LossSpec::Hamming, None, 4).unwrap();
        assert_eq!(hamming.loss(&[0, 1, 1, 0], &[1, 1, 0, 0]), 0.5);
        assert_eq!(hamming.loss(&[0, 1, 1, 0, UNSEEN], &[1, 1, 1, 0]), 0.4);
        assert_eq!(hamming.largest_loss(&[0, 1, 1, 0]), 1.0);
        assert_eq!(hamming.largest_loss(&[0, 1, 1, 0, UNSEEN]), 1.0);
        let matrix = vec![vec![0.0, 1.0], vec![5.0, 0.0]];
        let missed = SetCosts::new(&LossSpec::CostMatrix { matrix }, Some(&[1.0, 2.0]), 2).unwrap();
        assert_eq!(missed.loss(&[1, 0], &[0, 1]), 3.5);
        assert_eq!(missed.largest_loss(&[1, 1]), 7.5);
        let count = SetCosts::new(&LossSpec::HammingSum, None, 2).unwrap();
        assert_eq!(count.loss(&[1, 0], &[0, 1]), 2.0);
    }

    /// Weights and tables that are none are refused with the rule.
    #[test]
    fn bad_costs_are_refused() {
        let refuse = |spec: &LossSpec, weights: &[f64]| SetCosts::new(spec, Some(weights), 2).unwrap_err().to_string();
        assert!(refuse(&LossSpec::Hamming, &[1.0]).contains("1 entries, expected one for each of 2 labels"));
        assert!(refuse(&LossSpec::Hamming, &[1.0, -1.0]).contains("-1: must be a finite number >= 0"));
        let matrix = vec![vec![0.0; 3]; 3];
        assert!(refuse(&LossSpec::CostMatrix { matrix }, &[1.0, 1.0]).contains("2 x 2"));
    }
}
