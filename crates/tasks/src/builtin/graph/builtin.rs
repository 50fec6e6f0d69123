//! What graphs are beside training: errors counted, labels as text, neighbours, and the slow code of `verify`.

use multiplane_core::rng::Rng;

use super::input::GraphInput;
use super::layout::{GraphTask, tables};
use super::reading::GraphVocabulary;
use super::reference;
use crate::builtin::pairwise::{Labelling, WeightedAccuracy};
use crate::builtin::task::BuiltinTask;
use crate::losses::UNSEEN;
use crate::metrics::{LabelReport, Measure};
use crate::problem::tables::WeightTable;

impl BuiltinTask for GraphTask {
    type Vocabulary = GraphVocabulary;

    fn errors(&self, truth: &Labelling, y: &Labelling) -> (usize, usize) {
        truth.count_errors(y)
    }

    fn is_known(&self, truth: &Labelling) -> bool {
        truth.is_known()
    }

    fn compete(&self, one: &Labelling, other: &Labelling) -> bool {
        one.is_of_part(other)
    }

    fn measures(&self, _: &GraphVocabulary) -> Vec<Box<dyn Measure<Labelling>>> {
        vec![Box::new(WeightedAccuracy)]
    }

    fn has_fixed_scores(&self) -> bool {
        self.potts != 0.0
    }

    fn label_report(&self, vocabulary: &GraphVocabulary) -> Option<LabelReport> {
        Some(LabelReport::new(vocabulary.labels.clone()).with_unseen(UNSEEN))
    }

    fn variables<'a>(&self, y: &'a Labelling) -> Option<&'a [u32]> {
        Some(&y.labels)
    }

    fn label_count(&self, _: &GraphInput, _: usize) -> usize {
        self.labels
    }

    fn neighbours(&self, _: &GraphInput, y: &Labelling, most: usize, rng: &mut Rng) -> Vec<Labelling> {
        y.neighbours(|_| self.labels, most, rng)
    }

    fn fits(&self, _: &GraphInput, _: &Labelling) -> bool {
        false // which nodes have a label differs from graph to graph
    }

    fn weight_tables(&self) -> Vec<WeightTable> {
        tables((self.labels, self.features), self.edge_features, self.pairwise)
    }

    fn show(&self, y: &Labelling, vocabulary: &GraphVocabulary) -> String {
        let names: Vec<&str> = y.labels.iter().map(|&label| vocabulary.label(label)).collect();
        names.join(" ")
    }

    fn reference_roundoff(&self) -> f64 {
        crate::reference::ROUNDOFF
    }

    fn reference_hinge(&self, x: &GraphInput, truth: &Labelling, w: &[f64]) -> f64 {
        reference::hinge(self, x, truth, w)
    }

    fn reference_plane(
        &self,
        x: &GraphInput,
        truth: &Labelling,
        code: &[u32],
        add: &mut dyn FnMut(usize, f64),
    ) -> Option<f64> {
        reference::plane(self, x, truth, code, add)
    }
}
