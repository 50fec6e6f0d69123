//! The distribution over arborescences as a product of weights that doubles can hold, however far apart scores are.
//!
//! `p(tree) ~ prod of weights(head, word)`. Where the best heads of some words make a cycle, every tree has a head that is
//! far worse, and which one decides. `e^score` of these underflows where scores are of the order of 1000. But the best edge
//! into the cycle may be made better, and all others into it by as much: trees that enter it once keep their ratios, and
//! those that enter it twice stay negligible as long as it is bad. The cycles, and those of cycles, are those that the
//! search for the best tree contracts.

use super::edmonds::{Arborescence, NONE};
use super::scores::{HeadScores, no_tree};
use crate::error::Error;

/// How bad the best edge into a cycle is left: e^-64 is far below what 1 can be changed by.
const BAD: f64 = 64.0;

/// What the edges into all cycles around one word may lose together: weights stay above e^-600.
const RANGE: f64 = 600.0;

impl Arborescence {
    /// Writes a weight of each edge such that `p(tree) ~ prod of weights` is the distribution `p(tree) ~ e^score`. The
    /// weights of a word's heads sum to 1; the diagonal and the root's column are 0. O(n^2) times the depth of cycles in
    /// cycles.
    ///
    /// Exact to rounding; beyond 9 cycles within one another whose edges are all far worse, trees that enter one of `depth`
    /// of them twice count for up to `e^(-600 / depth)`.
    ///
    /// ```
    /// use multiplane_infer::arborescence::{Arborescence, HeadScores};
    /// // Two words that want each other: e^-5000 and e^-5001 are no doubles, but their ratio is e.
    /// let scores = [0.0, -5000.0, -5001.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    /// let mut weights = [0.0; 9];
    /// Arborescence::default().weights(HeadScores { words: 2, scores: &scores, single_root: false }, &mut weights)?;
    /// let (first, second) = (weights[1] * weights[5], weights[2] * weights[7]);
    /// assert!((first / second - 1.0f64.exp()).abs() < 1e-12);
    /// # Ok::<(), multiplane_infer::Error>(())
    /// ```
    ///
    /// # Errors
    /// As of [`solve`](Arborescence::solve).
    ///
    /// # Panics
    /// If `out` has another length than the scores.
    pub fn weights(&mut self, scores: HeadScores<'_>, out: &mut [f64]) -> Result<(), Error> {
        scores.check()?;
        let (words, side) = (scores.words, scores.words + 1);
        let mut heads = std::mem::take(&mut self.heads);
        let found = self.find(scores, &mut heads);
        let child = heads.iter().position(|&head| head == 0).map_or(0, |word| word + 1);
        self.heads = heads;
        if !found {
            return Err(no_tree(scores.single_root));
        }
        self.raise(side);
        out.copy_from_slice(scores.scores);
        for word in 1..side {
            self.climb(word);
            for head in (0..side).filter(|&head| head != word) {
                out[head * side + word] += self.gain(head);
            }
        }
        if scores.single_root && words > 0 {
            self.balance_root(child, &mut out[..side]);
        }
        normalise(side, out);
        Ok(())
    }

    /// Brings the root's edges to the size of others: every tree has one of them. Words that are in no contraction with the
    /// root's child are reached through it in all trees.
    fn balance_root(&self, child: usize, row: &mut [f64]) {
        let first = |word: usize| self.inside[word] == self.inside[child];
        let best = (1..row.len()).filter(|&word| first(word)).map(|word| row[word]).fold(f64::NEG_INFINITY, f64::max);
        for (word, score) in row.iter_mut().enumerate().skip(1) {
            *score = if first(word) { *score + (best.clamp(-BAD, BAD) - best) } else { f64::NEG_INFINITY };
        }
    }

    /// Decides by how much the edges into each vertex become better: those of words to 0 at best, those of cycles to
    /// what is bad enough.
    fn raise(&mut self, side: usize) {
        let depth = |mut vertex: usize| {
            let mut depth = 0;
            while self.parents[vertex] != NONE {
                vertex = self.parents[vertex] as usize;
                depth += 1;
            }
            depth
        };
        let deepest = (1..side).map(depth).max().unwrap_or(0).max(1);
        let bad = -BAD.min(RANGE / f64::from(deepest));
        self.gains.clear();
        self.gains.extend(self.chosen.iter().enumerate().map(|(vertex, edge)| match vertex < side {
            true => -edge.score,
            false => (bad - edge.score).max(0.0),
        }));
        self.sums.clear();
        self.sums.resize(self.gains.len(), f64::NAN);
    }

    /// Sums what edges into a word gain, by the largest cycle that they do not enter; NaN if it is not around this word.
    fn climb(&mut self, word: usize) {
        self.sums.fill(f64::NAN);
        let (mut vertex, mut sum) = (word, 0.0);
        loop {
            self.sums[vertex] = sum;
            sum += self.gains[vertex];
            match self.parents[vertex] {
                NONE => break,
                parent => vertex = parent as usize,
            }
        }
        self.all = sum;
    }

    /// Returns what the edge from a head gains into the word that was climbed from.
    fn gain(&self, head: usize) -> f64 {
        let mut vertex = head;
        loop {
            if !self.sums[vertex].is_nan() {
                return self.sums[vertex];
            }
            match self.parents[vertex] {
                NONE => return self.all,
                parent => vertex = parent as usize,
            }
        }
    }
}

/// Makes weights of scores.
fn normalise(side: usize, scores: &mut [f64]) {
    for head in 0..side {
        scores[head * side] = 0.0;
    }
    for word in 1..side {
        scores[word * side + word] = f64::NEG_INFINITY;
        let heads = || (0..side).map(|head| head * side + word);
        let most = heads().map(|at| scores[at]).fold(f64::NEG_INFINITY, f64::max);
        heads().for_each(|at| scores[at] = (scores[at] - most).exp());
        let sum: f64 = heads().map(|at| scores[at]).sum();
        heads().for_each(|at| scores[at] /= sum);
    }
}
