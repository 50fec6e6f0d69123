//! Planes by their sets: a row is scored once for every label in which some set differs from the truth, and moved once.

use multiplane_core::linalg;

use super::layout::Multilabel;
use crate::data::SparseRows;

/// Working memory for planes by code.
#[derive(Debug, Default)]
pub(super) struct SetCodes {
    /// Labels in which some set differs.
    differing: Vec<u32>,
    /// Their scores.
    scores: Vec<f64>,
    /// By label: what being unlike the truth scores, or what is added to its weights.
    labels: Vec<f64>,
}

impl Multilabel {
    /// Writes `<w, phi(x, y) - phi(x, truth)>` of every set.
    pub(super) fn score_sets(
        &self,
        x: &SparseRows,
        truth: &[u32],
        w: &[f64],
        codes: &[u32],
        scratch: &mut SetCodes,
        out: &mut [f64],
    ) {
        let sets = || codes.chunks_exact(truth.len().max(1));
        let SetCodes { differing, scores, labels } = scratch;
        differing.clear();
        differing.extend((0..truth.len() as u32).filter(|&k| sets().any(|y| y[k as usize] != truth[k as usize])));
        scores.clear();
        scores.resize(differing.len(), 0.0);
        let row = x.row(0);
        let unary = &w[..self.pair_start()];
        linalg::some_row_scores(row.indices, row.values, unary, self.features, differing, scores);
        labels.clear();
        labels.resize(truth.len(), 0.0);
        for (&k, &score) in differing.iter().zip(&*scores) {
            labels[k as usize] = if truth[k as usize] == 0 { score } else { -score };
        }
        for (out, y) in out.iter_mut().zip(sets()) {
            let moved = y.iter().zip(truth).zip(&*labels).filter(|((y, truth), _)| y != truth);
            *out = moved.map(|(_, score)| score).sum();
            for edge in self.differing_edges(truth, y) {
                *out += w[self.pair_index(edge, y)] - w[self.pair_index(edge, truth)];
            }
        }
    }

    /// Adds `scale * amount` times the plane of each set to `target`.
    pub(super) fn add_sets(
        &self,
        x: &SparseRows,
        truth: &[u32],
        (codes, amounts): (&[u32], &[f64]),
        scale: f64,
        scratch: &mut SetCodes,
        target: &mut [f64],
    ) {
        let labels = &mut scratch.labels;
        labels.clear();
        labels.resize(truth.len(), 0.0);
        for (y, &amount) in codes.chunks_exact(truth.len().max(1)).zip(amounts).filter(|(_, amount)| **amount != 0.0) {
            for ((label, &y), &truth) in labels.iter_mut().zip(y).zip(truth) {
                *label += amount * (f64::from(y) - f64::from(truth));
            }
            for edge in self.differing_edges(truth, y) {
                target[self.pair_index(edge, y)] += scale * amount;
                target[self.pair_index(edge, truth)] -= scale * amount;
            }
        }
        let row = x.row(0);
        for (k, &amount) in labels.iter().enumerate().filter(|(_, amount)| **amount != 0.0) {
            let weights = &mut target[k * self.features..][..self.features];
            linalg::add_sparse_row(scale * amount, row.indices, row.values, weights);
        }
    }

    /// Edges of which an end differs from the truth.
    fn differing_edges(&self, truth: &[u32], y: &[u32]) -> impl Iterator<Item = usize> {
        let differs = move |&label: &u32| truth[label as usize] != y[label as usize];
        let edges = self.graph.edges().iter().enumerate();
        edges.filter(move |(_, edge)| edge.iter().any(differs)).map(|(edge, _)| edge)
    }
}
