//! Precision, recall and average precision of ranked boxes, as PASCAL VOC counts them since 2010 (Everingham et al.).

use multiplane_core::oracle::OracleError;
use multiplane_infer::boxes::Rect;
use serde_json::{Value, json};

use super::{Problem, TopPrediction};
use crate::metrics::{Evaluation, EvaluationMetric};

/// The overlap, intersection / union, from which on a box is right, exclusive.
const RIGHT: f64 = 0.5;

/// Steps of the curve of overlap and recall.
const STEPS: usize = 20;

/// The boxes that were listed of all images, against those that are right.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Detections {
    /// The score of each listed box, and true if it is the first that is right about its nearest right box.
    listed: Vec<(f64, bool)>,
    /// The largest overlap of each right box with a listed one.
    overlaps: Vec<f64>,
}

/// The boxes of numbers: left, top, right, bottom of each; of "no box" nothing.
fn boxes(numbers: &[u32]) -> impl Iterator<Item = Rect> + '_ {
    let rects = numbers.as_chunks().0.iter().map(|&[left, top, right, bottom]| Rect::new(left, top, right, bottom));
    rects.filter(|rect| !rect.is_empty())
}

impl Detections {
    /// Lists the `count` best boxes of every image, and compares them with the right ones.
    ///
    /// # Errors
    ///
    /// The task lists none, or there is no answer for an example.
    pub fn of(problem: &dyn Problem, w: &[f64], count: usize, threads: usize) -> Result<Self, OracleError> {
        let mut detections = Detections::default();
        problem.predictor().predict_top(w, count, threads, &mut |found| detections.add(&found))?;
        Ok(detections)
    }

    /// Adds the boxes of an image; nothing if its right boxes are not known.
    pub fn add(&mut self, found: &TopPrediction) {
        let Some(truth) = &found.truth else { return };
        let right: Vec<Rect> = boxes(truth).collect();
        let (mut taken, mut best) = (vec![false; right.len()], vec![0.0_f64; right.len()]);
        for (score, rect) in found.labellings.iter().flat_map(|one| boxes(&one.numbers).map(|rect| (one.score, rect))) {
            let overlaps: Vec<f64> = right.iter().map(|right| right.overlap(rect)).collect();
            best.iter_mut().zip(&overlaps).for_each(|(best, overlap)| *best = best.max(*overlap));
            let nearest = (0..right.len()).rev().max_by(|&a, &b| overlaps[a].total_cmp(&overlaps[b]));
            let nearest = nearest.filter(|&nearest| overlaps[nearest] > RIGHT);
            self.listed.push((score, nearest.is_some_and(|nearest| !std::mem::replace(&mut taken[nearest], true))));
        }
        self.overlaps.extend(best);
    }

    /// Returns recall and precision of the boxes of the highest scores, from one box on.
    pub fn curve(&self) -> Vec<[f64; 2]> {
        let mut ranked = self.listed.clone();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut right = 0.0;
        let point = |(k, (_, is_right)): (usize, &(f64, bool))| {
            right += f64::from(u8::from(*is_right));
            [right / self.overlaps.len() as f64, right / (k + 1) as f64]
        };
        ranked.iter().enumerate().map(point).collect()
    }

    /// Returns the area under the curve of recall and the largest precision at this recall or a higher one; none if no
    /// box is right.
    pub fn average_precision(&self) -> Option<f64> {
        let curve = self.curve();
        let (mut most, mut area) = (0.0_f64, 0.0);
        for (k, &[recall, precision]) in curve.iter().enumerate().rev() {
            most = most.max(precision);
            area += most * (recall - if k == 0 { 0.0 } else { curve[k - 1][0] });
        }
        (!self.overlaps.is_empty()).then_some(area)
    }

    /// Returns the share of right boxes that a listed one overlaps by more than `overlap`; none if no box is right.
    pub fn recall(&self, overlap: f64) -> Option<f64> {
        let found = self.overlaps.iter().filter(|&&found| found > overlap).count();
        (!self.overlaps.is_empty()).then(|| found as f64 / self.overlaps.len() as f64)
    }

    /// Returns the area under the curve of overlap and recall: the mean of the largest overlaps.
    pub fn area(&self) -> Option<f64> {
        (!self.overlaps.is_empty()).then(|| self.overlaps.iter().sum::<f64>() / self.overlaps.len() as f64)
    }

    /// Adds the figures to an evaluation.
    pub fn report(&self, evaluation: &mut Evaluation) {
        let figures = [
            ("average_precision", "average precision", self.average_precision()),
            ("area", "overlap-recall area", self.area()),
        ];
        for (name, line, value) in figures.into_iter().filter_map(|(name, line, value)| Some((name, line, value?))) {
            evaluation.metrics.push((EvaluationMetric::share(name), value));
            evaluation.lines.push((line, format!("{:.2} %", 100.0 * value)));
        }
    }

    /// Returns the curves as an object: `listed` and `right` boxes, `recall` and `precision` by rank, `overlap_recall`
    /// at the overlaps 0, 0.05, ... 1.
    pub fn json(&self) -> Value {
        let curve = self.curve();
        let of = |side: usize| curve.iter().map(|point| point[side]).collect::<Vec<f64>>();
        let recalls: Vec<_> = (0..=STEPS).map(|k| self.recall(k as f64 / STEPS as f64)).collect();
        json!({ "listed": self.listed.len(), "right": self.overlaps.len(), "recall": of(0), "precision": of(1),
            "overlap_recall": recalls })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::ScoredLabelling;

    fn found(truth: &[[u32; 4]], listed: &[(f64, [u32; 4])]) -> TopPrediction {
        let one = |(score, sides): &(f64, [u32; 4])| ScoredLabelling {
            text: String::new(),
            numbers: sides.to_vec(),
            score: *score,
        };
        TopPrediction {
            labellings: listed.iter().map(one).collect(),
            exact: true,
            truth: Some(truth.iter().flatten().copied().collect()),
        }
    }

    /// Two images with three right boxes by hand: a second box on the same object is wrong, as VOC's kit counts it, and
    /// "no box" is none.
    #[test]
    fn voc_by_hand() {
        let mut all = Detections::default();
        let (one, other) = ([0, 0, 10, 10], [20, 0, 30, 10]);
        all.add(&found(&[one, other], &[(3.0, one), (2.0, [0, 0, 10, 9]), (0.5, [20, 0, 30, 8])]));
        all.add(&found(&[one], &[(2.5, [0, 0, 10, 5]), (1.0, [0; 4])])); // half is not more than half
        let third = 1.0 / 3.0;
        assert_eq!(all.curve(), [[third, 1.0], [third, 0.5], [third, third], [2.0 * third, 0.5]]);
        assert!((all.average_precision().unwrap() - (third + 0.5 * third)).abs() < 1e-15);
        assert_eq!([0.0, 0.5, 0.8, 1.0].map(|overlap| all.recall(overlap).unwrap()), [1.0, 2.0 * third, third, 0.0]);
        assert!((all.area().unwrap() - (1.0 + 0.8 + 0.5) / 3.0).abs() < 1e-15);
        let mut evaluation = Evaluation::default();
        all.report(&mut evaluation);
        assert_eq!(evaluation.get("average_precision"), all.average_precision());
        let json = all.json();
        assert_eq!((&json["listed"], &json["right"]), (&json!(4), &json!(3)));
        assert_eq!((&json["overlap_recall"][10], &json["precision"][3]), (&json!(2.0 * third), &json!(0.5)));
    }

    /// Without a right box there is no recall, and images of unknown truth are left out.
    #[test]
    fn nothing_is_right() {
        let mut none = Detections::default();
        none.add(&TopPrediction { truth: None, ..found(&[], &[(1.0, [0, 0, 1, 1])]) });
        assert_eq!((none.average_precision(), none.area(), none.curve().len()), (None, None, 0));
        none.add(&found(&[], &[(1.0, [0, 0, 1, 1])]));
        assert_eq!((none.average_precision(), none.recall(0.5), none.curve().len()), (None, None, 1));
    }
}
