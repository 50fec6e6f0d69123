//! What the chain is beside training: errors counted, layouts of files, labels as text, and the slow code of `verify`.

use multiplane_core::rng::Rng;

use crate::builtin::chain::layout::{Chain, tables};
use crate::builtin::neighbours::one_changed;
use crate::builtin::pairwise::UNLABELLED;
use crate::builtin::sequences::SequenceVocabulary;
use crate::builtin::task::BuiltinTask;
use crate::data::SparseRows;
use crate::metrics::{ChunkTags, LabelReport, Measure};
use crate::problem::tables::WeightTable;
use crate::reference::{self, ChainWeights};

impl BuiltinTask for Chain {
    type Vocabulary = SequenceVocabulary;

    fn errors(&self, truth: &Vec<u32>, y: &Vec<u32>) -> (usize, usize) {
        (truth.iter().zip(y).filter(|(t, y)| t != y).count(), truth.len())
    }

    /// A sequence has all its labels or none.
    fn is_known(&self, truth: &Vec<u32>) -> bool {
        !truth.contains(&UNLABELLED)
    }

    fn has_hinge(&self, _: &SparseRows, truth: &Vec<u32>) -> bool {
        truth.iter().all(|&label| (label as usize) < self.labels)
    }

    fn rows<'a>(&self, x: &'a SparseRows) -> Option<&'a SparseRows> {
        Some(x)
    }

    fn reference_roundoff(&self) -> f64 {
        reference::ROUNDOFF
    }

    fn reference_hinge(&self, x: &SparseRows, truth: &Vec<u32>, w: &[f64]) -> f64 {
        let weights = ChainWeights { labels: self.labels, features: self.features, w, ends: self.ends };
        let factor = self.costs.factor(truth.len());
        weights.hinge(x, truth, |t, label| factor * self.costs.row(truth[t])[label])
    }

    fn reference_plane(
        &self,
        x: &SparseRows,
        truth: &Vec<u32>,
        code: &[u32],
        add: &mut dyn FnMut(usize, f64),
    ) -> Option<f64> {
        if code.len() != truth.len() || code.iter().any(|&label| label as usize >= self.labels) {
            return None;
        }
        let layout = reference::ChainLayout { labels: self.labels, features: self.features, ends: self.ends };
        layout.features(x, code, 1.0, add);
        layout.features(x, truth, -1.0, add);
        Some(self.costs.loss(truth, code))
    }

    fn weight_tables(&self) -> Vec<WeightTable> {
        tables(self.labels, self.features, self.ends)
    }

    fn to_file_layout(&self, w: &[f64]) -> Vec<f64> {
        let (unary, rest) = w.split_at(self.pair_start());
        [&transposed(unary, self.labels)[..], rest].concat()
    }

    fn from_file_layout(&self, w: &[f64]) -> Vec<f64> {
        let (unary, rest) = w.split_at(self.pair_start());
        [&transposed(unary, self.features)[..], rest].concat()
    }

    fn measures(&self, vocabulary: &SequenceVocabulary) -> Vec<Box<dyn Measure<Vec<u32>>>> {
        let names = vocabulary.labels.iter().chain(&vocabulary.unseen).map(String::as_str);
        ChunkTags::new(names).map(|tags| Box::new(tags) as _).into_iter().collect()
    }

    fn label_report(&self, vocabulary: &SequenceVocabulary) -> Option<LabelReport> {
        Some(LabelReport::new(vocabulary.labels.iter().chain(&vocabulary.unseen).cloned().collect()))
    }

    fn variables<'a>(&self, y: &'a Vec<u32>) -> Option<&'a [u32]> {
        Some(y)
    }

    fn label_count(&self, _: &SparseRows, _: usize) -> usize {
        self.labels
    }

    fn neighbours(&self, _: &SparseRows, y: &Vec<u32>, most: usize, rng: &mut Rng) -> Vec<Vec<u32>> {
        one_changed(y, |_| self.labels, most, rng)
    }

    fn fits(&self, x: &SparseRows, y: &Vec<u32>) -> bool {
        x.len() == y.len()
    }

    /// Letters make words; other labels are divided by spaces.
    fn show(&self, y: &Vec<u32>, vocabulary: &SequenceVocabulary) -> String {
        let is_letter = |name: &String| matches!(name.as_bytes(), [b'a'..=b'z']);
        let spelled = vocabulary.dictionary.is_none() && vocabulary.labels.iter().all(is_letter);
        let names: Vec<&str> = y.iter().map(|&label| vocabulary.label(label)).collect();
        names.join(if spelled { "" } else { " " })
    }
}

/// The transpose of a row-major matrix of `columns` columns.
fn transposed(matrix: &[f64], columns: usize) -> Vec<f64> {
    let mut transposed = Vec::with_capacity(matrix.len());
    for column in 0..columns {
        transposed.extend(matrix[column..].iter().step_by(columns));
    }
    transposed
}
