//! Hinge and planes of trees by plain code, for `verify`: weights as they stand in files, twice the digits, and no
//! engine.

use multiplane_core::task::UNLABELLED;

use super::input::TreeInput;
use super::layout::TreeTask;
use crate::builtin::pairwise::Labelling;
use crate::builtin::reference::{LabelFunction, largest_sum};
use crate::double_double::DoubleDouble;
use crate::reference::{AddFeature, product, row_features};

impl TreeTask {
    /// Returns the place of an edge's weight in files.
    fn file_pair(&self, of: usize, from: usize, to: usize) -> usize {
        self.labels * (self.features + of * self.labels + from) + to
    }

    /// `max_y (loss + score) - score of the truth`, by maximising over one node after the other. Nodes without a label,
    /// and their edges, score 0.
    pub(super) fn plain_hinge(&self, x: &TreeInput, truth: &Labelling, w: &[f64]) -> f64 {
        let factors = truth.factors(&self.costs);
        let mut of_truth = DoubleDouble::ZERO;
        let mut functions: Vec<LabelFunction> = Vec::with_capacity(2 * x.nodes());
        for (node, &right) in truth.iter().enumerate().filter(|(_, right)| **right != UNLABELLED) {
            let score = |label: usize| product(x.rows().row(node), w, label * self.features);
            let cost = |label: usize| DoubleDouble::from(factors.at(node) * self.costs.row(right)[label]);
            of_truth = of_truth + score(right as usize);
            functions.push((vec![node], (0..self.labels).map(|label| score(label) + cost(label)).collect()));
        }
        for (of, parent, child) in known_edges(x, truth) {
            of_truth = of_truth + w[self.file_pair(of, truth[parent] as usize, truth[child] as usize)].into();
            let start = self.file_pair(of, 0, 0);
            let table = w[start..start + self.labels * self.labels].iter().map(|&weight| weight.into());
            functions.push((vec![parent, child], table.collect()));
        }
        (largest_sum(&vec![self.labels; x.nodes()], functions) - of_truth).value()
    }

    /// Hands over `scale * phi(x, y)`, one occurrence after the other.
    pub(super) fn plain_features(&self, x: &TreeInput, y: &[u32], scale: f64, add: AddFeature<'_>) {
        for (node, &label) in y.iter().enumerate().filter(|(_, label)| **label != UNLABELLED) {
            row_features(x.rows().row(node), label as usize * self.features, scale, add);
        }
        for (of, parent, child) in known_edges(x, y) {
            add(self.file_pair(of, y[parent] as usize, y[child] as usize), scale);
        }
    }
}

/// The edges whose ends both have a label.
fn known_edges<'a>(x: &'a TreeInput, y: &'a [u32]) -> impl Iterator<Item = (usize, usize, usize)> + 'a {
    x.edges().filter(|&(_, parent, child)| y[parent] != UNLABELLED && y[child] != UNLABELLED)
}
