//! Decodings at all weights; the same questions again, alone and together; further labellings to hold them against.

use multiplane_tasks::probe::Probe;

use super::examination::{Answer, Examination, Origin};
use super::finding::Kind;
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
pub(super) fn ask<P: Probe + ?Sized>(exam: &mut Examination<'_, P>, weights: &[Weights]) -> Vec<Answer> {
    let mut answers = Vec::new();
    for record in 0..exam.records.len() {
        if exam.is_late() {
            break;
        }
        for (at, weights) in weights.iter().enumerate() {
            for augmented in [true, false] {
                let answer = exam.decode(record, &weights.w, at, augmented);
                if at == 1
                    && augmented
                    && let Some(first) = &answer
                {
                    same_again(exam, weights, first, "at once");
                }
                answers.extend(answer);
            }
        }
        for place in 1..exam.records[record].labellings.len().min(1 + LOOKS) {
            exam.inspect_again(record, place);
        }
    }
    answers
}

/// Asks a question of each example once more, after all others.
pub(super) fn ask_again<P: Probe + ?Sized>(exam: &mut Examination<'_, P>, weights: &[Weights], answers: &[Answer]) {
    for first in answers.iter().filter(|answer| answer.at == 1) {
        if exam.is_late() {
            break;
        }
        same_again(exam, &weights[first.at], first, "after other questions");
    }
}

fn same_again<P: Probe + ?Sized>(exam: &mut Examination<'_, P>, weights: &Weights, first: &Answer, when: &str) {
    let Some(again) = exam.decode(first.record, &weights.w, first.at, first.augmented) else { return };
    if again.chosen == first.chosen {
        return;
    }
    let record = &exam.records[first.record];
    let shown = [first, &again].map(|answer| exam.probe.show(&record.labellings[answer.chosen].label));
    let scores = [first, &again].map(|answer| record.labellings[answer.chosen].score(&weights.w, first.augmented));
    let example = record.example;
    let question = question(first.augmented);
    exam.log.add(Kind::NonDeterministic, example, || {
        let message = format!(
            "example {example}, {question} at {}: the first answer was {} (score {:.6}), {when} it was {} (score {:.6})",
            weights.name, shown[0], scores[0], shown[1], scores[1]
        );
        (message, "decode depends on chance, on earlier calls, or on the order of a set".into())
    });
}

/// Says how a question is called in messages.
pub(super) fn question(augmented: bool) -> &'static str {
    if augmented { "decoding with the loss" } else { "decoding without the loss" }
}

/// Asks many questions at the same time, where the task allows it.
pub(super) fn ask_together<P: Probe + ?Sized>(exam: &mut Examination<'_, P>, weights: &[Weights], answers: &[Answer]) {
    if exam.log.has(Kind::NonDeterministic) || exam.log.has(Kind::OracleError) || exam.is_late() {
        return;
    }
    for (at, augmented) in [(1, true), (weights.len() - 1, false)] {
        let alone: Vec<&Answer> =
            answers.iter().filter(|answer| (answer.at, answer.augmented) == (at, augmented)).take(TOGETHER).collect();
        let asked: Vec<&Answer> =
            alone.iter().cycle().take(TOGETHER * usize::from(!alone.is_empty())).copied().collect();
        let examples: Vec<usize> = asked.iter().map(|answer| exam.records[answer.record].example).collect();
        let Some(found) = exam.probe.decode_together(&examples, &weights[at].w, augmented) else { return };
        for (answer, together) in asked.into_iter().zip(found) {
            let record = &exam.records[answer.record];
            let (example, expected) = (record.example, &record.labellings[answer.chosen].label);
            let text = match together {
                Ok((label, _)) if exam.probe.same(&label, expected) => continue,
                Ok((label, _)) => exam.probe.show(&label),
                Err(reason) => format!("an error: {reason}"),
            };
            let alone = exam.probe.show(expected);
            exam.log.add(Kind::NotThreadSafe, example, || {
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
pub(super) fn add_labellings<P: Probe + ?Sized>(exam: &mut Examination<'_, P>) {
    for record in 0..exam.records.len() {
        if exam.is_late() {
            break;
        }
        let example = exam.records[record].example;
        let own: Vec<P::Label> =
            exam.records[record].labellings.iter().map(|labelling| labelling.label.clone()).collect();
        for other in 0..exam.records.len().min(MOST_LABELLINGS) {
            let label = exam.records[other].labellings[0].label.clone();
            if other != record && exam.probe.is_labelling_of(example, &label) {
                exam.keep(record, label, Origin::Other);
            }
        }
        for label in own {
            if exam.records[record].labellings.len() >= MOST_LABELLINGS {
                break;
            }
            for near in exam.probe.neighbours(example, &label, NEAR, &mut exam.rng) {
                exam.keep(record, near, Origin::Near);
            }
        }
    }
}
