//! The pair scores of chains, prepared once for all chains that share them: what takes time is their exponentials.

use crate::error::InferError;
use crate::logs::{REGISTER, exp};
use multiversion::multiversion;

/// One table of pair scores for every two neighbours, or one for each; with exponentials, in both directions.
#[derive(Clone, Debug, Default)]
pub struct Transitions {
    pub(super) labels: usize,
    /// Labels, rounded up to whole registers; all tables here have rows of this length.
    pub(super) padded: usize,
    /// True if there is one table for all.
    shared: bool,
    /// `[tables][from][to]`: scores less the table's largest; `-inf` beyond the labels.
    forward: Vec<f64>,
    /// `[tables][to][from]`, the same.
    backward: Vec<f64>,
    forward_exps: Vec<f64>,
    backward_exps: Vec<f64>,
    /// The largest score of each table.
    pub(super) largest: Vec<f64>,
    /// The largest difference of two finite scores of a table.
    pub(super) range: f64,
    /// True if some score is `-inf`.
    pub(super) forbids: bool,
}

impl Transitions {
    /// Takes one table for all neighbours: `pair[from][to]`, row-major, `labels * labels` scores. `-inf` forbids.
    ///
    /// # Errors
    /// No label, another number of scores, a score that is NaN or `+inf`, a table that allows nothing.
    pub fn set_shared(&mut self, labels: usize, pair: &[f64]) -> Result<(), InferError> {
        if labels == 0 || pair.len() != labels * labels {
            let found = pair.len();
            return Err(InferError::invalid(format!(
                "found {found} pair scores for {labels} labels, expected their square"
            )));
        }
        self.shared = true;
        self.set(labels, pair)
    }

    /// Takes one table for each two neighbours: `pairs[position][from][to]` for the transition from each position to
    /// the next, `(len - 1) * labels * labels` scores. `-inf` forbids.
    ///
    /// # Errors
    /// As of [`set_shared`](Transitions::set_shared).
    pub fn set_each(&mut self, labels: usize, pairs: &[f64]) -> Result<(), InferError> {
        if labels == 0 || !pairs.len().is_multiple_of(labels * labels) {
            let found = pairs.len();
            return Err(InferError::invalid(format!(
                "found {found} pair scores for {labels} labels, expected a multiple of their square"
            )));
        }
        self.shared = false;
        self.set(labels, pairs)
    }

    fn set(&mut self, labels: usize, pairs: &[f64]) -> Result<(), InferError> {
        if let Some(at) = pairs.iter().position(|score| score.is_nan() || *score == f64::INFINITY) {
            let (table, entry) = (at / (labels * labels), at % (labels * labels));
            return Err(InferError::invalid(format!(
                "found {} as pair score of labels {} and {} in table {table}, expected a finite number or -inf",
                pairs[at],
                entry / labels,
                entry % labels
            )));
        }
        let padded = labels.next_multiple_of(REGISTER);
        let tables = pairs.len() / (labels * labels);
        (self.labels, self.padded) = (labels, padded);
        (self.range, self.forbids) = (0.0, false);
        self.largest.clear();
        for side in [&mut self.forward, &mut self.backward] {
            side.clear();
            side.resize(tables * labels * padded, f64::NEG_INFINITY);
        }
        for (index, table) in pairs.chunks_exact(labels * labels).enumerate() {
            let most = table.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if most == f64::NEG_INFINITY {
                return Err(InferError::invalid(format!(
                    "found every pair forbidden in table {index}, expected a finite score"
                )));
            }
            let finite = table.iter().copied().filter(|score| score.is_finite());
            self.range = self.range.max(most - finite.fold(most, f64::min));
            self.forbids |= table.contains(&f64::NEG_INFINITY);
            self.largest.push(most);
            let start = index * labels * padded;
            for (from, row) in table.chunks_exact(labels).enumerate() {
                for (to, score) in row.iter().enumerate() {
                    self.forward[start + from * padded + to] = score - most;
                    self.backward[start + to * padded + from] = score - most;
                }
            }
        }
        exps(&self.forward, &mut self.forward_exps);
        exps(&self.backward, &mut self.backward_exps);
        Ok(())
    }

    /// Returns the number of labels; 0 before anything is set.
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// Returns whether there are tables for a chain of `len` positions.
    pub(super) fn fits(&self, len: usize) -> bool {
        self.shared || self.largest.len() + 1 == len || len <= 1
    }

    fn index(&self, t: usize) -> usize {
        if self.shared { 0 } else { t }
    }

    /// Returns the largest score of the table from position t to the next.
    pub(super) fn largest(&self, t: usize) -> f64 {
        self.largest[self.index(t)]
    }

    fn table<'a>(&self, all: &'a [f64], t: usize) -> &'a [f64] {
        let size = self.labels * self.padded;
        &all[self.index(t) * size..][..size]
    }

    /// Returns the exponentials of the table from position t to the next, `[from][to]`.
    pub(super) fn exps(&self, t: usize) -> &[f64] {
        self.table(&self.forward_exps, t)
    }

    /// Returns the same, `[to][from]`.
    pub(super) fn exps_back(&self, t: usize) -> &[f64] {
        self.table(&self.backward_exps, t)
    }

    /// Returns the scores, less the largest, of the table from position t to the next, `[from][to]`.
    pub(super) fn scores(&self, t: usize) -> &[f64] {
        self.table(&self.forward, t)
    }

    /// Returns the same, `[to][from]`.
    pub(super) fn scores_back(&self, t: usize) -> &[f64] {
        self.table(&self.backward, t)
    }
}

fn exps(scores: &[f64], out: &mut Vec<f64>) {
    out.clear();
    out.extend_from_slice(scores);
    exponentiate(out);
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn exponentiate(values: &mut [f64]) {
    values.iter_mut().for_each(|value| *value = exp(*value));
}
