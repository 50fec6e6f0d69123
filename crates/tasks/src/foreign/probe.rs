//! A foreign task as the oracle doctor asks it.

use std::ops::Range;

use multiplane_core::divide::divide;
use multiplane_core::oracle::Quality;
use multiplane_core::rng::Rng;

use crate::foreign::slots::{Shared, lock, persist};
use crate::foreign::task::{Examinable, ForeignAnswer};
use crate::probe::{Decoded, DecodedTogether, Probe, RawFeatures};
use crate::problem::ProblemFacts;

/// The workers of a foreign task: the first answers, all of them where questions are asked at the same time.
pub struct ForeignProbe<'a, T: Examinable> {
    facts: &'a ProblemFacts,
    workers: Vec<Shared<T>>,
}

impl<'a, T: Examinable> ForeignProbe<'a, T> {
    /// Takes the workers; there must be one.
    pub(super) fn new(facts: &'a ProblemFacts, workers: Vec<Shared<T>>) -> Self {
        ForeignProbe { facts, workers }
    }

    fn ask<R>(&self, question: impl FnMut(&mut T) -> R) -> R {
        persist(&mut *lock(&self.workers[0]), question)
    }
}

/// How far an answer can be trusted, if the task says so.
fn declared<T: Examinable>(worker: &T, quality: Quality) -> Option<Quality> {
    (quality != Quality::Heuristic || worker.declares_quality()).then_some(quality)
}

impl<T: Examinable> Probe for ForeignProbe<'_, T> {
    type Label = T::Label;

    fn examples(&self) -> usize {
        self.facts.blocks
    }
    fn dim(&self) -> usize {
        self.facts.dim
    }
    fn nonnegative(&self) -> Vec<Range<usize>> {
        self.facts.nonnegative.clone()
    }
    fn truth(&mut self, example: usize) -> Result<T::Label, String> {
        self.ask(|worker| worker.truth(example))
    }
    fn features(&mut self, example: usize, label: &T::Label) -> Result<RawFeatures, String> {
        self.ask(|worker| worker.raw_features(example, label))
    }
    fn loss(&mut self, example: usize, label: &T::Label) -> Result<f64, String> {
        self.ask(|worker| worker.loss(example, label))
    }
    fn decode(&mut self, example: usize, w: &[f64], augmented: bool) -> Result<Decoded<T::Label>, String> {
        self.ask(|worker| {
            let (label, quality) = worker.decode(example, w, augmented)?;
            Ok((label, declared(worker, quality)))
        })
    }
    fn decode_together(&mut self, examples: &[usize], w: &[f64], augmented: bool) -> DecodedTogether<T::Label> {
        let batch = self.ask(|worker| worker.hand_out().most);
        if batch < 2 && self.workers.len() < 2 {
            return None;
        }
        let parts = examples.chunks(batch.clamp(1, examples.len().div_ceil(self.workers.len()).max(1)));
        let mut slots: Vec<(&[usize], Vec<_>)> = parts.map(|part| (part, Vec::new())).collect();
        let fill = |worker: &mut Shared<T>, _: usize, (part, found): &mut (&[usize], Vec<_>)| {
            let mut worker = lock(worker);
            let mut answers = Vec::new();
            answers.resize_with(part.len(), ForeignAnswer::default);
            let failed = persist(&mut *worker, |worker| worker.answers(part, w, augmented, &mut answers).err());
            let known = failed.as_ref().map_or(part.len(), |(slot, _)| *slot);
            for answer in answers.into_iter().take(known) {
                let label = answer.label.ok_or("no answer")?;
                found.push(Ok((label, declared(&*worker, answer.quality))));
            }
            if let Some((_, reason)) = failed {
                found.resize_with(part.len(), || Err(reason.clone()));
            }
            Ok(())
        };
        let done = divide(&mut self.workers, &mut slots, fill);
        if let Err(unfilled) = done {
            return Some(examples.iter().map(|_| Err(unfilled.reason.clone())).collect());
        }
        Some(slots.into_iter().flat_map(|(_, found)| found).collect())
    }
    fn neighbours(&mut self, example: usize, label: &T::Label, most: usize, rng: &mut Rng) -> Vec<T::Label> {
        self.ask(|worker| worker.neighbours(example, label, most, rng))
    }
    fn is_labelling_of(&mut self, example: usize, label: &T::Label) -> bool {
        self.ask(|worker| worker.fits(example, label))
    }
    fn same(&mut self, one: &T::Label, other: &T::Label) -> bool {
        self.ask(|worker| worker.same(one, other))
    }
    fn kind(&mut self, label: &T::Label) -> String {
        self.ask(|worker| worker.kind(label))
    }
    fn show(&mut self, label: &T::Label) -> String {
        self.ask(|worker| worker.show(label)).unwrap_or_else(|reason| format!("? ({reason})"))
    }
}
