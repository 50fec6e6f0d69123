//! Features of labelled graphs, and planes, which touch only nodes and edges at which a labelling differs from the truth.

use multiplane_core::plane::Plane;

use super::energies::{add_row, score_row};
use super::input::GraphInput;
use super::layout::GraphTask;
use super::spec::Pairwise;
use crate::builtin::pairwise::{Labelling, UNLABELLED, add_errors};

/// Working memory of planes.
#[derive(Debug, Default)]
pub(super) struct PlaneScratch {
    /// Coefficients.
    dense: Vec<f64>,
    /// By label, whether there are some of it.
    touched: Vec<bool>,
}

/// Whether a label is one that features know.
fn known(label: u32, labels: usize) -> bool {
    (label as usize) < labels
}

impl GraphTask {
    /// Returns where the weight of an edge feature for two labels stands, and the sign of the feature; `None` where the
    /// pair has none.
    fn pair(&self, feature: usize, a: u32, b: u32) -> Option<(usize, f64)> {
        if !(known(a, self.labels) && known(b, self.labels)) {
            return None;
        }
        match self.pairwise {
            Pairwise::Cut => (a != b).then(|| (self.of_edge_feature(feature).start, -1.0)),
            Pairwise::Full => {
                let place = a as usize * self.labels + b as usize;
                Some((self.of_edge_feature(feature).start + place, 1.0))
            }
        }
    }

    /// Adds `scale` times the features of an edge with these labels.
    fn add_edge(&self, x: &GraphInput, edge: usize, (a, b): (u32, u32), scale: f64, out: &mut [f64]) {
        for feature in 0..self.edge_features {
            if let Some((place, sign)) = self.pair(feature, a, b) {
                out[place] += sign * scale * self.edge_feature(x, edge, feature);
            }
        }
    }

    /// Adds `scale * phi(x, y)`; nodes without a label have no features, and their edges none either.
    pub(super) fn add_features(&self, x: &GraphInput, y: &[u32], scale: f64, out: &mut [f64]) {
        for (node, &label) in y.iter().enumerate().filter(|(_, label)| known(**label, self.labels)) {
            add_row(scale, x.row(node), &mut out[label as usize * self.features..][..self.features]);
        }
        for (edge, &[tail, head]) in x.edges().iter().enumerate() {
            self.add_edge(x, edge, (y[tail as usize], y[head as usize]), scale, out);
        }
    }

    /// Returns how many edges of labelled nodes have different labels at their ends.
    pub(super) fn cut_edges(&self, x: &GraphInput, y: &[u32]) -> usize {
        let is_cut = |&&[tail, head]: &&[u32; 2]| {
            let (a, b) = (y[tail as usize], y[head as usize]);
            a != b && a != UNLABELLED && b != UNLABELLED
        };
        x.edges().iter().filter(is_cut).count()
    }

    /// Writes the plane of a labelling, times `scale`.
    pub(super) fn write_plane(
        &self,
        x: &GraphInput,
        (truth, y): (&Labelling, &Labelling),
        scale: f64,
        PlaneScratch { dense, touched }: &mut PlaneScratch,
        out: &mut Plane,
    ) {
        out.clear();
        dense.clear();
        dense.resize(self.weights(), 0.0);
        touched.clear();
        touched.resize(self.labels, false);
        let loss = add_errors(truth, y, scale, |node, label, factor| {
            if known(label, self.labels) {
                add_row(factor, x.row(node), &mut dense[label as usize * self.features..][..self.features]);
                touched[label as usize] = true;
            }
        });
        let Some(loss) = loss else {
            out.seal();
            return;
        };
        let differs = |node: u32| truth.labels[node as usize] != y.labels[node as usize];
        for (edge, &[tail, head]) in x.edges().iter().enumerate() {
            if differs(tail) || differs(head) {
                let pair = |labelling: &Labelling| (labelling.labels[tail as usize], labelling.labels[head as usize]);
                self.add_edge(x, edge, pair(y), scale, dense);
                self.add_edge(x, edge, pair(truth), -scale, dense);
            }
        }
        let rows = touched.iter().filter(|touched| **touched).count() * self.features;
        let edges = self.weights() - self.edge_start();
        // An index costs half of a number, and a step's time.
        if 2 * (rows + edges) > self.weights() {
            out.dense(self.weights()).copy_from_slice(dense);
        } else {
            let blocks = (0..self.labels).filter(|&label| touched[label]);
            let ranges = blocks.map(|label| label * self.features..(label + 1) * self.features);
            for k in ranges.chain(std::iter::once(self.edge_start()..self.weights())).flatten() {
                if dense[k] != 0.0 {
                    out.push(k as u32, dense[k]);
                }
            }
        }
        let cut = self.cut_edges(x, &y.labels) as f64 - self.cut_edges(x, &truth.labels) as f64;
        out.set_circ(scale * (loss - self.potts * cut));
        out.seal();
    }

    /// Returns `<w, phi(x, y)> + theta(x, y)`, and its terms without signs.
    pub(super) fn score(&self, x: &GraphInput, y: &[u32], w: &[f64]) -> (f64, f64) {
        let (mut score, mut terms) = (0.0, 0.0);
        let mut add = |value: f64| (score, terms) = (score + value, terms + value.abs());
        for (node, &label) in y.iter().enumerate().filter(|(_, label)| known(**label, self.labels)) {
            let mut found = [0.0];
            score_row(x.row(node), &w[label as usize * self.features..][..self.features], &mut found);
            add(found[0]);
        }
        for (edge, &[tail, head]) in x.edges().iter().enumerate() {
            let (a, b) = (y[tail as usize], y[head as usize]);
            for feature in 0..self.edge_features {
                if let Some((place, sign)) = self.pair(feature, a, b) {
                    add(sign * self.edge_feature(x, edge, feature) * w[place]);
                }
            }
        }
        add(-self.potts * self.cut_edges(x, y) as f64);
        (score, terms)
    }
}
