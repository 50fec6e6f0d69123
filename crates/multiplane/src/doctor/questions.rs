//! Decodings at all weights; the same questions again, alone and together; further labellings to hold them against.

use super::Patient;
use super::finding::Kind;
use super::ward::{Answer, Origin, Ward};
use super::weights::Weights;

/// Of how many answers per example the features are asked for twice.
const LOOKS: usize = 2;
/// Most labellings of an example that are gathered beside its answers.
const MOST_LABELLINGS: usize = 80;
/// Labellings near each answer.
const NEAR: usize = 16;
/// Questions asked together.
const TOGETHER: usize = 24;

/// Asks for every example at all weights, with the loss and without.
pub(super) fn ask<P: Patient + ?Sized>(ward: &mut Ward<'_, P>, weights: &[Weights]) -> Vec<Answer> {
    let mut answers = Vec::new();
    for bed in 0..ward.beds.len() {
        if ward.is_late() {
            break;
        }
        for (at, weights) in weights.iter().enumerate() {
            for augmented in [true, false] {
                let answer = ward.decode(bed, &weights.w, at, augmented);
                if at == 1
                    && augmented
                    && let Some(first) = &answer
                {
                    same_again(ward, weights, first, "at once");
                }
                answers.extend(answer);
            }
        }
        for place in 1..ward.beds[bed].seen.len().min(1 + LOOKS) {
            ward.look_again(bed, place);
        }
    }
    answers
}

/// Asks a question of each example once more, after all others.
pub(super) fn ask_again<P: Patient + ?Sized>(ward: &mut Ward<'_, P>, weights: &[Weights], answers: &[Answer]) {
    for first in answers.iter().filter(|answer| answer.at == 1) {
        if ward.is_late() {
            break;
        }
        same_again(ward, &weights[first.at], first, "after other questions");
    }
}

fn same_again<P: Patient + ?Sized>(ward: &mut Ward<'_, P>, weights: &Weights, first: &Answer, when: &str) {
    let Some(again) = ward.decode(first.bed, &weights.w, first.at, first.augmented) else { return };
    if again.chosen == first.chosen {
        return;
    }
    let bed = &ward.beds[first.bed];
    let shown = [first, &again].map(|answer| ward.patient.show(&bed.seen[answer.chosen].label));
    let scores = [first, &again].map(|answer| bed.seen[answer.chosen].score(&weights.w, first.augmented));
    let example = bed.example;
    let question = question(first.augmented);
    ward.notes.add(Kind::NonDeterministic, example, || {
        let message = format!(
            "example {example}, {question} at {}: the first answer was {} (score {:.6}), {when} it was {} (score {:.6})",
            weights.name, shown[0], scores[0], shown[1], scores[1]
        );
        (message, "decode depends on chance, on earlier calls, or on the order of a set".into())
    });
}

/// How a question is called in messages.
pub(super) fn question(augmented: bool) -> &'static str {
    if augmented { "decoding with the loss" } else { "decoding without the loss" }
}

/// Asks many questions at the same time, where the task allows it.
pub(super) fn ask_together<P: Patient + ?Sized>(ward: &mut Ward<'_, P>, weights: &[Weights], answers: &[Answer]) {
    if ward.notes.has(Kind::NonDeterministic) || ward.notes.has(Kind::OracleError) || ward.is_late() {
        return;
    }
    for (at, augmented) in [(1, true), (weights.len() - 1, false)] {
        let alone: Vec<&Answer> =
            answers.iter().filter(|answer| (answer.at, answer.augmented) == (at, augmented)).take(TOGETHER).collect();
        let asked: Vec<&Answer> =
            alone.iter().cycle().take(TOGETHER * usize::from(!alone.is_empty())).copied().collect();
        let examples: Vec<usize> = asked.iter().map(|answer| ward.beds[answer.bed].example).collect();
        let Some(found) = ward.patient.decode_together(&examples, &weights[at].w, augmented) else { return };
        for (answer, together) in asked.into_iter().zip(found) {
            let bed = &ward.beds[answer.bed];
            let (example, expected) = (bed.example, &bed.seen[answer.chosen].label);
            let text = match together {
                Ok((label, _)) if ward.patient.same(&label, expected) => continue,
                Ok((label, _)) => ward.patient.show(&label),
                Err(reason) => format!("an error: {reason}"),
            };
            let alone = ward.patient.show(expected);
            ward.notes.add(Kind::NotThreadSafe, example, || {
                let question = question(augmented);
                let message = format!(
                    "example {example}, {question} at {}: alone the answer is {alone}, asked together with others {text}",
                    weights[at].name
                );
                (message, "questions share something that each of them changes, or answers come in another order".into())
            });
        }
    }
}

/// Adds labellings that decode did not return: near the truth and the answers, and those of other examples.
pub(super) fn add_labellings<P: Patient + ?Sized>(ward: &mut Ward<'_, P>) {
    for bed in 0..ward.beds.len() {
        if ward.is_late() {
            break;
        }
        let example = ward.beds[bed].example;
        let own: Vec<P::Label> = ward.beds[bed].seen.iter().map(|seen| seen.label.clone()).collect();
        for other in 0..ward.beds.len().min(MOST_LABELLINGS) {
            let label = ward.beds[other].seen[0].label.clone();
            if other != bed && ward.patient.fits(example, &label) {
                ward.keep(bed, label, Origin::Other);
            }
        }
        for label in own {
            if ward.beds[bed].seen.len() >= MOST_LABELLINGS {
                break;
            }
            for near in ward.patient.changes(example, &label, NEAR, &mut ward.rng) {
                ward.keep(bed, near, Origin::Near);
            }
        }
    }
}
