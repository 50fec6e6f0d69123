//! The Viterbi algorithm: the best labelling of a chain, exactly (MP-BCFW paper, Eq. 9).
//!
//! O(len * labels^2), vectorised over the next label. Only the scores of the forward pass are kept; which label
//! came before is found again on the way back, for one label per position instead of all of them.

use crate::chain::ChainView;
use multiversion::multiversion;

/// Next labels treated at once: eight AVX2 registers.
const WIDTH: usize = 32;

/// Their number is rounded up to a multiple of this: an AVX2 register.
pub(crate) const REGISTER: usize = 4;

/// The engine with its working memory.
#[derive(Clone, Debug, Default)]
pub struct Viterbi {
    /// `[len][padded]`: best score of a prefix that ends in each label; rows are padded to a multiple of
    /// [`REGISTER`], with numbers that mean nothing.
    forward: Vec<f64>,
    /// For max-marginals: the table transposed, and best scores of suffixes with the label's own and without.
    transposed: Vec<f64>,
    suffix: Vec<f64>,
    next: Vec<f64>,
}

impl Viterbi {
    /// Writes the best labelling into `path` and returns its score. Among equal predecessors the lower label
    /// wins. An empty chain has the empty path and score 0.
    ///
    /// ```
    /// use multiplane_infer::{chain::ChainView, viterbi::Viterbi};
    /// let chain = ChainView { labels: 2, unary: &[0.0, 1.0, 0.0, 0.5], pair: &[0.0, 0.0, 2.0, 0.0] };
    /// let mut path = Vec::new();
    /// assert_eq!(Viterbi::default().solve(chain, &mut path), 3.0);
    /// assert_eq!(path, [1, 0]);
    /// ```
    pub fn solve(&mut self, chain: ChainView<'_>, path: &mut Vec<u32>) -> f64 {
        path.clear();
        if chain.is_empty() {
            return 0.0;
        }
        let padded = self.forward(chain);
        self.trace_back(chain, padded, path)
    }

    /// Writes the max-marginals `[len][labels]`: the best score of a labelling that has this label at this position,
    /// `-inf` where there is none. Their largest at any position is the optimum, which is returned; by how much the
    /// second largest of a position is less says how sure its label is. Twice the time of a solve.
    ///
    /// ```
    /// use multiplane_infer::{chain::ChainView, viterbi::Viterbi};
    /// let chain = ChainView { labels: 2, unary: &[0.0, 1.0, 0.0, 0.5], pair: &[0.0, 0.0, 2.0, 0.0] };
    /// let mut marginals = Vec::new();
    /// assert_eq!(Viterbi::default().max_marginals(chain, &mut marginals), 3.0);
    /// assert_eq!(marginals, [0.5, 3.0, 3.0, 1.5]);
    /// ```
    pub fn max_marginals(&mut self, chain: ChainView<'_>, out: &mut Vec<f64>) -> f64 {
        out.clear();
        if chain.is_empty() {
            return 0.0;
        }
        let (len, labels, padded) = (chain.len(), chain.labels, self.forward(chain));
        self.transposed.clear();
        self.transposed.extend((0..labels).flat_map(|to| chain.pair[to..].iter().step_by(labels)));
        self.suffix.clear();
        self.suffix.resize(padded, 0.0);
        self.next.resize(labels, 0.0);
        out.resize(len * labels, 0.0);
        for t in (0..len).rev() {
            let span = t * labels..(t + 1) * labels;
            let ends = self.forward[t * padded..].iter().zip(&self.suffix);
            out[span.clone()].iter_mut().zip(ends).for_each(|(out, (before, after))| *out = before + after);
            let own = chain.unary[span].iter().zip(&self.suffix);
            self.next.iter_mut().zip(own).for_each(|(next, (own, after))| *next = own + after);
            if t > 0 {
                forward_step(&self.next, &self.transposed, &[], &mut self.suffix);
            }
        }
        out[..labels].iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// Computes the best scores of all prefixes and returns the length of their rows.
    fn forward(&mut self, chain: ChainView<'_>) -> usize {
        let (len, labels) = (chain.len(), chain.labels);
        let padded = labels.next_multiple_of(REGISTER);
        self.forward.resize(len * padded, 0.0);
        self.forward[..labels].copy_from_slice(&chain.unary[..labels]);
        for t in 1..len {
            let (before, now) = self.forward[(t - 1) * padded..(t + 1) * padded].split_at_mut(padded);
            forward_step(&before[..labels], chain.pair, &chain.unary[t * labels..(t + 1) * labels], now);
        }
        padded
    }

    /// Writes `[len][labels]`: the best score of a prefix that ends in each label.
    pub(crate) fn prefixes(&mut self, chain: ChainView<'_>, out: &mut Vec<f64>) {
        out.clear();
        if !chain.is_empty() {
            let padded = self.forward(chain);
            self.forward.chunks_exact(padded).take(chain.len()).for_each(|row| out.extend(&row[..chain.labels]));
        }
    }

    /// Follows the best scores from the end; returns the best of all.
    fn trace_back(&self, chain: ChainView<'_>, padded: usize, path: &mut Vec<u32>) -> f64 {
        let (len, labels) = (chain.len(), chain.labels);
        path.resize(len, 0);
        let last = &self.forward[(len - 1) * padded..][..labels];
        let mut label = first_best(last.iter().copied());
        let score = last[label];
        path[len - 1] = label as u32;
        for t in (1..len).rev() {
            let before = &self.forward[(t - 1) * padded..][..labels];
            let column = chain.pair[label..].iter().step_by(labels);
            label = first_best(before.iter().zip(column).map(|(score, pair)| score + pair));
            path[t - 1] = label as u32;
        }
        score
    }
}

/// Returns the first position of the largest score.
pub(crate) fn first_best(scores: impl Iterator<Item = f64>) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (position, score) in scores.enumerate() {
        if score > best.1 {
            best = (position, score);
        }
    }
    best.0
}

/// Computes `now[y] = max_x (before[x] + pair[x][y]) + unary[y]`; `now` is padded. Rows of `pair` are read in whole
/// registers, beyond their end where the table goes on: what that gives lands in the padding.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(crate) fn forward_step(before: &[f64], pair: &[f64], unary: &[f64], now: &mut [f64]) {
    for (block, out) in now.chunks_mut(WIDTH).enumerate() {
        let start = block * WIDTH;
        match out.len() / REGISTER {
            1 => best_before::<4>(before, pair, start, out),
            2 => best_before::<8>(before, pair, start, out),
            3 => best_before::<12>(before, pair, start, out),
            4 => best_before::<16>(before, pair, start, out),
            5 => best_before::<20>(before, pair, start, out),
            6 => best_before::<24>(before, pair, start, out),
            7 => best_before::<28>(before, pair, start, out),
            _ => best_before::<WIDTH>(before, pair, start, out),
        }
    }
    for (out, unary) in now.iter_mut().zip(unary) {
        *out += unary;
    }
}

/// Writes `max_x (before[x] + pair[x][y])` for the `N` labels y from `start` on, the number of labels in `out`.
#[inline(always)]
fn best_before<const N: usize>(before: &[f64], pair: &[f64], start: usize, out: &mut [f64]) {
    let mut best = [f64::NEG_INFINITY; N];
    for (x, &score) in before.iter().enumerate() {
        let row = &pair[x * before.len() + start..];
        best = match row.first_chunk::<N>() {
            Some(row) => better(best, score, row),
            None => better(best, score, &padded(row)),
        };
    }
    out.copy_from_slice(&best);
}

#[inline(always)]
fn better<const N: usize>(mut best: [f64; N], score: f64, row: &[f64; N]) -> [f64; N] {
    for k in 0..N {
        let value = score + row[k];
        best[k] = if value > best[k] { value } else { best[k] };
    }
    best
}

/// The end of the table.
#[cold]
fn padded<const N: usize>(row: &[f64]) -> [f64; N] {
    let mut padded = [0.0; N];
    padded[..row.len()].copy_from_slice(row);
    padded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brute;

    /// Viterbi is exact: no labelling scores higher than the path it returns, and the score is the path's.
    #[test]
    fn matches_brute_force() {
        let mut engine = Viterbi::default(); // reused, so stale buffers would show
        let mut path = Vec::new();
        for seed in 0..400u64 {
            let (len, labels) = ((seed % 5) as usize, 1 + (seed / 5 % 4) as usize);
            let (unary, pair) = brute::coarse_scores(seed, len, labels);
            let chain = ChainView { labels, unary: &unary, pair: &pair };
            let score = engine.solve(chain, &mut path);
            let best = brute::best(len, labels, |y| chain.score(y)).1;
            assert_eq!(path.len(), len);
            assert!((score - chain.score(&path)).abs() < 1e-12, "seed {seed}: score is not the path's");
            assert!((score - best).abs() < 1e-12, "seed {seed}: {score} is not the optimum {best}");
        }
    }

    /// Max-marginals are the best of enumeration for every position and label, forbidden ones among them.
    #[test]
    fn max_marginals_match_brute_force() {
        let (mut engine, mut found) = (Viterbi::default(), Vec::new());
        for seed in 0..400u64 {
            let (len, labels) = ((seed % 5) as usize, 1 + (seed / 5 % 4) as usize);
            let (mut unary, mut pair) = brute::coarse_scores(seed, len, labels);
            let forbidden = unary.iter_mut().chain(&mut pair).filter(|score| **score >= 0.8);
            forbidden.for_each(|score| *score = f64::NEG_INFINITY);
            let chain = ChainView { labels, unary: &unary, pair: &pair };
            let optimum = engine.max_marginals(chain, &mut found);
            let best = brute::best(len, labels, |y| chain.score(y)).1;
            assert!(optimum == best || (optimum - best).abs() < 1e-12, "seed {seed}: {optimum} is not {best}");
            assert_eq!(found.len(), len * labels);
            for (at, &found) in found.iter().enumerate() {
                let has = |y: &[u32]| y[at / labels] as usize == at % labels;
                let score = |y: &[u32]| if has(y) { chain.score(y) } else { f64::NEG_INFINITY };
                let best = brute::best(len, labels, score).1;
                assert!(found == best || (found - best).abs() < 1e-12, "seed {seed}, {at}: {found} is not {best}");
            }
        }
    }

    /// Every number of registers, and more labels than one block.
    #[test]
    fn wide_label_sets() {
        for labels in (1..40).chain([70]) {
            let (unary, pair) = brute::coarse_scores(labels as u64, 2, labels);
            let chain = ChainView { labels, unary: &unary, pair: &pair };
            let mut path = Vec::new();
            let score = Viterbi::default().solve(chain, &mut path);
            let best = brute::best(2, labels, |y| chain.score(y)).1;
            assert!((score - best).abs() < 1e-12, "{labels} labels");
        }
    }
}
