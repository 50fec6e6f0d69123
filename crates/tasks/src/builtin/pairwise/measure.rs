//! A measure of labellings besides loss and accuracy: accuracy by the weights of nodes, such as pixels.

use super::labelling::Labelling;
use crate::metrics::{Counts, Evaluation, EvaluationMetric, Measure};

/// Share of the weights of labelled nodes that are labelled rightly.
const WEIGHTED_ACCURACY: EvaluationMetric = EvaluationMetric::share("weighted_accuracy");

/// Weighs right nodes.
pub(in crate::builtin) struct WeightedAccuracy;

impl Measure<Labelling> for WeightedAccuracy {
    fn count(&self, truth: &Labelling, answer: &Labelling) -> Counts {
        let weights = truth.judge.as_ref().map_or(&[][..], |judge| &judge.weights);
        let sum = |nodes: &mut dyn Iterator<Item = usize>| nodes.map(|node| weights[node]).sum::<f64>();
        let labelled = sum(&mut (0..weights.len()).filter(|&node| truth.is_labelled(node)));
        let wrong = if weights.is_empty() { 0.0 } else { sum(&mut truth.errors(answer)) };
        [labelled - wrong, labelled, 0.0, 0.0]
    }

    fn report(&self, sums: &Counts, evaluation: &mut Evaluation) {
        let [right, all, ..] = *sums;
        if all > 0.0 {
            evaluation.metrics.push((WEIGHTED_ACCURACY, right / all));
            evaluation.lines.push(("node weights right", format!("{:.2} %", 100.0 * right / all)));
        }
    }
}
