//! Measures of boxes besides the loss: of the one that is answered, and of a ranked list (PASCAL VOC).

use super::boxed::Boxed;
use crate::metrics::{Counts, Evaluation, EvaluationMetric, Measure};

/// The overlap from which on a box counts as found, exclusive (PASCAL VOC).
pub(super) const FOUND: f64 = 0.5;

/// The mean overlap with the right box, which is the area under the curve of overlap and recall; and the share of boxes
/// that are found.
pub(super) struct Overlaps;

impl Measure<Boxed> for Overlaps {
    fn count(&self, truth: &Boxed, answer: &Boxed) -> Counts {
        let overlap = truth.overlap(answer);
        [overlap, f64::from(u8::from(overlap > FOUND)), 1.0, 0.0]
    }

    fn report(&self, &[overlap, found, images, _]: &Counts, evaluation: &mut Evaluation) {
        for (name, line, sum) in [("overlap", "mean overlap", overlap), ("found", "overlap above 1/2", found)] {
            evaluation.metrics.push((EvaluationMetric::share(name), sum / images));
            evaluation.lines.push((line, format!("{:.2} %", 100.0 * sum / images)));
        }
    }
}

/// Precision and recall of the boxes that are answered, at most one for an image.
pub(super) struct Answered;

impl Measure<Boxed> for Answered {
    fn count(&self, truth: &Boxed, answer: &Boxed) -> Counts {
        let (right, answered) = (truth.boxes().len() as f64, answer.boxes().len() as f64);
        let is_right = !answer.boxes().is_empty() && truth.overlap(answer) > FOUND;
        [f64::from(u8::from(is_right)), answered, right, 0.0]
    }

    fn report(&self, &[right, answered, truths, _]: &Counts, evaluation: &mut Evaluation) {
        for (name, whole) in [("precision", answered), ("recall", truths)] {
            let share = if whole == 0.0 { 1.0 } else { right / whole };
            evaluation.metrics.push((EvaluationMetric::share(name), share));
        }
    }
}
