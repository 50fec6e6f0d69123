//! The distribution over arborescences as a product of weights that doubles can hold, however far apart scores are.
//!
//! `p(tree) ~ prod of weights(head, word)`. Where the best heads of some words make a cycle, every tree has a head that
//! is far worse, and which one decides. `e^score` of these underflows where scores are of the order of 1000. But the
//! best edge into the cycle may be made better, and all others into it by as much: trees that enter it once keep their
//! ratios, and those that enter it twice stay negligible as long as it is bad. The cycles, and those of cycles, are
//! those that the search for the best tree contracts.

use super::edmonds::{Arborescence, ChosenEdge, NONE};
use super::scores::{HeadScores, no_tree};
use crate::error::InferError;

/// How bad the best edge into a cycle is left: e^-64 is far below what 1 can be changed by.
const BAD: f64 = 64.0;

/// The most that the edges into all cycles around one word may lose together.
const RANGE: f64 = 200.0;

/// An edge that makes a tree worse by more than e^-95 has no weight: no probability that a double beside 1 can tell.
const NOTHING: f64 = -95.0;

impl Arborescence {
    /// Writes a weight of each edge such that `p(tree) ~ prod of weights` is the distribution `p(tree) ~ e^score`. The
    /// weights of a word's heads sum to 1; the diagonal and the root's column are 0. O(n^2) times the depth of cycles
    /// in cycles.
    ///
    /// Weights are 0 or at least e^-300, so that [`MatrixTree`](super::MatrixTree) works with them as they are, and
    /// edges of all words agree to the last digits. Where an edge makes a tree worse by more than a factor `floor`, it
    /// is made as good as that: weights of which a solver makes the next distribution must leave a way back from trees
    /// that are certain. 0 floors none, and the distribution is exact to rounding; with more than 5 cycles within one
    /// another whose edges are all far worse, trees that enter one of `depth` of these twice count for up to `e^(-200 /
    /// depth)`.
    ///
    /// ```
    /// use multiplane_infer::arborescence::{Arborescence, HeadScores};
    /// // Two words that want each other: e^-5000 and e^-5001 are no doubles, but their ratio is e.
    /// let scores = [0.0, -5000.0, -5001.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    /// let mut weights = [0.0; 9];
    /// Arborescence::default().weights(HeadScores { words: 2, scores: &scores, single_root: false }, 0.0, &mut weights)?;
    /// let (first, second) = (weights[1] * weights[5], weights[2] * weights[7]);
    /// assert!((first / second - 1.0f64.exp()).abs() < 1e-12);
    /// # Ok::<(), multiplane_infer::InferError>(())
    /// ```
    ///
    /// # Errors
    /// As of [`solve`](Arborescence::solve).
    ///
    /// # Panics
    /// If `out` has another length than the scores.
    pub fn weights(&mut self, scores: HeadScores<'_>, floor: f64, out: &mut [f64]) -> Result<(), InferError> {
        scores.check()?;
        let side = scores.words + 1;
        let mut heads = std::mem::take(&mut self.heads);
        let found = self.find(scores, &mut heads);
        let child = heads.iter().position(|&head| head == 0).map_or(0, |word| word + 1);
        self.heads = heads;
        if !found {
            return Err(no_tree(scores.single_root));
        }
        let floor = floor.ln();
        self.bound(side, floor);
        for word in 1..side {
            self.climb(word);
            // With one child of the root, words that are in no contraction with it are reached through it in all trees.
            let is_never_child = scores.single_root && self.inside[word] != self.inside[child];
            for head in (0..side).filter(|&head| head != word) {
                let (lost, kept) = self.sums_of(head);
                let worse = scores.edge(head, word) - lost;
                let worse = if head == 0 && is_never_child { floor } else { worse.max(floor) };
                out[head * side + word] = if worse < NOTHING { f64::NEG_INFINITY } else { worse + kept };
            }
        }
        normalise(side, out);
        Ok(())
    }

    /// Returns the heads of the best tree of the scores that weights were asked for last.
    pub fn heads(&self) -> &[u32] {
        &self.heads
    }

    /// Decides how much worse than those inside it the edges into a contraction are left.
    fn bound(&mut self, side: usize, floor: f64) {
        let depth = |mut vertex: usize| {
            let mut depth = 0;
            while self.parents[vertex] != NONE {
                vertex = self.parents[vertex] as usize;
                depth += 1;
            }
            depth
        };
        let deepest = (1..side).map(depth).max().unwrap_or(0).max(1);
        let bad = (-BAD.min(RANGE / f64::from(deepest))).max(floor);
        self.kept.clear();
        let kept = |(vertex, edge): (usize, &ChosenEdge)| if vertex < side { 0.0 } else { edge.score.clamp(bad, -bad) };
        self.kept.extend(self.chosen.iter().enumerate().map(kept));
        self.sums.clear();
        self.sums.resize(self.kept.len(), None);
    }

    /// Sums what the best edges into a word, and into the contractions around it, are worth, and what is kept of that:
    /// for edges that come from within each of these, and for those that come from outside.
    fn climb(&mut self, word: usize) {
        self.sums.fill(None);
        let (mut vertex, mut sums) = (word, (0.0, 0.0));
        loop {
            self.sums[vertex] = Some(sums);
            sums = (sums.0 + self.chosen[vertex].score, sums.1 + self.kept[vertex]);
            match self.parents[vertex] {
                NONE => break,
                parent => vertex = parent as usize,
            }
        }
        self.all = sums;
    }

    /// Returns these sums for the edge from a head into the word that was climbed from.
    fn sums_of(&self, head: usize) -> (f64, f64) {
        let mut vertex = head;
        loop {
            match (self.sums[vertex], self.parents[vertex]) {
                (Some(sums), _) => return sums,
                (None, NONE) => return self.all,
                (None, parent) => vertex = parent as usize,
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
