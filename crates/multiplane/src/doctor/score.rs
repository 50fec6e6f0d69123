//! Which mistake explains answers that are wrong without any loss: does decoding maximise another score?

use super::finding::Kind;
use super::optimum::{FEW, Lapse, tolerance};
use super::probe;
use super::ward::{Answer, Seen, Ward};
use super::weights::Weights;
use super::{Claim, Patient};

/// Labellings of an example up to which no search is needed that could be at fault.
const ENUMERABLE: usize = 8;

/// Share of wrong answers from which on, among so few labellings, the score is to blame.
const OFTEN: f64 = 0.4;

/// Another score that decoding may maximise.
type Score<'a, L> = &'a dyn Fn(&Seen<L>, &[f64]) -> f64;

/// The kind of fault and its cause, where one explains the answers.
pub(super) fn explain_scores<P: Patient + ?Sized>(
    ward: &mut Ward<'_, P>,
    weights: &[Weights],
    answers: &[Answer],
    lapses: &[Lapse<'_>],
) -> Option<(Kind, String)> {
    let informative: Vec<&Answer> =
        answers.iter().filter(|answer| !answer.augmented && is_informative(ward, weights, answer)).collect();
    if informative.len() >= FEW {
        let explains = |score: Score<'_, P::Label>| {
            informative.iter().all(|answer| is_best(ward, &weights[answer.at].w, answer, score))
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
    if lapses.iter().all(|lapse| lapse.answer.claim == Claim::Heuristic) {
        return None;
    }
    if let Some(cause) = probe::wrong_coordinates(ward, weights, lapses) {
        return Some((Kind::ScoreMismatch, cause));
    }
    let few = ward.beds.iter().all(|bed| bed.seen.len() <= ENUMERABLE);
    let often = lapses.len() as f64 > OFTEN * informative.len() as f64;
    (few && often && lapses.len() >= FEW).then(|| {
        let cause = "with so few labellings no search can miss the best: decode maximises another score than that of \
                     the features (a term is missing, counted twice, or has another sign)";
        (Kind::ScoreMismatch, cause.into())
    })
}

/// Whether scores of the example's labellings differ at all.
fn is_informative<P: Patient + ?Sized>(ward: &Ward<'_, P>, weights: &[Weights], answer: &Answer) -> bool {
    let (w, seen) = (&weights[answer.at].w, &ward.beds[answer.bed].seen);
    let first = &seen[0];
    seen.iter().any(|other| (other.score(w, false) - first.score(w, false)).abs() > tolerance(first, other, w))
}

/// Whether the answer is the best by another score.
fn is_best<P: Patient + ?Sized>(ward: &Ward<'_, P>, w: &[f64], answer: &Answer, score: Score<'_, P::Label>) -> bool {
    let seen = &ward.beds[answer.bed].seen;
    let chosen = &seen[answer.chosen];
    seen.iter().all(|other| score(other, w) <= score(chosen, w) + tolerance(chosen, other, w))
}
