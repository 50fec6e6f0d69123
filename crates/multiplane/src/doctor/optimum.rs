//! Are answers the best? Each is held against all labellings of its example that were seen; where one scores higher,
//! the mistake is sought that explains all answers.

use multiplane_core::oracle::Quality;
use multiplane_tasks::probe::Probe;

use super::examination::{DecodedAnswer, Examination, FEW, KnownLabelling, LabellingOrigin, Violation, tolerance};
use super::finding::Kind;
use super::questions::question;
use super::score::explain_scores;
use super::weights::NamedWeights;

/// Judges all answers.
pub(super) fn judge<P: Probe + ?Sized>(
    exam: &mut Examination<'_, P>,
    weights: &[NamedWeights],
    answers: &[DecodedAnswer],
) {
    let mut violations = Vec::new();
    for answer in answers {
        let w = &weights[answer.at].w;
        let record = &exam.records[answer.record];
        let labellings = &record.labellings;
        let score = |place: usize| labellings[place].score(w, answer.augmented);
        let better = record.rivals(answer.chosen).map(|(place, _)| place);
        let better = better.fold(answer.chosen, |best, k| if score(k) > score(best) { k } else { best });
        let tolerance = tolerance(&labellings[answer.chosen], &labellings[better], w);
        match answer.claim {
            Some(Quality::UpperBound(bound)) => {
                let best = score(better);
                if !bound.is_finite() || best > bound + tolerance {
                    unsound(exam, answer, better, bound, best, &weights[answer.at]);
                }
            }
            _ if score(better) > score(answer.chosen) + tolerance => violations.push(Violation { answer, better }),
            _ => {}
        }
    }
    let (augmented, plain): (Vec<_>, Vec<_>) = violations.into_iter().partition(|violation| violation.answer.augmented);
    let erratic = exam.log.has(Kind::NonDeterministic);
    let all: Vec<&Violation<'_>> = plain.iter().chain(&augmented).collect();
    let hidden = all.iter().all(|violation| violation.better == 0) && answers.iter().all(|answer| answer.chosen != 0);
    let explained = match plain.is_empty() {
        _ if erratic || hidden => None,
        true => explain_losses(exam, weights, answers, &augmented),
        false => explain_scores(exam, weights, answers, &plain),
    };
    let strict = |violation: &&&Violation<'_>| violation.answer.claim != Some(Quality::Heuristic);
    let shown = if explained.is_some() { all.first() } else { all.iter().find(strict) };
    let Some(shown) = shown else { return };
    let (kind, cause) = explained.unwrap_or_else(|| (Kind::SubOptimal, search_fault(exam, &all, hidden)));
    report(exam, weights, shown, kind, cause);
    exam.log.count(kind, all.len());
}

fn unsound<P: Probe + ?Sized>(
    exam: &mut Examination<'_, P>,
    answer: &DecodedAnswer,
    better: usize,
    bound: f64,
    best: f64,
    weights: &NamedWeights,
) {
    let record = &exam.records[answer.record];
    let (example, shown, from) =
        (record.example, exam.probe.show(&record.labellings[better].label), record.labellings[better].origin);
    exam.log.add(Kind::UnsoundBound, example, || {
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
fn search_fault<P: Probe + ?Sized>(exam: &Examination<'_, P>, violations: &[&Violation<'_>], hidden: bool) -> String {
    let undeclared = violations.iter().any(|violation| violation.answer.claim.is_none());
    let advice =
        if undeclared { "; if that is meant, declare the quality `heuristic` or give upper bounds" } else { "" };
    if hidden && violations.len() >= FEW {
        return format!("decode never returns the truth: the search leaves it out{advice}");
    }
    let presumed = |violation: &&Violation<'_>| {
        let seen = &exam.records[violation.answer.record].labellings[violation.better];
        matches!(seen.origin, LabellingOrigin::Near | LabellingOrigin::Other)
    };
    if violations.iter().all(presumed) {
        return format!("the search is not exact, or the better labelling is one that is not allowed{advice}");
    }
    format!(
        "the search is not exact (it stops early, prunes too much, or has a fault at some inputs), or decode maximises \
         another score than that of features and loss (a term missing, an index off by one, another loss){advice}"
    )
}

fn report<P: Probe + ?Sized>(
    exam: &mut Examination<'_, P>,
    weights: &[NamedWeights],
    violation: &Violation<'_>,
    kind: Kind,
    cause: String,
) {
    let (answer, weights) = (violation.answer, &weights[violation.answer.at]);
    let record = &exam.records[answer.record];
    let parts = |seen: &KnownLabelling<P::Label>| {
        let score = seen.score(&weights.w, false);
        if answer.augmented { format!("{score:.6} + loss {:.6}", seen.loss) } else { format!("{score:.6}") }
    };
    let (found, better) = (&record.labellings[answer.chosen], &record.labellings[violation.better]);
    let (example, from) = (record.example, better.origin.text());
    let texts = [parts(found), parts(better)];
    let shown = [found, better].map(|labelling| exam.probe.show(&labelling.label));
    exam.log.add(kind, example, || {
        let question = question(answer.augmented);
        let message = format!(
            "example {example}, {question} at {}: decode returned {} (score {}), but {} ({from}) scores {}",
            weights.name, shown[0], texts[0], shown[1], texts[1]
        );
        (message, cause)
    });
}

/// Which factors c on the loss explain an answer: `score + c loss` of it is the greatest.
fn factors<P: Probe + ?Sized>(exam: &Examination<'_, P>, w: &[f64], answer: &DecodedAnswer) -> (f64, f64) {
    let record = &exam.records[answer.record];
    let chosen = &record.labellings[answer.chosen];
    let (mut from, mut to) = (f64::NEG_INFINITY, f64::INFINITY);
    for (_, other) in record.rivals(answer.chosen) {
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
fn explain_losses<P: Probe + ?Sized>(
    exam: &Examination<'_, P>,
    weights: &[NamedWeights],
    answers: &[DecodedAnswer],
    violations: &[Violation<'_>],
) -> Option<(Kind, String)> {
    if violations.len() < FEW.min(exam.records.len() + 1) {
        return None;
    }
    let augmented = answers.iter().filter(|answer| answer.augmented);
    let range = |(from, to): (f64, f64), answer: &DecodedAnswer| {
        let own = factors(exam, &weights[answer.at].w, answer);
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
        let own = |record: usize| {
            let answers = augmented.clone().filter(|answer| answer.record == record);
            answers.fold((f64::NEG_INFINITY, f64::INFINITY), range)
        };
        let each = (0..exam.records.len()).all(|record| own(record).0 <= own(record).1);
        if !each || 2 * violations.len() < augmented.clone().count() {
            return None;
        }
        "the loss that decode adds differs from the task's by a factor of its own for each example: divided by the length in one place only?"
            .to_string()
    };
    Some((Kind::LossIgnored, cause))
}
