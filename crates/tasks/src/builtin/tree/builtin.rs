//! The tree beyond training: errors counted, layouts of files, labels as text, and the slow code of `verify`.

use multiplane_core::task::UNLABELLED;

use super::input::TreeInput;
use super::layout::{TreeTask, tables};
use super::reading::TreeVocabulary;
use crate::builtin::pairwise::Labelling;
use crate::builtin::task::{BuiltinTask, is_code_of};
use crate::data::SparseRows;
use crate::metrics::LabelReport;
use crate::problem::tables::{Axis, WeightTable};
use crate::reference::{self, AddFeature};

impl BuiltinTask for TreeTask {
    type Vocabulary = TreeVocabulary;

    const REFERENCE_ROUNDOFF: f64 = reference::ROUNDOFF;

    fn is_known(&self, truth: &Labelling) -> bool {
        truth.iter().any(|&label| label != UNLABELLED)
    }

    fn rows<'a>(&self, x: &'a TreeInput) -> Option<&'a SparseRows> {
        Some(x.rows())
    }

    fn reference_hinge(&self, x: &TreeInput, truth: &Labelling, w: &[f64]) -> f64 {
        self.plain_hinge(x, truth, w)
    }

    fn reference_plane(&self, x: &TreeInput, truth: &Labelling, code: &[u32], add: AddFeature<'_>) -> Option<f64> {
        if !is_code_of(truth, code, self.labels) {
            return None;
        }
        self.plain_features(x, code, 1.0, add);
        self.plain_features(x, truth, -1.0, add);
        Some(truth.table_loss(&self.costs, code))
    }

    fn weight_tables(&self) -> Vec<WeightTable> {
        tables(self.labels, self.features, Axis::numbers("type", self.types))
    }

    fn transposed(&self) -> Vec<[usize; 2]> {
        let pairs = std::iter::repeat_n([self.labels; 2], self.types);
        std::iter::once([self.features, self.labels]).chain(pairs).collect()
    }

    fn label_report(&self, vocabulary: &TreeVocabulary) -> Option<LabelReport> {
        Some(LabelReport::new(vocabulary.labels.iter().chain(&vocabulary.unseen).cloned().collect()))
    }

    /// A JSON list of names, as the labels of the format are JSON; nodes without a label are `null`.
    fn show(&self, y: &Labelling, vocabulary: &TreeVocabulary) -> String {
        let names: Vec<Option<&str>> = y.iter().map(|&label| vocabulary.label(label)).collect();
        serde_json::to_string(&names).unwrap_or_default()
    }
}
