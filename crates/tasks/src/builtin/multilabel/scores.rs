//! Scores of labels and pairs.

use super::graph::LabelGraph;

/// Fills the table of the scores of all sets of some labels, label k at bit k, about three additions a set: what a
/// label adds is itself a table over the sets of those before it. `pair(j, k)` with j < k holds what the pair scores,
/// absent or present at j, then at k.
pub(super) fn tabulate(
    unary: &[[f64; 2]],
    pair: impl Fn(usize, usize) -> [[f64; 2]; 2],
    gains: &mut [Vec<f64>; 2],
    sums: &mut Vec<f64>,
) {
    sums.clear();
    sums.push(0.0);
    for (k, own) in unary.iter().enumerate() {
        for (value, gain) in gains.iter_mut().enumerate() {
            gain.clear();
            gain.push(own[value]);
            for j in 0..k {
                let pair = pair(j, k);
                let half = gain.len();
                gain.extend_from_within(..);
                let (without, with) = gain.split_at_mut(half);
                without.iter_mut().for_each(|gain| *gain += pair[0][value]);
                with.iter_mut().for_each(|gain| *gain += pair[1][value]);
            }
        }
        let half = sums.len();
        sums.extend_from_within(..);
        let (without, with) = sums.split_at_mut(half);
        without.iter_mut().zip(&gains[0]).for_each(|(sum, gain)| *sum += gain);
        with.iter_mut().zip(&gains[1]).for_each(|(sum, gain)| *sum += gain);
    }
}

/// Scores of absence and presence of every label (`-inf`: not allowed), and of the pairs: four numbers for each edge.
#[derive(Clone, Copy)]
pub(super) struct SetScores<'a> {
    pub(super) unary: &'a [[f64; 2]],
    pub(super) pair: &'a [f64],
}

impl SetScores<'_> {
    /// Returns the score of a pair's values.
    #[inline]
    pub(super) fn pair(&self, edge: usize, j: u32, k: u32) -> f64 {
        self.pair[4 * edge + 2 * j as usize + k as usize]
    }

    /// Fills the table of the scores of all sets; see [`tabulate`].
    pub(super) fn tabulate(&self, graph: &LabelGraph, gains: &mut [Vec<f64>; 2], sums: &mut Vec<f64>) {
        let pair = |j: usize, k: usize| match graph.edges().binary_search(&[j as u32, k as u32]) {
            Ok(edge) => [0, 1].map(|own| [self.pair(edge, own, 0), self.pair(edge, own, 1)]),
            Err(_) => [[0.0; 2]; 2],
        };
        tabulate(self.unary, pair, gains, sums);
    }

    /// Returns the score of a set.
    pub(super) fn of(&self, graph: &LabelGraph, y: &[u32]) -> f64 {
        let unary: f64 = self.unary.iter().zip(y).map(|(scores, &y)| scores[y as usize]).sum();
        let pair = |(edge, &[j, k]): (usize, &[u32; 2])| self.pair(edge, y[j as usize], y[k as usize]);
        unary + graph.edges().iter().enumerate().map(pair).sum::<f64>()
    }
}
