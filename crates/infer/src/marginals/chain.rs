//! Sum-product on chains: forward and backward passes.
//!
//! O(len * labels^2). Rabiner, "A tutorial on hidden Markov models" (1989), section V.A for the scaling.

use super::logarithms::Logarithms;
use super::scaled::Scaled;
use super::transitions::Transitions;
use crate::error::InferError;

/// The distribution `p(y) = e^score(y) / Z` of the labellings y of a chain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChainMarginals {
    /// `ln Z`, the sum of `e^score` over all labellings; 0 for an empty chain.
    pub log_partition: f64,
    /// `[len][labels]`: how probable each label is at each position.
    pub nodes: Vec<f64>,
    /// `[len - 1][labels][labels]`: how probable each pair (label, next label) is.
    pub edges: Vec<f64>,
}

/// Sum-product on chains with its working memory: allocates nothing once it is warm.
#[derive(Clone, Debug, Default)]
pub struct ForwardBackward {
    scaled: Scaled,
    logarithms: Logarithms,
}

impl ForwardBackward {
    /// Writes the marginals of the chain with `unary[len][labels]` and the pair scores `transitions`. Scores are those
    /// of [`viterbi`](crate::viterbi): larger is more probable, `-inf` forbids. Exact for scores of any size: where
    /// exponentials could underflow, it works in logarithms.
    ///
    /// ```
    /// use multiplane_infer::marginals::{ChainMarginals, ForwardBackward, Transitions};
    /// let mut transitions = Transitions::default();
    /// transitions.set_shared(2, &[2.0f64.ln(), 0.0, 0.0, 0.0])?; // label 0 is likely to follow itself
    /// let mut marginals = ChainMarginals::default();
    /// ForwardBackward::default().solve(&[0.0; 4], &transitions, &mut marginals)?;
    /// assert!((marginals.log_partition - 5.0f64.ln()).abs() < 1e-12);
    /// assert!((marginals.nodes[0] - 0.6).abs() < 1e-12 && (marginals.edges[0] - 0.4).abs() < 1e-12);
    /// # Ok::<(), multiplane_infer::InferError>(())
    /// ```
    ///
    /// # Errors
    /// Sizes that do not fit, a score that is NaN or `+inf`, and scores that forbid every labelling. What `out` holds
    /// then means nothing.
    pub fn solve(
        &mut self,
        unary: &[f64],
        transitions: &Transitions,
        out: &mut ChainMarginals,
    ) -> Result<(), InferError> {
        let labels = transitions.labels;
        let is_scaled = self.forward(unary, transitions, &mut out.log_partition)?;
        out.nodes.resize(unary.len(), 0.0);
        let len = unary.len() / labels.max(1);
        out.edges.resize(len.saturating_sub(1) * labels * labels, 0.0);
        if len > 0 && is_scaled {
            self.scaled.backward(transitions, &mut out.nodes, &mut out.edges);
        } else if len > 0 {
            self.logarithms.backward(unary, transitions, &mut out.nodes, &mut out.edges);
        }
        Ok(())
    }

    /// Returns the log-partition alone, for half the work or less.
    ///
    /// # Errors
    /// As of [`solve`](ForwardBackward::solve).
    pub fn log_partition(&mut self, unary: &[f64], transitions: &Transitions) -> Result<f64, InferError> {
        let mut log = 0.0;
        self.forward(unary, transitions, &mut log)?;
        Ok(log)
    }

    /// Returns whether exponentials were used.
    fn forward(&mut self, unary: &[f64], transitions: &Transitions, log: &mut f64) -> Result<bool, InferError> {
        *log = 0.0;
        if unary.is_empty() {
            return Ok(true);
        }
        let labels = transitions.labels;
        if labels == 0 || !unary.len().is_multiple_of(labels) {
            let found = unary.len();
            return Err(InferError::invalid(format!(
                "found {found} unary scores, expected a multiple of {labels} labels"
            )));
        }
        if !transitions.fits(unary.len() / labels) {
            let (len, tables) = (unary.len() / labels, transitions.largest.len());
            return Err(InferError::invalid(format!("found {tables} tables of pair scores for {len} positions")));
        }
        let is_scaled = self.scaled.take(unary, transitions);
        if !is_scaled {
            check(unary, labels)?;
        }
        *log = match is_scaled {
            true => self.scaled.forward(transitions),
            false => self.logarithms.forward(unary, transitions),
        };
        if *log == f64::NEG_INFINITY {
            return Err(InferError::invalid("found every labelling forbidden, expected a finite score"));
        }
        Ok(is_scaled)
    }
}

/// Refuses what is no score.
fn check(unary: &[f64], labels: usize) -> Result<(), InferError> {
    match unary.iter().position(|score| score.is_nan() || *score == f64::INFINITY) {
        None => Ok(()),
        Some(at) => Err(InferError::invalid(format!(
            "found {} as score of label {} at position {}, expected a finite number or -inf",
            unary[at],
            at % labels,
            at / labels
        ))),
    }
}
