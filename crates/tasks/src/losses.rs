//! Task losses that are sums over variables of one table: 0-1, cost matrix, Hamming (normalised by length or not), each
//! with class weights.
//!
//! A table `[truth][prediction]` is what lets a decoder add such a loss to its scores variable by variable. A single
//! variable (binary, multiclass) is a sequence of length one. The waist knows only
//! [`Task::loss`](multiplane_core::task::Task::loss): a task whose loss is of another shape (overlap of sets or boxes,
//! weights of nodes) brings its own and leaves this file alone; one that only weighs variables differently takes
//! [`row`](CostTable::row) and a factor of its own.

use multiplane_core::task::UNLABELLED;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The loss of a labelling.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossSpec {
    /// 1 for each wrong variable, divided by the number of variables: the 0-1 loss of a single variable, the
    /// normalised Hamming loss of a sequence.
    #[default]
    Hamming,
    /// 1 for each wrong variable, not divided.
    HammingSum,
    /// `matrix[truth][prediction]` for each variable, divided by the number of variables; labels in sorted order,
    /// zero diagonal, no negative entry.
    CostMatrix {
        /// One row per true label.
        matrix: Vec<Vec<f64>>,
    },
}

/// Why the parameters of a loss do not fit the labels.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LossError {
    /// There are not as many class weights as labels.
    #[error("task.class_weights has {found} entries, expected one for each of {labels} labels")]
    WeightCount {
        /// Class weights.
        found: usize,
        /// Labels.
        labels: usize,
    },
    /// A class weight is negative or not finite.
    #[error("task.class_weights has {}: must be a finite number >= 0", multiplane_infer::file::number(*.0))]
    Weight(f64),
    /// A label that has a class weight is not there.
    #[error("task.class_weights: {name} is no label of the data: these are {labels}")]
    UnknownLabel {
        /// The label, as messages show it.
        name: String,
        /// The first of those that are there.
        labels: String,
    },
    /// Class weights are not listed, and the labels cannot be counted here.
    #[error(
        "task.class_weights: factors by name and `balanced` need the training data as a whole, expected a list here, in \
         sorted order of the labels"
    )]
    NotListed,
    /// The cost matrix has not a row and a column for each label.
    #[error("task.loss.matrix must be {labels} x {labels}, one row and column per label")]
    MatrixShape {
        /// Labels.
        labels: usize,
    },
    /// The costs take more than 2^27 numbers, 1 GiB.
    #[error(
        "{labels} labels with so many different class weights need {:.1} GiB of costs, expected at most {} GiB: the 0-1 loss \
         with equal weights needs none",
        *.numbers as f64 / (1u64 << 27) as f64,
        MAX_COSTS / (1 << 27)
    )]
    TooMany {
        /// Labels.
        labels: usize,
        /// Numbers that would be kept.
        numbers: usize,
    },
    /// A cost is negative or not finite, or that of a right answer is not 0.
    #[error("task.loss.matrix[{truth}][{prediction}] = {cost}: must be finite and >= 0, and 0 on the diagonal")]
    Cost {
        /// Row of the cost.
        truth: usize,
        /// Column of the cost.
        prediction: usize,
        /// The cost.
        cost: f64,
    },
}

/// Cost of an answer for a truth that training never saw: as wrong as can be under the 0-1 loss.
const UNSEEN_COST: f64 = 1.0;

/// A label number that stands for "not among the labels of training", as every number does that is too large.
pub const UNSEEN: u32 = u32::MAX;

/// Most numbers that a table keeps: 2^27, 1 GiB.
const MAX_COSTS: usize = 1 << 27;

/// A loss made ready for `labels` labels.
#[derive(Clone, Debug, PartialEq)]
pub struct CostTable {
    labels: usize,
    /// The numbers that rows are cut from. Those of a 0-1 loss of one weight are windows of `2 labels - 1` numbers, all
    /// that weight but for a 0 in the middle; others stand one after the other.
    costs: Vec<f64>,
    /// The beginning of the row of each truth.
    starts: Vec<usize>,
    /// True if all wrong answers for a truth cost the same.
    is_zero_one: bool,
    normalized: bool,
}

impl CostTable {
    /// Builds the table of `spec`; each true label's row is multiplied by its class weight.
    ///
    /// # Errors
    ///
    /// The cost matrix or the class weights are not of so many labels, or have an entry that no cost may have.
    pub fn new(spec: &LossSpec, class_weights: Option<&[f64]>, labels: usize) -> Result<Self, LossError> {
        let weight = |truth: usize| class_weights.map_or(1.0, |weights| weights[truth]);
        if let LossSpec::CostMatrix { matrix } = spec {
            check_matrix(matrix, labels)?;
        }
        if let Some(weights) = class_weights {
            if weights.len() != labels {
                return Err(LossError::WeightCount { found: weights.len(), labels });
            }
            if let Some(&weight) = weights.iter().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
                return Err(LossError::Weight(weight));
            }
        }
        let mut different: Vec<f64> = (0..labels).map(weight).collect();
        different.sort_unstable_by(f64::total_cmp);
        different.dedup_by(|a, b| a.to_bits() == b.to_bits());
        let (all, window) = (labels.saturating_mul(labels), (2 * labels).saturating_sub(1));
        let windows = different.len().saturating_mul(window);
        let numbers = if matches!(spec, LossSpec::CostMatrix { .. }) { all } else { all.min(windows) };
        if numbers > MAX_COSTS {
            return Err(LossError::TooMany { labels, numbers });
        }
        let mut costs = Vec::with_capacity(numbers);
        let mut starts = Vec::with_capacity(labels);
        match spec {
            LossSpec::CostMatrix { matrix } => {
                for (truth, row) in matrix.iter().enumerate() {
                    starts.push(costs.len());
                    costs.extend(row.iter().map(|cost| cost * weight(truth)));
                }
            }
            _ if windows <= all => {
                for &weight in &different {
                    costs.extend((1..2 * labels).map(|k| if k == labels { 0.0 } else { weight }));
                }
                let of = |weight: f64| different.partition_point(|other| other.total_cmp(&weight).is_lt());
                starts.extend((0..labels).map(|truth| of(weight(truth)) * window + labels - 1 - truth));
            }
            _ => {
                for truth in 0..labels {
                    starts.push(costs.len());
                    costs.extend((0..labels).map(|k| if k == truth { 0.0 } else { weight(truth) }));
                }
            }
        }
        let is_zero_one = !matches!(spec, LossSpec::CostMatrix { .. });
        Ok(CostTable { labels, costs, starts, is_zero_one, normalized: *spec != LossSpec::HammingSum })
    }

    /// Returns the number of labels.
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// Returns the costs of every prediction of one variable with this truth; before [`factor`](CostTable::factor).
    pub fn row(&self, truth: u32) -> &[f64] {
        &self.costs[self.starts[truth as usize]..][..self.labels]
    }

    /// Returns the largest cost of one variable by its true label; before [`factor`](CostTable::factor).
    pub fn largest(&self) -> Vec<f64> {
        (0..self.labels).map(|truth| self.most(truth)).collect()
    }

    /// The largest cost of this row.
    fn most(&self, truth: usize) -> f64 {
        let row = self.row(truth as u32);
        let wrong = &row[usize::from(truth == 0).min(row.len())..];
        let looked_at = if self.is_zero_one { &wrong[..wrong.len().min(1)] } else { row };
        looked_at.iter().copied().fold(0.0, f64::max)
    }

    /// Returns what the sum over `len` variables is multiplied by.
    pub fn factor(&self, len: usize) -> f64 {
        if self.normalized && len > 0 { 1.0 / len as f64 } else { 1.0 }
    }

    /// Returns the factor of a sum over the variables that have a label in `truth`.
    pub fn factor_of(&self, truth: &[u32]) -> f64 {
        self.factor(truth.iter().filter(|label| **label != UNLABELLED).count())
    }

    /// Returns the largest loss of any prediction where `truth` is true. The truth may hold labels that are not in the
    /// table, and [`UNLABELLED`], which costs nothing.
    pub fn largest_loss(&self, truth: &[u32]) -> f64 {
        let most = |&t: &u32| if self.has(t) { self.most(t as usize) } else { Self::cost_outside(t) };
        truth.iter().map(most).sum::<f64>() * self.factor_of(truth)
    }

    /// Returns the cost of any answer for a truth that is not in the table.
    fn cost_outside(truth: u32) -> f64 {
        if truth == UNLABELLED { 0.0 } else { UNSEEN_COST }
    }

    /// Returns true for a label of the table.
    fn has(&self, label: u32) -> bool {
        (label as usize) < self.labels
    }

    /// Returns the loss of predicting `labels` where `truth` is true, which may be as in
    /// [`largest_loss`](CostTable::largest_loss).
    pub fn loss(&self, truth: &[u32], labels: &[u32]) -> f64 {
        let cost = |(&t, &y): (&u32, &u32)| if self.has(t) { self.row(t)[y as usize] } else { Self::cost_outside(t) };
        truth.iter().zip(labels).map(cost).sum::<f64>() * self.factor_of(truth)
    }
}

/// Costs of errors, by node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NodeCosts<'a> {
    Each(&'a [f64]),
    /// Of every labelled node.
    Alike(f64),
}

impl NodeCosts<'_> {
    /// Returns the cost of an error at a node.
    pub(crate) fn at(self, node: usize) -> f64 {
        match self {
            NodeCosts::Each(costs) => costs[node],
            NodeCosts::Alike(cost) => cost,
        }
    }
}

fn check_matrix(matrix: &[Vec<f64>], labels: usize) -> Result<(), LossError> {
    if matrix.len() != labels || matrix.iter().any(|row| row.len() != labels) {
        return Err(LossError::MatrixShape { labels });
    }
    for (truth, row) in matrix.iter().enumerate() {
        for (prediction, &cost) in row.iter().enumerate() {
            if !(cost.is_finite() && cost >= 0.0) || (truth == prediction && cost != 0.0) {
                return Err(LossError::Cost { truth, prediction, cost });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hamming counts wrong variables, class weights follow the truth, unseen truths cost 1.
    #[test]
    fn losses_by_hand() {
        let hamming = CostTable::new(&LossSpec::Hamming, None, 3).unwrap();
        assert_eq!(hamming.loss(&[0, 1, 2, 2], &[0, 2, 2, 1]), 0.5);
        assert_eq!(hamming.loss(&[], &[]), 0.0);
        assert_eq!(hamming.loss(&[UNSEEN], &[0]), 1.0);
        assert_eq!(hamming.largest_loss(&[UNSEEN, 1]), 1.0);
        assert_eq!(hamming.loss(&[UNLABELLED, 1, UNLABELLED, 2], &[0, 2, 1, 2]), 0.5);
        assert_eq!(hamming.largest_loss(&[UNLABELLED, 1]), 1.0);
        let sum = CostTable::new(&LossSpec::HammingSum, Some(&[1.0, 2.0, 0.5]), 3).unwrap();
        assert_eq!(sum.loss(&[0, 1, 2, 2], &[1, 0, 2, 1]), 3.5);
        let matrix = vec![vec![0.0, 3.0], vec![1.0, 0.0]];
        let cost = CostTable::new(&LossSpec::CostMatrix { matrix }, None, 2).unwrap();
        assert_eq!(cost.loss(&[0], &[1]), 3.0);
    }

    /// However the rows are kept, they are those of the full table: of one weight, of few and of as many as labels.
    #[test]
    fn rows_are_those_of_the_full_table() {
        for labels in [0, 1, 2, 3, 7] {
            let all: Vec<f64> = (0..labels).map(|k| k as f64 / 4.0).collect();
            let few: Vec<f64> = (0..labels).map(|k| if k % 3 == 1 { 0.0 } else { 0.1 }).collect();
            for weights in [None, Some(few), Some(all)] {
                let weight = |truth: usize| weights.as_ref().map_or(1.0, |weights| weights[truth]);
                let full = |truth: usize| -> Vec<f64> {
                    (0..labels).map(|k| if k == truth { 0.0 } else { weight(truth) }).collect()
                };
                let table = CostTable::new(&LossSpec::Hamming, weights.as_deref(), labels).unwrap();
                let most = |truth: usize| full(truth).into_iter().fold(0.0, f64::max);
                assert_eq!(table.largest(), (0..labels).map(most).collect::<Vec<_>>(), "{labels} {weights:?}");
                for truth in 0..labels {
                    assert_eq!(table.row(truth as u32), full(truth), "{labels} {weights:?}");
                }
            }
        }
    }

    /// The 0-1 loss takes memory as there are labels; what would take their square is refused before it is made.
    #[test]
    fn many_labels_need_no_full_table() {
        let labels = 1 << 20;
        let table = CostTable::new(&LossSpec::Hamming, Some(&vec![2.0; labels]), labels).unwrap();
        assert!(table.costs.len() < 2 * labels);
        assert_eq!(table.loss(&[5, 6], &[5, 7]), 1.0);
        let weights: Vec<f64> = (0..labels).map(|k| k as f64).collect();
        let error = CostTable::new(&LossSpec::Hamming, Some(&weights), labels).unwrap_err().to_string();
        assert!(error.contains("1048576 labels") && error.contains("at most 1 GiB"), "{error}");
    }

    /// Tables that are no losses are refused with the entry and the rule.
    #[test]
    fn bad_tables_are_refused() {
        let refuse = |matrix, weights: Option<&[f64]>| {
            CostTable::new(&LossSpec::CostMatrix { matrix }, weights, 2).unwrap_err().to_string()
        };
        assert!(refuse(vec![vec![0.0]], None).contains("2 x 2"));
        assert!(refuse(vec![vec![0.0, -1.0], vec![1.0, 0.0]], None).contains("[0][1] = -1"));
        assert!(refuse(vec![vec![0.5, 1.0], vec![1.0, 0.0]], None).contains("diagonal"));
        let good = vec![vec![0.0, 1.0], vec![1.0, 0.0]];
        assert!(refuse(good.clone(), Some(&[1.0])).contains("1 entries"));
        assert!(refuse(good, Some(&[1.0, f64::NAN])).contains("NaN"));
    }
}
