//! The chain beyond training: errors counted, layouts of files, labels as text, and the slow code of `verify`.

use crate::builtin::chain::layout::{Chain, tables};
use crate::builtin::pairwise::{Labelling, UNLABELLED};
use crate::builtin::sequences::SequenceVocabulary;
use crate::builtin::task::{BuiltinTask, is_code_of};
use crate::data::SparseRows;
use crate::metrics::{ChunkTags, LabelReport, Measure};
use crate::problem::tables::WeightTable;
use crate::reference::{self, AddFeature, ChainWeights};

impl BuiltinTask for Chain {
    type Vocabulary = SequenceVocabulary;

    const REFERENCE_ROUNDOFF: f64 = reference::ROUNDOFF;

    fn is_known(&self, truth: &Labelling) -> bool {
        truth.iter().any(|&label| label != UNLABELLED)
    }

    fn is_labelling_of(&self, x: &SparseRows, y: &Labelling) -> bool {
        y.len() == x.len() && !y.contains(&UNLABELLED) && self.allows(y)
    }

    fn has_hinge(&self, _: &SparseRows, truth: &Labelling) -> bool {
        self.allows(truth)
    }

    fn rows<'a>(&self, x: &'a SparseRows) -> Option<&'a SparseRows> {
        Some(x)
    }

    fn reference_hinge(&self, x: &SparseRows, truth: &Labelling, w: &[f64]) -> f64 {
        let weights = ChainWeights { labels: self.labels, features: self.features, w, ends: self.ends };
        let factors = truth.factors(&self.costs);
        let allows = |from: Option<usize>, to: Option<usize>| {
            let [from, to] = [from, to].map(|label| label.map(|label| label as u32));
            self.rule.as_ref().is_none_or(|rule| rule.allows(from, to))
        };
        weights.hinge(x, truth, |t, label| factors.at(t) * self.costs.row(truth[t])[label], allows)
    }

    fn reference_plane(&self, x: &SparseRows, truth: &Labelling, code: &[u32], add: AddFeature<'_>) -> Option<f64> {
        if !is_code_of(truth, code, self.labels) || !self.allows(code) {
            return None;
        }
        let layout = reference::ChainLayout { labels: self.labels, features: self.features, ends: self.ends };
        layout.features(x, code, 1.0, add);
        layout.features(x, truth, -1.0, add);
        Some(truth.table_loss(&self.costs, code))
    }

    fn weight_tables(&self) -> Vec<WeightTable> {
        tables(self.labels, self.features, self.ends)
    }

    fn transposed(&self) -> Vec<[usize; 2]> {
        vec![[self.features, self.labels]]
    }

    fn measures(&self, vocabulary: &SequenceVocabulary) -> Vec<Box<dyn Measure<Labelling>>> {
        let names = vocabulary.labels.iter().chain(&vocabulary.unseen).map(String::as_str);
        let lenient = ChunkTags::new(names);
        let strict = lenient.as_ref().and_then(ChunkTags::strict);
        lenient.into_iter().chain(strict).map(|tags| Box::new(tags) as _).collect()
    }

    fn label_report(&self, vocabulary: &SequenceVocabulary) -> Option<LabelReport> {
        Some(LabelReport::new(vocabulary.labels.iter().chain(&vocabulary.unseen).cloned().collect()).with_chunks())
    }

    /// Letters make words; other labels are divided by spaces.
    fn show(&self, y: &Labelling, vocabulary: &SequenceVocabulary) -> String {
        let is_letter = |name: &String| matches!(name.as_bytes(), [b'a'..=b'z']);
        let spelled = vocabulary.space.dictionary.is_none() && vocabulary.labels.iter().all(is_letter);
        let names: Vec<&str> = y.iter().map(|&label| vocabulary.label(label)).collect();
        names.join(if spelled { "" } else { " " })
    }
}
