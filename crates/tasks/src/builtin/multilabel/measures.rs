//! Measures of sets besides loss and accuracy: Hamming loss, and F1 by example, over all labels, and by label.
//!
//! If neither the truth nor the answer has anything, F1 is 1, as scikit-learn's with `zero_division=1`.

use crate::losses::UNSEEN;
use crate::metrics::{Counts, Evaluation, EvaluationMetric, Measure};

/// F1 of sizes: in both, in the truth, in the answer.
fn f1(common: f64, truth: f64, answer: f64) -> f64 {
    if truth + answer == 0.0 { 1.0 } else { 2.0 * common / (truth + answer) }
}

/// Sizes of intersection, truth and answer. A label that training never saw is in the truth alone.
fn sizes(truth: &[u32], answer: &[u32]) -> [f64; 3] {
    let count = |holds: &dyn Fn(usize) -> bool| (0..truth.len()).filter(|&k| holds(k)).count() as f64;
    let given = |k: usize| answer.get(k) == Some(&1);
    [count(&|k| truth[k] == 1 && given(k)), count(&|k| truth[k] != 0), count(&given)]
}

/// Returns all measures of sets of `labels` labels.
pub(super) fn all(labels: usize) -> Vec<Box<dyn Measure<Vec<u32>>>> {
    let mut measures: Vec<Box<dyn Measure<Vec<u32>>>> = vec![Box::new(Hamming), Box::new(ExampleF1), Box::new(MicroF1)];
    measures.extend((0..labels).map(|label| Box::new(OneLabel { label, labels }) as _));
    measures
}

/// Share of labels that are wrong.
struct Hamming;

impl Measure<Vec<u32>> for Hamming {
    fn count(&self, truth: &Vec<u32>, answer: &Vec<u32>) -> Counts {
        let right = truth.iter().zip(answer).filter(|(t, y)| t == y).count();
        [(truth.len() - right) as f64, truth.len() as f64, 0.0, 0.0]
    }

    fn report(&self, [wrong, labels, ..]: &Counts, evaluation: &mut Evaluation) {
        evaluation.metrics.push((EvaluationMetric::share("hamming"), wrong / labels));
        evaluation.lines.push(("Hamming loss", format!("{:.4}", wrong / labels)));
    }
}

/// Mean over the examples of the F1 of their labels.
struct ExampleF1;

impl Measure<Vec<u32>> for ExampleF1 {
    fn count(&self, truth: &Vec<u32>, answer: &Vec<u32>) -> Counts {
        let [common, truth, answer] = sizes(truth, answer);
        [f1(common, truth, answer), 1.0, 0.0, 0.0]
    }

    fn report(&self, [sum, examples, ..]: &Counts, evaluation: &mut Evaluation) {
        evaluation.metrics.push((EvaluationMetric::share("example_f1"), sum / examples));
        evaluation.lines.push(("F1 by example", percent(sum / examples)));
    }
}

/// F1 of all labels of all examples together.
struct MicroF1;

impl Measure<Vec<u32>> for MicroF1 {
    fn count(&self, truth: &Vec<u32>, answer: &Vec<u32>) -> Counts {
        let [common, truth, answer] = sizes(truth, answer);
        [common, truth, answer, 0.0]
    }

    fn report(&self, &[common, truth, answer, _]: &Counts, evaluation: &mut Evaluation) {
        let found = f1(common, truth, answer);
        evaluation.metrics.push((EvaluationMetric::share("micro_f1"), found));
        evaluation.lines.push(("F1 of all labels", percent(found)));
    }
}

/// F1 of one label, which goes into the mean over the labels.
struct OneLabel {
    label: usize,
    labels: usize,
}

impl Measure<Vec<u32>> for OneLabel {
    fn count(&self, truth: &Vec<u32>, answer: &Vec<u32>) -> Counts {
        let [truth, answer] = [truth[self.label] != 0, answer[self.label] != 0].map(|has| f64::from(u8::from(has)));
        [truth * answer, truth, answer, 0.0]
    }

    fn report(&self, &[common, truth, answer, _]: &Counts, evaluation: &mut Evaluation) {
        if self.label == 0 {
            evaluation.metrics.push((EvaluationMetric::share("macro_f1"), 0.0));
        }
        let Some((_, mean)) = evaluation.metrics.last_mut() else { return };
        *mean += f1(common, truth, answer) / self.labels as f64;
        if self.label + 1 == self.labels {
            let mean = *mean;
            evaluation.lines.push(("F1 by label", percent(mean)));
        }
    }
}

fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

/// Counts wrong labels and labels in all.
pub(super) fn errors(truth: &[u32], answer: &[u32]) -> (usize, usize) {
    let unseen = truth.iter().filter(|&&t| t == UNSEEN).count();
    (truth.iter().zip(answer).filter(|(t, y)| t != y).count() + unseen, truth.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All measures by hand: an answer that is right, one in part, an empty one for nothing, a label never seen.
    #[test]
    fn measures_by_hand() {
        let cases: [(&[u32], &[u32]); 4] = [
            (&[1, 0, 1], &[1, 0, 1]),
            (&[1, 1, 0], &[0, 1, 1]),
            (&[0, 0, 0], &[0, 0, 0]),
            (&[0, 0, 0, UNSEEN], &[1, 0, 0]),
        ];
        let mut evaluation = Evaluation::default();
        for measure in all(3) {
            let mut sums = Counts::default();
            for (truth, answer) in cases {
                let counts = measure.count(&truth.to_vec(), &answer.to_vec());
                sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
            }
            measure.report(&sums, &mut evaluation);
        }
        let expected = [
            ("hamming", 4.0 / 13.0),
            ("example_f1", (1.0 + 0.5 + 1.0 + 0.0) / 4.0),
            ("micro_f1", 2.0 * 3.0 / (5.0 + 5.0)),
            ("macro_f1", (0.5 + 1.0 + 2.0 / 3.0) / 3.0),
        ];
        for (name, value) in expected {
            let found = evaluation.get(name).unwrap();
            assert!((found - value).abs() < 1e-15, "{name}: {found}, expected {value}");
        }
        assert_eq!((evaluation.metrics.len(), evaluation.lines.len()), (4, 4));
        assert_eq!(errors(cases[3].0, cases[3].1), (2, 4));
    }
}
