//! Measures of boxes besides the loss.

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
