//! The task beyond training: heads as text, attachment scores, neighbours, and the slow code of `verify`.

use multiplane_core::rng::Rng;

use super::input::Sentence;
use super::layout::{ArborescenceTask, UNKNOWN, tables};
use crate::builtin::neighbours::one_changed;
use crate::builtin::task::BuiltinTask;
use crate::builtin::tree::reading::TreeVocabulary;
use crate::data::SparseRows;
use crate::metrics::{Counts, Evaluation, EvaluationMetric, Measure};
use crate::problem::tables::WeightTable;
use crate::reference::{self, AddFeature};

impl BuiltinTask for ArborescenceTask {
    type Vocabulary = TreeVocabulary;

    const REFERENCE_ROUNDOFF: f64 = reference::ROUNDOFF;

    fn errors(&self, truth: &Vec<u32>, y: &Vec<u32>) -> (usize, usize) {
        let known = truth.iter().filter(|head| **head != UNKNOWN).count();
        let right = truth.iter().zip(y).filter(|(t, y)| t == y).count();
        (known - right.min(known), known)
    }

    fn is_known(&self, truth: &Vec<u32>) -> bool {
        !truth.contains(&UNKNOWN)
    }

    fn measures(&self, _: &TreeVocabulary) -> Vec<Box<dyn Measure<Vec<u32>>>> {
        vec![Box::new(Attachment)]
    }

    fn rows<'a>(&self, x: &'a Sentence) -> Option<&'a SparseRows> {
        Some(x.rows())
    }

    fn reference_hinge(&self, x: &Sentence, truth: &Vec<u32>, w: &[f64]) -> f64 {
        self.plain_hinge(x, truth, w)
    }

    fn reference_plane(&self, x: &Sentence, truth: &Vec<u32>, code: &[u32], add: AddFeature<'_>) -> Option<f64> {
        if code.len() != truth.len() || !self.is_tree(code) {
            return None;
        }
        self.plain_features(x, code, 1.0, add);
        self.plain_features(x, truth, -1.0, add);
        let wrong = code.iter().zip(truth).filter(|(y, t)| y != t).count();
        Some(self.cost(truth.len()) * wrong as f64)
    }

    fn weight_tables(&self) -> Vec<WeightTable> {
        tables(self.features, &self.distances)
    }

    /// Trees with one other head, and with one arc turned round.
    fn neighbours(&self, x: &Sentence, y: &Vec<u32>, most: usize, rng: &mut Rng) -> Vec<Vec<u32>> {
        let mut all = one_changed(y, |_| x.words() + 1, usize::MAX, rng);
        all.extend((0..y.len()).filter(|&word| y[word] > 0).map(|word| {
            let (head, mut turned) = (y[word] as usize - 1, y.clone());
            (turned[word], turned[head]) = (y[head], word as u32 + 1);
            turned
        }));
        all.retain(|tree| self.is_tree(tree));
        rng.shuffle(&mut all);
        all.truncate(most);
        all
    }

    /// A JSON list of parents as in the file: counted from 0, `null` where the root is the head, or nothing is known.
    fn show(&self, y: &Vec<u32>, _: &TreeVocabulary) -> String {
        let parent = |&head: &u32| if head == UNKNOWN { None } else { head.checked_sub(1) };
        serde_json::to_string(&y.iter().map(parent).collect::<Vec<_>>()).unwrap_or_default()
    }
}

/// The unlabelled attachment score: the share of words that have the right head.
struct Attachment;

impl Measure<Vec<u32>> for Attachment {
    fn count(&self, truth: &Vec<u32>, answer: &Vec<u32>) -> Counts {
        let right = truth.iter().zip(answer).filter(|(t, y)| t == y).count();
        [right as f64, truth.len() as f64, 0.0, 0.0]
    }

    fn report(&self, [right, words, ..]: &Counts, evaluation: &mut Evaluation) {
        evaluation.metrics.push((EvaluationMetric::share("uas"), right / words));
        evaluation.lines.push(("unlabelled attachment", format!("{:.2} %", 100.0 * right / words)));
    }
}
