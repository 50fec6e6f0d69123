//! The distribution of arborescences: the matrix-tree theorem, with one or any number of the root's children.
//!
//! O(n^3); see [`reduction`](super::reduction) for how. Koo, Globerson, Carreras and Collins, "Structured prediction
//! models via the matrix-tree theorem" (EMNLP 2007); Smith and Smith (EMNLP 2007); McDonald and Satta (IWPT 2007).

use super::numbers::{Logs, Numbers, Plain};
use super::reduction::Reduction;
use super::scores::{HeadScores, no_tree};
use crate::error::InferError;

/// Differences of scores up to which weights, and twofold products of them, are far from the ends of the doubles.
const RANGE: f64 = 300.0;

/// The distribution `p(tree) = e^score(tree) / Z`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EdgeMarginals {
    /// `ln Z`, the sum of `e^score` over all trees; 0 without words.
    pub log_partition: f64,
    /// `[words + 1][words + 1]`, laid out as the scores: how probable each edge is. Columns of words sum to 1; the
    /// diagonal and the column of the root are 0.
    pub edges: Vec<f64>,
}

/// The matrix-tree theorem with its working memory: allocates nothing once it is warm.
#[derive(Clone, Debug, Default)]
pub struct MatrixTree {
    reduction: Reduction,
    /// Scores less the largest of each word, `[word][head]`; and the weights they stand for.
    scores: Vec<f64>,
    weights: Vec<f64>,
    largest: Vec<f64>,
    /// For trials of each possible child of the root: weights with that child alone, marginals, all of them summed.
    alone: Vec<f64>,
    part: Vec<f64>,
    total: Vec<f64>,
}

impl MatrixTree {
    /// Writes the log-partition and the probability of every edge. Exact for scores of any size: where
    /// weights could underflow, it works with their logarithms.
    ///
    /// ```
    /// use multiplane_infer::arborescence::{EdgeMarginals, HeadScores, MatrixTree};
    /// let scores = [0.0; 9]; // a root and two words: three trees, two of them with one child of the root
    /// let mut out = EdgeMarginals::default();
    /// MatrixTree::default().solve(HeadScores { words: 2, scores: &scores, single_root: false }, &mut out)?;
    /// assert!((out.log_partition - 3.0f64.ln()).abs() < 1e-12 && (out.edges[1] - 2.0 / 3.0).abs() < 1e-12);
    /// MatrixTree::default().solve(HeadScores { words: 2, scores: &scores, single_root: true }, &mut out)?;
    /// assert!((out.log_partition - 2.0f64.ln()).abs() < 1e-12 && (out.edges[1] - 0.5).abs() < 1e-12);
    /// # Ok::<(), multiplane_infer::InferError>(())
    /// ```
    ///
    /// # Errors
    /// As of [`Arborescence::solve`](super::Arborescence::solve). What `out` holds then means nothing.
    pub fn solve(&mut self, scores: HeadScores<'_>, out: &mut EdgeMarginals) -> Result<(), InferError> {
        scores.check()?;
        let (words, side) = (scores.words, scores.words + 1);
        out.edges.clear();
        out.edges.resize(side * side, 0.0);
        out.log_partition = 0.0;
        if words == 0 {
            return Ok(());
        }
        let log = match self.take(scores)? {
            true => self.sum::<Plain>(words, scores.single_root),
            false => self.sum::<Logs>(words, scores.single_root),
        };
        let log = log.ok_or_else(|| no_tree(scores.single_root))?;
        out.log_partition = log + self.largest.iter().sum::<f64>();
        for (word, shares) in self.total.chunks_exact(side).enumerate() {
            shares.iter().enumerate().for_each(|(head, &share)| out.edges[head * side + word + 1] = share);
        }
        Ok(())
    }

    /// Takes over scores; returns whether their weights can be held as they are.
    fn take(&mut self, scores: HeadScores<'_>) -> Result<bool, InferError> {
        let side = scores.words + 1;
        self.scores.clear();
        self.largest.clear();
        let mut range = 0.0f64;
        for word in 1..side {
            let others = (0..side).filter(|&head| head != word).map(|head| scores.edge(head, word));
            let allowed = others.filter(|score| *score > f64::NEG_INFINITY);
            let (least, most) = allowed.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), s| (s.min(a), s.max(b)));
            if most == f64::NEG_INFINITY {
                return Err(no_tree(scores.single_root));
            }
            range = range.max(most - least);
            self.largest.push(most);
            let row =
                (0..side).map(|head| if head == word { f64::NEG_INFINITY } else { scores.edge(head, word) - most });
            self.scores.extend(row);
        }
        Ok(range <= RANGE)
    }

    /// Computes all shares of heads into `total`, and the logarithm of the sum over all trees.
    fn sum<N: Numbers>(&mut self, words: usize, single_root: bool) -> Option<f64> {
        self.weights.clear();
        self.weights.extend(self.scores.iter().map(|&score| N::of_log(score)));
        self.total.resize(words * (words + 1), 0.0);
        let found = shares::<N>(&mut self.reduction, &self.weights, words, single_root, &mut self.total);
        if found.is_some() || !single_root {
            return found;
        }
        self.sum_by_child(words)
    }

    /// Tries every word as the root's child, where some words have no other head but each other: O(n^4), and rare.
    fn sum_by_child(&mut self, words: usize) -> Option<f64> {
        let side = words + 1;
        self.part.resize(self.total.len(), 0.0);
        self.total.fill(0.0);
        let mut log = f64::NEG_INFINITY;
        for child in 0..words {
            if self.scores[child * side] == f64::NEG_INFINITY {
                continue;
            }
            self.scores.clone_into(&mut self.alone);
            for other in (0..words).filter(|&other| other != child) {
                self.alone[other * side] = f64::NEG_INFINITY;
            }
            let Some(part) = shares::<Logs>(&mut self.reduction, &self.alone, words, false, &mut self.part) else {
                continue;
            };
            let (high, low) = (part.max(log), part.min(log));
            let sum = high + (low - high).exp().ln_1p();
            let (old, new) = ((log - sum).exp(), (part - sum).exp());
            self.total.iter_mut().zip(&self.part).for_each(|(total, part)| *total = old * *total + new * part);
            log = sum;
        }
        (log > f64::NEG_INFINITY).then_some(log)
    }
}

/// Writes the share of each head of each word, and returns the logarithm of the sum over all trees; nothing if a word
/// has none.
fn shares<N: Numbers>(
    reduction: &mut Reduction,
    weights: &[f64],
    words: usize,
    single_root: bool,
    out: &mut [f64],
) -> Option<f64> {
    let side = words + 1;
    let mut sound = true;
    let log = reduction.run::<N>(weights, words, single_root, &mut |word, values| {
        let row = word * side..(word + 1) * side;
        sound &= N::normalised_products(&weights[row.clone()], values, &mut out[row]);
    });
    log.filter(|_| sound)
}
