//! What every label of every position of a chain would cost: max-product forth and back.
//!
//! O(len * labels^2), about twice a Viterbi call.

use crate::chain::ChainView;
use crate::viterbi::Viterbi;

/// The engine with its working memory.
#[derive(Clone, Debug, Default)]
pub struct PathMargins {
    viterbi: Viterbi,
    /// Best score of what follows a position, by its label; and that of the position after with its own.
    after: Vec<f64>,
    next: Vec<f64>,
}

impl PathMargins {
    /// Writes `out[len][labels]`: the highest score of a labelling that has each label at each position.
    ///
    /// ```
    /// use multiplane_infer::{chain::ChainView, path_margins::PathMargins};
    /// let chain = ChainView { labels: 2, unary: &[0.0, 1.0, 0.0, 0.5], pair: &[0.0, 0.0, 2.0, 0.0] };
    /// let mut out = Vec::new();
    /// PathMargins::default().solve(chain, &mut out);
    /// assert_eq!(out, [0.5, 3.0, 3.0, 1.5]);
    /// ```
    pub fn solve(&mut self, chain: ChainView<'_>, out: &mut Vec<f64>) {
        let labels = chain.labels;
        self.viterbi.prefixes(chain, out);
        self.after.clear();
        self.after.resize(labels, 0.0);
        for t in (1..chain.len()).rev() {
            let own = &chain.unary[t * labels..(t + 1) * labels];
            self.next.clear();
            self.next.extend(own.iter().zip(&self.after).map(|(own, after)| own + after));
            for (after, pair) in self.after.iter_mut().zip(chain.pair.chunks_exact(labels)) {
                let scores = pair.iter().zip(&self.next).map(|(pair, next)| pair + next);
                *after = scores.fold(f64::NEG_INFINITY, |best, score| if score > best { score } else { best });
            }
            let before = &mut out[(t - 1) * labels..t * labels];
            before.iter_mut().zip(&self.after).for_each(|(out, after)| *out += after);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brute;

    /// Every number is that of enumeration.
    #[test]
    fn margins_equal_enumeration() {
        let mut engine = PathMargins::default();
        let mut out = Vec::new();
        for seed in 0..300u64 {
            let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            let mut next = || {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                ((state >> 60) as f64) / 8.0 - 1.0
            };
            let (len, labels) = ((seed % 6) as usize, 1 + (seed / 6 % 4) as usize);
            let unary: Vec<f64> = (0..len * labels).map(|_| next()).collect();
            let pair: Vec<f64> = (0..labels * labels).map(|_| next()).collect();
            let chain = ChainView { labels, unary: &unary, pair: &pair };
            let mut expected = vec![f64::NEG_INFINITY; len * labels];
            brute::best(len, labels, |y| {
                let score = chain.score(y);
                for (t, &label) in y.iter().enumerate() {
                    let at = &mut expected[t * labels + label as usize];
                    *at = at.max(score);
                }
                0.0
            });
            engine.solve(chain, &mut out);
            assert_eq!(out.len(), expected.len(), "seed {seed}");
            assert!(out.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12), "seed {seed}");
        }
    }
}
