//! Scores of labels and pairs.

use super::graph::LabelGraph;
use super::table::tabulate;

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
