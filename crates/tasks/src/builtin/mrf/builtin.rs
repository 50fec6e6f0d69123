//! What pairwise models are beside training: errors counted, labels as text, neighbours, and the slow code of `verify`.

use multiplane_core::rng::Rng;

use super::input::MrfInput;
use super::layout::{MrfTask, tables};
use super::reading::MrfVocabulary;
use super::reference;
use crate::builtin::pairwise::{Labelling, UNLABELLED, WeightedAccuracy};
use crate::builtin::task::BuiltinTask;
use crate::metrics::Measure;
use crate::problem::tables::WeightTable;

impl BuiltinTask for MrfTask {
    type Vocabulary = MrfVocabulary;

    fn errors(&self, truth: &Labelling, y: &Labelling) -> (usize, usize) {
        truth.count_errors(y)
    }

    fn is_known(&self, truth: &Labelling) -> bool {
        truth.is_known()
    }

    fn compete(&self, one: &Labelling, other: &Labelling) -> bool {
        one.is_of_part(other)
    }

    fn measures(&self, _: &MrfVocabulary) -> Vec<Box<dyn Measure<Labelling>>> {
        vec![Box::new(WeightedAccuracy)]
    }

    fn variables<'a>(&self, y: &'a Labelling) -> Option<&'a [u32]> {
        Some(&y.labels)
    }

    fn label_count(&self, x: &MrfInput, variable: usize) -> usize {
        x.labels(variable)
    }

    fn neighbours(&self, x: &MrfInput, y: &Labelling, most: usize, rng: &mut Rng) -> Vec<Labelling> {
        y.neighbours(|node| x.labels(node), most, rng)
    }

    fn fits(&self, x: &MrfInput, y: &Labelling) -> bool {
        let fits = |(node, &label): (usize, &u32)| match x.truth()[node] {
            truth if truth < 0 => label == UNLABELLED,
            _ => (label as usize) < x.labels(node),
        };
        y.labels.len() == x.nodes() && y.labels.iter().enumerate().all(fits)
    }

    fn weight_tables(&self) -> Vec<WeightTable> {
        tables(self.features)
    }

    fn show(&self, y: &Labelling, _: &MrfVocabulary) -> String {
        let label = |&label: &u32| if label == UNLABELLED { "?".into() } else { label.to_string() };
        y.labels.iter().map(label).collect::<Vec<_>>().join(" ")
    }

    fn reference_hinge(&self, x: &MrfInput, truth: &Labelling, w: &[f64]) -> f64 {
        reference::hinge(self, x, truth, w)
    }

    fn reference_plane(
        &self,
        x: &MrfInput,
        truth: &Labelling,
        code: &[u32],
        add: &mut dyn FnMut(usize, f64),
    ) -> Option<f64> {
        reference::plane(x, truth, code, add)
    }
}
