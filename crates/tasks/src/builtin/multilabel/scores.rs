//! Scores of labels and pairs.

use super::graph::LabelGraph;

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

    /// Returns the score of a set.
    pub(super) fn of(&self, graph: &LabelGraph, y: &[u32]) -> f64 {
        let unary: f64 = self.unary.iter().zip(y).map(|(scores, &y)| scores[y as usize]).sum();
        let pair = |(edge, &[j, k]): (usize, &[u32; 2])| self.pair(edge, y[j as usize], y[k as usize]);
        unary + graph.edges().iter().enumerate().map(pair).sum::<f64>()
    }
}
