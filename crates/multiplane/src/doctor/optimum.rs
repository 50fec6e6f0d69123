//! Are answers the best? Each is held against all labellings of its example that were seen; where one scores higher,
//! the mistake is sought that explains all answers.

use super::finding::Kind;
use super::questions::question;
use super::score::explain_scores;
use super::ward::{Answer, Seen, Ward};
use super::weights::Weights;
use super::{Claim, Patient};

/// Rounding that is forgiven, in parts of the numbers that were added up: single precision passes.
const ROUNDING: f64 = 1e-6;

/// Lapses from which on a systematic cause is believed.
pub(super) const FEW: usize = 3;

/// An answer that another labelling beats.
pub(super) struct Lapse<'a> {
    pub(super) answer: &'a Answer,
    /// Place of the better labelling.
    pub(super) better: usize,
}

/// What rounding can amount to in comparing two scores.
pub(super) fn tolerance<L>(one: &Seen<L>, other: &Seen<L>, w: &[f64]) -> f64 {
    let sizes = one.features.magnitude(w) + other.features.magnitude(w) + one.loss.abs() + other.loss.abs();
    ROUNDING * sizes + f64::MIN_POSITIVE
}

/// Judges all answers.
pub(super) fn judge<P: Patient + ?Sized>(ward: &mut Ward<'_, P>, weights: &[Weights], answers: &[Answer]) {
    let mut lapses = Vec::new();
    for answer in answers {
        let w = &weights[answer.at].w;
        let seen = &ward.beds[answer.bed].seen;
        let score = |place: usize| seen[place].score(w, answer.augmented);
        let better = (0..seen.len()).fold(answer.chosen, |best, k| if score(k) > score(best) { k } else { best });
        let tolerance = tolerance(&seen[answer.chosen], &seen[better], w);
        match answer.claim {
            Claim::UpperBound(bound) => {
                let best = score(better);
                if !bound.is_finite() || best > bound + tolerance {
                    unsound(ward, answer, better, bound, best, &weights[answer.at]);
                }
            }
            _ if score(better) > score(answer.chosen) + tolerance => lapses.push(Lapse { answer, better }),
            _ => {}
        }
    }
    let (augmented, plain): (Vec<_>, Vec<_>) = lapses.into_iter().partition(|lapse| lapse.answer.augmented);
    let erratic = ward.notes.has(Kind::NonDeterministic);
    let all: Vec<&Lapse<'_>> = plain.iter().chain(&augmented).collect();
    let hidden = all.iter().all(|lapse| lapse.better == 0) && answers.iter().all(|answer| answer.chosen != 0);
    let explained = match plain.is_empty() {
        _ if erratic || hidden => None,
        true => explain_losses(ward, weights, answers, &augmented),
        false => explain_scores(ward, weights, answers, &plain),
    };
    let strict = |lapse: &&&Lapse<'_>| lapse.answer.claim != Claim::Heuristic;
    let shown = if explained.is_some() { all.first() } else { all.iter().find(strict) };
    let Some(shown) = shown else { return };
    let (kind, cause) = explained.unwrap_or_else(|| (Kind::SubOptimal, search_fault(ward, &all, hidden)));
    report(ward, weights, shown, kind, cause);
    ward.notes.count(kind, all.len());
}

fn unsound<P: Patient + ?Sized>(
    ward: &mut Ward<'_, P>,
    answer: &Answer,
    better: usize,
    bound: f64,
    best: f64,
    weights: &Weights,
) {
    let bed = &ward.beds[answer.bed];
    let (example, shown, from) = (bed.example, ward.patient.show(&bed.seen[better].label), bed.seen[better].origin);
    ward.notes.add(Kind::UnsoundBound, example, || {
        let question = question(answer.augmented);
        let message = format!(
            "example {example}, {question} at {}: the declared upper bound is {bound}, but {shown} ({}) scores {best}",
            weights.name,
            from.text()
        );
        (
            message,
            "the bound is that of the answer or of part of the score, leaves the loss out, or is divided by n".into(),
        )
    });
}

/// The cause where nothing systematic was found; `hidden` if the truth alone was better, and never returned.
fn search_fault<P: Patient + ?Sized>(ward: &Ward<'_, P>, lapses: &[&Lapse<'_>], hidden: bool) -> String {
    let undeclared = lapses.iter().any(|lapse| lapse.answer.claim == Claim::Undeclared);
    let advice =
        if undeclared { "; if that is meant, declare the quality `heuristic` or give upper bounds" } else { "" };
    if hidden && lapses.len() >= FEW {
        return format!("decode never returns the truth: the search leaves it out{advice}");
    }
    let presumed = |lapse: &&Lapse<'_>| {
        let seen = &ward.beds[lapse.answer.bed].seen[lapse.better];
        matches!(seen.origin, super::ward::Origin::Near | super::ward::Origin::Other)
    };
    if lapses.iter().all(presumed) {
        return format!("the search is not exact, or the better labelling is one that is not allowed{advice}");
    }
    format!(
        "the search is not exact (it stops early, prunes too much, or has a fault at some inputs), or decode maximises \
         another score than that of features and loss (a term missing, an index off by one, another loss){advice}"
    )
}

fn report<P: Patient + ?Sized>(
    ward: &mut Ward<'_, P>,
    weights: &[Weights],
    lapse: &Lapse<'_>,
    kind: Kind,
    cause: String,
) {
    let (answer, weights) = (lapse.answer, &weights[lapse.answer.at]);
    let bed = &ward.beds[answer.bed];
    let parts = |seen: &Seen<P::Label>| {
        let score = seen.score(&weights.w, false);
        if answer.augmented { format!("{score:.6} + loss {:.6}", seen.loss) } else { format!("{score:.6}") }
    };
    let (found, better) = (&bed.seen[answer.chosen], &bed.seen[lapse.better]);
    let (example, from) = (bed.example, better.origin.text());
    let texts = [parts(found), parts(better)];
    let shown = [found, better].map(|seen| ward.patient.show(&seen.label));
    ward.notes.add(kind, example, || {
        let question = question(answer.augmented);
        let message = format!(
            "example {example}, {question} at {}: decode returned {} (score {}), but {} ({from}) scores {}",
            weights.name, shown[0], texts[0], shown[1], texts[1]
        );
        (message, cause)
    });
}

/// Which factors c on the loss explain an answer: `score + c loss` of it is the greatest.
fn factors<P: Patient + ?Sized>(ward: &Ward<'_, P>, w: &[f64], answer: &Answer) -> (f64, f64) {
    let seen = &ward.beds[answer.bed].seen;
    let chosen = &seen[answer.chosen];
    let (mut from, mut to) = (f64::NEG_INFINITY, f64::INFINITY);
    for other in seen {
        let score = chosen.score(w, false) - other.score(w, false) + tolerance(chosen, other, w);
        let loss = chosen.loss - other.loss;
        if loss > 0.0 {
            from = from.max(-score / loss);
        } else if loss < 0.0 {
            to = to.min(score / -loss);
        } else if score < 0.0 {
            return (f64::INFINITY, f64::NEG_INFINITY);
        }
    }
    (from, to)
}

/// Answers without the loss are right, some with it are not: is another factor on the loss the reason?
fn explain_losses<P: Patient + ?Sized>(
    ward: &Ward<'_, P>,
    weights: &[Weights],
    answers: &[Answer],
    lapses: &[Lapse<'_>],
) -> Option<(Kind, String)> {
    if lapses.len() < FEW.min(ward.beds.len() + 1) {
        return None;
    }
    let augmented = answers.iter().filter(|answer| answer.augmented);
    let range = |(from, to): (f64, f64), answer: &Answer| {
        let own = factors(ward, &weights[answer.at].w, answer);
        (from.max(own.0), to.min(own.1))
    };
    let (from, to) = augmented.clone().fold((f64::NEG_INFINITY, f64::INFINITY), range);
    let cause = if from <= 0.0 && 0.0 <= to {
        "the loss is left out: the answers are those of decoding without it".to_string()
    } else if to < 0.0 && from <= to {
        "the loss is subtracted instead of added".to_string()
    } else if from <= to {
        format!("the loss is added with another factor than 1, between {from:.4} and {to:.4}")
    } else {
        let own = |bed: usize| {
            let answers = augmented.clone().filter(|answer| answer.bed == bed);
            answers.fold((f64::NEG_INFINITY, f64::INFINITY), range)
        };
        let each = (0..ward.beds.len()).all(|bed| own(bed).0 <= own(bed).1);
        if !each || 2 * lapses.len() < augmented.clone().count() {
            return None;
        }
        "the loss that decode adds differs from the task's by a factor of its own for each example: divided by the length in one place only?"
            .to_string()
    };
    Some((Kind::LossIgnored, cause))
}
