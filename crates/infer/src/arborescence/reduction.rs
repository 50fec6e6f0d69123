//! Elimination of words, one after the other, without a difference: what makes the matrix-tree theorem exact.
//!
//! Walk from word to word by drawing heads: from k to h with probability `P(h|k) = w(h,k) / d_k`, where `d_k` sums over
//! all heads. If k is left out, each w(h,m) grows by `P(h|k) w(k,m)`: one step of Gaussian elimination on the
//! Laplacian, and its determinant, the sum over all trees (Tutte), is the product of all `d`. As no number is negative,
//! nothing cancels (Grassmann, Taksar and Heyman, "Regenerative analysis and steady state distributions", Operations
//! Research 33, 1985; O'Cinneide 1993 on its relative exactness).
//!
//! The head of m is h in a share of `w(h,m) V(h)` of all trees, where V(h) is the probability that a walk from h meets
//! the root before m: the heads of the others draw all trees in which m may have head h. Where the root may have one
//! child only, walks draw no root; V(h) is then the sum of w(0,k) / d_k over the words k that the walk comes by, and
//! V(0) = 1 as before: each tree is cut once at its root's edge. (That is Koo et al., EMNLP 2007, to first order in the
//! root's weights.)
//!
//! To have V for each m, all others must be eliminated. Halves share the elimination of the other half, so that all
//! together cost O(n^3).

use super::numbers::Numbers;

/// Working memory, and the sums that come out.
#[derive(Clone, Debug, Default)]
pub(super) struct Reduction {
    words: usize,
    /// By depth: the weights of the words that are left, `[words][1 + words]`, the root's first; and the same while
    /// half of them are eliminated.
    weights: Vec<Vec<f64>>,
    halves: Vec<Vec<f64>>,
    /// The words eliminated now, in order, with `P(h|k)` of all heads, those eliminated before at 0.
    eliminated: Vec<usize>,
    draws: Vec<f64>,
    /// V of the root and all words, for the word that is left.
    values: Vec<f64>,
    room: Vec<f64>,
    log_partition: f64,
}

impl Reduction {
    /// Computes the sum over all trees of the words with weights `[word][head]`, and calls `found` for every word with
    /// V of all heads. Returns the logarithm of the sum, or nothing where a word has no head left: there is no tree,
    /// or, with a single root, one that this order of words cannot find.
    pub(super) fn run<N: Numbers>(
        &mut self,
        weights: &[f64],
        words: usize,
        single_root: bool,
        found: &mut dyn FnMut(usize, &[f64]),
    ) -> Option<f64> {
        self.words = words;
        self.eliminated.clear();
        self.draws.clear();
        self.values.resize(words + 1, 0.0);
        self.room.resize(words + 1, 0.0);
        if self.weights.is_empty() {
            self.weights.push(Vec::new());
        }
        weights.clone_into(&mut self.weights[0]);
        for word in 0..words {
            self.weights[0][word * (words + 1) + 1 + word] = N::ZERO;
        }
        self.log_partition = 0.0;
        self.halve::<N>(0, 0, words, single_root, true, found).then_some(self.log_partition)
    }

    /// Goes on with the words from `low` to `high`, all others eliminated. The first time that one word is left the
    /// partition is known.
    fn halve<N: Numbers>(
        &mut self,
        depth: usize,
        low: usize,
        high: usize,
        single_root: bool,
        is_first: bool,
        found: &mut dyn FnMut(usize, &[f64]),
    ) -> bool {
        if high - low == 1 {
            let last = self.weights[depth][0];
            if last == N::ZERO {
                return false;
            }
            if is_first {
                self.log_partition += N::to_log(last);
            }
            self.walk::<N>(low);
            found(low, &self.values);
            return true;
        }
        if self.weights.len() < depth + 2 {
            self.weights.push(Vec::new());
        }
        if self.halves.len() < depth + 1 {
            self.halves.push(Vec::new());
        }
        let (middle, side) = ((low + high) / 2, high - low + 1);
        for (kept, dropped, is_first) in [(low..middle, middle..high, is_first), (middle..high, low..middle, false)] {
            let mut half = std::mem::take(&mut self.halves[depth]);
            self.weights[depth].clone_into(&mut half);
            let before = self.eliminated.len();
            let sound = dropped.clone().all(|word| {
                let gone = dropped.start..word + 1;
                self.eliminate::<N>(&mut half, low, side, gone, single_root, is_first)
            });
            if sound {
                let next = &mut self.weights[depth + 1];
                next.clear();
                for word in kept.clone() {
                    let row = &half[(word - low) * side..][..side];
                    next.push(row[0]);
                    next.extend_from_slice(&row[1 + kept.start - low..1 + kept.end - low]);
                }
            }
            self.halves[depth] = half;
            if !sound || !self.halve::<N>(depth + 1, kept.start, kept.end, single_root, is_first, found) {
                return false;
            }
            self.eliminated.truncate(before);
            self.draws.truncate(before * (self.words + 1));
        }
        true
    }

    /// Leaves out the last of the words `gone`, those before it being left out already.
    fn eliminate<N: Numbers>(
        &mut self,
        weights: &mut [f64],
        low: usize,
        side: usize,
        gone: std::ops::Range<usize>,
        single_root: bool,
        is_first: bool,
    ) -> bool {
        let own = gone.end - 1 - low;
        let start = self.draws.len();
        self.draws.resize(start + self.words + 1, N::ZERO);
        let draws = &mut self.draws[start..];
        let row = &mut weights[own * side..(own + 1) * side];
        let sum = N::sum(if single_root { &row[1..] } else { row });
        if sum == N::ZERO {
            return false;
        }
        N::divide(row, sum);
        if is_first {
            self.log_partition += N::to_log(sum);
        }
        draws[0] = row[0];
        draws[1 + low..low + side].copy_from_slice(&row[1..]);
        self.eliminated.push(low + own);
        let draw = &draws[1 + low..low + side];
        let root = draws[0];
        for (other, row) in weights.chunks_exact_mut(side).enumerate() {
            if gone.contains(&(low + other)) {
                continue;
            }
            let factor = std::mem::replace(&mut row[1 + own], N::ZERO);
            if factor != N::ZERO {
                N::add_multiple(factor, &[root], &mut row[..1]);
                N::add_multiple(factor, draw, &mut row[1..]);
                row[1 + other] = N::ZERO;
            }
        }
        true
    }

    /// Computes V of all heads for the word that is left.
    fn walk<N: Numbers>(&mut self, left: usize) {
        self.values.fill(N::ZERO);
        self.values[0] = N::ONE;
        let draws = self.draws.chunks_exact(self.words + 1);
        for (&word, draws) in self.eliminated.iter().zip(draws).rev() {
            debug_assert!(word != left);
            self.values[1 + word] = N::dot(draws, &self.values, &mut self.room);
        }
    }
}
