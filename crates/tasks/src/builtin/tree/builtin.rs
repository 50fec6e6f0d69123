//! What the tree is beside training: errors counted, layouts of files, labels as text, and the slow code of `verify`.

use multiplane_core::rng::Rng;

use super::input::TreeInput;
use super::layout::{TreeTask, tables};
use super::reading::TreeVocabulary;
use crate::builtin::neighbours::one_changed;
use crate::builtin::task::BuiltinTask;
use crate::data::{SparseRows, Trees};
use crate::metrics::LabelReport;
use crate::problem::tables::{Axis, WeightTable};
use crate::reference;

impl BuiltinTask for TreeTask {
    type Vocabulary = TreeVocabulary;

    fn errors(&self, truth: &Vec<u32>, y: &Vec<u32>) -> (usize, usize) {
        let labelled = truth.iter().filter(|truth| **truth != Trees::NO_LABEL).count();
        let right = truth.iter().zip(y).filter(|(t, y)| t == y).count();
        (labelled - right, labelled)
    }

    fn is_known(&self, truth: &Vec<u32>) -> bool {
        truth.iter().any(|&label| label != Trees::NO_LABEL)
    }

    fn rows<'a>(&self, x: &'a TreeInput) -> Option<&'a SparseRows> {
        Some(x.rows())
    }

    fn reference_roundoff(&self) -> f64 {
        reference::ROUNDOFF
    }

    fn reference_hinge(&self, x: &TreeInput, truth: &Vec<u32>, w: &[f64]) -> f64 {
        self.plain_hinge(x, truth, w)
    }

    fn reference_plane(
        &self,
        x: &TreeInput,
        truth: &Vec<u32>,
        code: &[u32],
        add: &mut dyn FnMut(usize, f64),
    ) -> Option<f64> {
        if code.len() != truth.len() || code.iter().any(|&label| label as usize >= self.labels) {
            return None;
        }
        self.plain_features(x, code, 1.0, add);
        self.plain_features(x, truth, -1.0, add);
        Some(self.costs.loss(truth, code))
    }

    fn weight_tables(&self) -> Vec<WeightTable> {
        tables(self.labels, self.features, Axis::numbers("type", self.types))
    }

    fn to_file_layout(&self, w: &[f64]) -> Vec<f64> {
        self.transposed(w, self.labels)
    }

    fn from_file_layout(&self, w: &[f64]) -> Vec<f64> {
        self.transposed(w, self.features)
    }

    fn label_report(&self, vocabulary: &TreeVocabulary) -> Option<LabelReport> {
        Some(LabelReport::new(vocabulary.labels.iter().chain(&vocabulary.unseen).cloned().collect()))
    }

    fn variables<'a>(&self, y: &'a Vec<u32>) -> Option<&'a [u32]> {
        Some(y)
    }

    fn label_count(&self, _: &TreeInput, _: usize) -> usize {
        self.labels
    }

    fn neighbours(&self, _: &TreeInput, y: &Vec<u32>, most: usize, rng: &mut Rng) -> Vec<Vec<u32>> {
        one_changed(y, |_| self.labels, most, rng)
    }

    fn fits(&self, x: &TreeInput, y: &Vec<u32>) -> bool {
        x.nodes() == y.len()
    }

    /// A JSON list of names, as the labels of the format are JSON; nodes without a label are `null`.
    fn show(&self, y: &Vec<u32>, vocabulary: &TreeVocabulary) -> String {
        let names: Vec<Option<&str>> = y.iter().map(|&label| vocabulary.label(label)).collect();
        serde_json::to_string(&names).unwrap_or_default()
    }
}

impl TreeTask {
    /// The weights with all tables the other way round; `columns` are those of the unary one.
    fn transposed(&self, w: &[f64], columns: usize) -> Vec<f64> {
        let (unary, pairs) = w.split_at(self.pair_start());
        let mut out = Vec::with_capacity(w.len());
        let mut turn = |matrix: &[f64], columns: usize| {
            (0..columns).for_each(|column| out.extend(matrix[column..].iter().step_by(columns)));
        };
        turn(unary, columns);
        pairs.chunks_exact(self.labels * self.labels).for_each(|table| turn(table, self.labels));
        out
    }
}
