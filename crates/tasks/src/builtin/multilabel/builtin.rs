//! Sets of labels beyond training: errors counted, labels as text, names of weights, and the slow code of `verify`.

use super::layout::{Multilabel, tables};
use super::measures;
use super::spec::MultilabelVocabulary;
use crate::builtin::task::BuiltinTask;
use crate::data::SparseRows;
use crate::metrics::{LabelReport, Measure};
use crate::problem::tables::{Axis, WeightTable};
use crate::reference::{self, AddFeature};

impl BuiltinTask for Multilabel {
    type Vocabulary = MultilabelVocabulary;

    const REFERENCE_ROUNDOFF: f64 = reference::ROUNDOFF;

    fn show(&self, y: &Vec<u32>, vocabulary: &MultilabelVocabulary) -> String {
        let name = |(k, _)| vocabulary.labels.get(k).map_or("?", String::as_str);
        y.iter().enumerate().filter(|(_, value)| **value != 0).map(name).collect::<Vec<_>>().join(",")
    }

    fn reference_hinge(&self, x: &SparseRows, truth: &Vec<u32>, w: &[f64]) -> f64 {
        self.plain_hinge(x, truth, w)
    }

    fn reference_plane(&self, x: &SparseRows, truth: &Vec<u32>, code: &[u32], add: AddFeature<'_>) -> Option<f64> {
        self.plain_plane(x, truth, code, add)
    }

    fn errors(&self, truth: &Vec<u32>, y: &Vec<u32>) -> (usize, usize) {
        measures::errors(truth, y)
    }

    fn measures(&self, vocabulary: &MultilabelVocabulary) -> Vec<Box<dyn Measure<Vec<u32>>>> {
        measures::all(vocabulary.labels.len())
    }

    fn label_report(&self, vocabulary: &MultilabelVocabulary) -> Option<LabelReport> {
        Some(LabelReport::of_sets(vocabulary.labels.clone()))
    }

    fn rows<'a>(&self, x: &'a SparseRows) -> Option<&'a SparseRows> {
        Some(x)
    }

    fn weight_tables(&self) -> Vec<WeightTable> {
        tables(self.labels(), self.features, Axis::numbers("pair", self.graph.edges().len()))
    }
}
