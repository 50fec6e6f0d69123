//! A pairwise task beyond training: how its labellings are shown and measured, and the slow code of `verify`.

use super::labelling::Labelling;
use super::measure::WeightedAccuracy;
use super::reference;
use super::solver::StructureSolver;
use super::task::PairwiseTask;
use crate::builtin::task::BuiltinTask;
use crate::metrics::{LabelReport, Measure};
use crate::problem::tables::WeightTable;
use crate::reference::AddFeature;

impl<S: StructureSolver> BuiltinTask for PairwiseTask<S> {
    type Vocabulary = S::Vocabulary;

    const REFERENCE_ROUNDOFF: f64 = crate::reference::ROUNDOFF;

    fn show(&self, y: &Labelling, vocabulary: &S::Vocabulary) -> String {
        self.0.show(&y.labels, vocabulary)
    }

    fn reference_hinge(&self, x: &S::Input, truth: &Labelling, w: &[f64]) -> f64 {
        reference::hinge(self, x, truth, w)
    }

    fn reference_plane(&self, x: &S::Input, truth: &Labelling, code: &[u32], add: AddFeature<'_>) -> Option<f64> {
        reference::plane(&self.0, x, truth, code, add)
    }

    fn has_fixed_scores(&self) -> bool {
        self.0.has_fixed_scores()
    }

    fn is_known(&self, truth: &Labelling) -> bool {
        truth.labelled().next().is_some()
    }

    fn measures(&self, _: &S::Vocabulary) -> Vec<Box<dyn Measure<Labelling>>> {
        vec![Box::new(WeightedAccuracy)]
    }

    fn label_report(&self, vocabulary: &S::Vocabulary) -> Option<LabelReport> {
        self.0.label_report(vocabulary)
    }

    fn is_labelling_of(&self, x: &S::Input, y: &Labelling) -> bool {
        self.0.is_labelling_of(x, &y.labels)
    }

    fn weight_tables(&self) -> Vec<WeightTable> {
        self.0.weight_tables()
    }
}
