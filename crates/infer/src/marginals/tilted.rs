//! Chains that follow other chains: `p(y) ~ q(y) e^score(y)`, where q is the chain with given marginals (partial
//! linearisation: Mohapatra et al. 2016).
//!
//! `q(y)` is the product of the marginals of all pairs over that of all positions that two pairs share: factors, of
//! which no logarithm is taken. O(len * labels^2).

use super::filter::Filter;
use crate::error::InferError;

/// Marginals count as at least this much in q: else what has none never gets any again.
pub const FLOOR: f64 = 1e-12;

/// Sum-product on chains that follow others, with its working memory.
#[derive(Clone, Debug, Default)]
pub struct TiltedChain {
    filter: Filter,
    ones: Vec<f64>,
}

/// Returns how many numbers the marginals of a chain are: `nodes[len][labels]`, then `edges[len - 1][labels][labels]`.
pub fn chain_size(len: usize, labels: usize) -> usize {
    len * labels + len.saturating_sub(1) * labels * labels
}

impl TiltedChain {
    /// Writes into `to` the marginals of `p(y) ~ q(y) e^score(y)` on the chain with `unary[len][labels]` and
    /// `pair[labels][labels]`, all finite, and returns `ln sum_y q(y) e^score(y)`. q is the chain whose marginals are
    /// `from`, each floored at [`FLOOR`]; 1 for all labellings where `from` is empty. Both are laid out as
    /// [`chain_size`] says.
    ///
    /// The results are consistent to the last digits, however large scores are: pairs sum to their positions.
    ///
    /// # Errors
    /// Sizes that do not fit, a score that is not finite, scores whose sum is not.
    ///
    /// ```
    /// use multiplane_infer::marginals::{TiltedChain, chain_size};
    /// let (mut chain, mut first, mut second) = (TiltedChain::default(), vec![0.0; chain_size(3, 2)], vec![0.0; 14]);
    /// let (unary, pair) = ([0.5, 0.0, 0.0, 0.2, 0.1, 0.0], [0.3, 0.0, 0.0, 0.3]);
    /// chain.solve(2, &unary, &pair, &[], &mut first)?;
    /// chain.solve(2, &[0.0; 6], &[0.0; 4], &first, &mut second)?; // nothing new: as it was
    /// assert!(first.iter().zip(&second).all(|(a, b)| (a - b).abs() < 1e-14));
    /// # Ok::<(), multiplane_infer::InferError>(())
    /// ```
    pub fn solve(
        &mut self,
        labels: usize,
        unary: &[f64],
        pair: &[f64],
        from: &[f64],
        to: &mut [f64],
    ) -> Result<f64, InferError> {
        if unary.is_empty() && to.is_empty() {
            return Ok(0.0);
        }
        let len = unary.len() / labels.max(1);
        let size = chain_size(len, labels);
        let squares = labels > 0 && unary.len() == len * labels && pair.len() == labels * labels;
        if !squares || to.len() != size || !(from.is_empty() || from.len() == size) {
            let (scores, pairs, from, to) = (unary.len(), pair.len(), from.len(), to.len());
            return Err(InferError::invalid(format!(
                "found {scores} unary and {pairs} pair scores, {from} and {to} marginals for {labels} labels"
            )));
        }
        let from = if from.is_empty() {
            self.ones.resize(self.ones.len().max(size), 1.0);
            &self.ones[..size]
        } else {
            from
        };
        let log = self.filter.forward(labels, unary, pair, from, FLOOR);
        if !log.is_finite() {
            return Err(refusal(labels, unary, pair));
        }
        self.filter.backward(labels, to);
        Ok(log)
    }
}

/// Says which score is none; where all are, their sums are too large.
fn refusal(labels: usize, unary: &[f64], pair: &[f64]) -> InferError {
    let odd = |scores: &[f64]| scores.iter().position(|score| !score.is_finite());
    let message = match (odd(unary), odd(pair)) {
        (Some(at), _) => {
            let (score, label, position) = (unary[at], at % labels, at / labels);
            format!("found {score} as score of label {label} at position {position}, expected a finite number")
        }
        (None, Some(at)) => {
            let (score, first, second) = (pair[at], at / labels, at % labels);
            format!("found {score} as pair score of labels {first} and {second}, expected a finite number")
        }
        (None, None) => "found scores whose sum is beyond the range of numbers, expected smaller ones".to_owned(),
    };
    InferError::invalid(message)
}
