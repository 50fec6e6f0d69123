//! Which mistake explains answers that are wrong without any loss: does decoding maximise another score?

use multiplane_core::oracle::Quality;
use multiplane_tasks::probe::Probe;

use super::coordinates::wrong_coordinates;
use super::examination::{DecodedAnswer, Examination, FEW, KnownLabelling, Violation, tolerance};
use super::finding::Kind;
use super::weights::NamedWeights;

/// Labellings of an example up to which no search is needed that could be at fault.
const ENUMERABLE: usize = 8;

/// Share of wrong answers from which on, among so few labellings, the score is to blame.
const OFTEN: f64 = 0.4;

/// Another score that decoding may maximise.
type Score<'a, L> = &'a dyn Fn(&KnownLabelling<L>, &[f64]) -> f64;

/// Returns the kind of fault and its cause, where one explains the answers.
pub(super) fn explain_scores<P: Probe + ?Sized>(
    exam: &mut Examination<'_, P>,
    weights: &[NamedWeights],
    answers: &[DecodedAnswer],
    violations: &[Violation<'_>],
) -> Option<(Kind, String)> {
    let informative: Vec<&DecodedAnswer> =
        answers.iter().filter(|answer| !answer.augmented && is_informative(exam, weights, answer)).collect();
    if informative.len() >= FEW {
        let explains = |score: Score<'_, P::Label>| {
            informative.iter().all(|answer| is_best(exam, &weights[answer.at].w, answer, score))
        };
        if explains(&|seen, w| -seen.score(w, false)) {
            return Some((Kind::ScoreMismatch, "a sign: decode returns the labelling with the lowest score".into()));
        }
        for (by, word) in [(1, "after"), (-1, "before")] {
            if explains(&|seen, w| seen.features.shifted_score(w, by)) {
                let cause = format!("off by one: decode takes the weight {word} the one that features name");
                return Some((Kind::ScoreMismatch, cause));
            }
        }
        if explains(&|seen, w| seen.score(w, true)) {
            return Some((Kind::LossIgnored, "the loss is added even where no truth is given".into()));
        }
    }
    if violations.iter().all(|violation| violation.answer.claim == Some(Quality::Heuristic)) {
        return None;
    }
    if let Some(cause) = wrong_coordinates(exam, weights, violations) {
        return Some((Kind::ScoreMismatch, cause));
    }
    let few = exam.records.iter().all(|record| record.labellings.len() <= ENUMERABLE);
    let often = violations.len() as f64 > OFTEN * informative.len() as f64;
    (few && often && violations.len() >= FEW).then(|| {
        let cause = "with so few labellings no search can miss the best: decode maximises another score than that of \
                     the features (a term is missing, counted twice, or has another sign)";
        (Kind::ScoreMismatch, cause.into())
    })
}

/// Returns true if scores of the example's labellings differ at all.
fn is_informative<P: Probe + ?Sized>(
    exam: &Examination<'_, P>,
    weights: &[NamedWeights],
    answer: &DecodedAnswer,
) -> bool {
    let (w, record) = (&weights[answer.at].w, &exam.records[answer.record]);
    let first = &record.labellings[answer.chosen];
    let mut rivals = record.rivals(answer.chosen);
    rivals.any(|(_, other)| (other.score(w, false) - first.score(w, false)).abs() > tolerance(first, other, w))
}

/// Returns true if the answer is the best by another score.
fn is_best<P: Probe + ?Sized>(
    exam: &Examination<'_, P>,
    w: &[f64],
    answer: &DecodedAnswer,
    score: Score<'_, P::Label>,
) -> bool {
    let record = &exam.records[answer.record];
    let chosen = &record.labellings[answer.chosen];
    record.rivals(answer.chosen).all(|(_, other)| score(other, w) <= score(chosen, w) + tolerance(chosen, other, w))
}
