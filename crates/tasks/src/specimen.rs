//! A built-in task laid open for the oracle doctor.

use std::ops::Range;

use multiplane_core::divide::divide;
use multiplane_core::example::{Examples, Workspace};
use multiplane_core::oracle::Quality;
use multiplane_core::plane::{Plane, Star};
use multiplane_core::rng::Rng;
use multiplane_core::task::Task;

use crate::patient::{Claim, Decoded, Patient, RawFeatures};
use crate::problem::{Builtin, Vocabulary};

/// Threads that questions are asked on at the same time.
const THREADS: usize = 3;

/// A built-in task with its examples.
pub(crate) struct Specimen<'a, T: Task> {
    task: &'a T,
    examples: &'a Examples<T::Input, T::Label>,
    vocabulary: &'a Vocabulary,
    scratch: T::Scratch,
}

impl<'a, T: Task> Specimen<'a, T> {
    pub(crate) fn new(task: &'a T, examples: &'a Examples<T::Input, T::Label>, vocabulary: &'a Vocabulary) -> Self {
        Specimen { task, examples, vocabulary, scratch: T::Scratch::default() }
    }

    fn ask(
        &self,
        example: usize,
        w: &[f64],
        augmented: bool,
        scratch: &mut T::Scratch,
    ) -> Result<Decoded<T::Label>, String> {
        let example = self.examples.get(example);
        let mut label = example.truth.clone();
        let question = if augmented { example.augmented() } else { example.plain() };
        let work = Workspace { scratch, memory: &mut T::Memory::default() };
        let quality = self.task.decode(question, w, work, &mut label)?;
        Ok((label, quality.into()))
    }
}

impl From<Quality> for Claim {
    fn from(quality: Quality) -> Self {
        match quality {
            Quality::Exact => Claim::Exact,
            Quality::UpperBound(bound) => Claim::UpperBound(bound),
            Quality::Heuristic => Claim::Heuristic,
        }
    }
}

impl<T> Patient for Specimen<'_, T>
where
    T: Builtin + Sync,
    T::Input: Sync,
    T::Label: Send + Sync,
    T::Scratch: Send,
{
    type Label = T::Label;

    fn examples(&self) -> usize {
        self.examples.labels.len()
    }
    fn dim(&self) -> usize {
        self.task.dim()
    }
    fn nonnegative(&self) -> Vec<Range<usize>> {
        self.task.nonnegative()
    }
    fn truth(&mut self, example: usize) -> Result<T::Label, String> {
        Ok(self.examples.labels[example].clone())
    }
    fn features(&mut self, example: usize, label: &T::Label) -> Result<RawFeatures, String> {
        let mut plane = Plane::new();
        self.task.features(&self.examples.inputs[example], label, 1.0, &mut plane);
        plane.seal();
        Ok(match plane.view().star {
            Star::Dense(values) => RawFeatures::Dense(values.to_vec()),
            Star::Sparse { indices, values } => {
                RawFeatures::Pairs(indices.iter().map(|&index| i64::from(index)).zip(values.iter().copied()).collect())
            }
        })
    }
    fn loss(&mut self, example: usize, label: &T::Label) -> Result<f64, String> {
        Ok(self.task.loss(&self.examples.labels[example], label))
    }
    fn decode(&mut self, example: usize, w: &[f64], augmented: bool) -> Result<Decoded<T::Label>, String> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let answer = self.ask(example, w, augmented, &mut scratch);
        self.scratch = scratch;
        answer
    }
    fn decode_together(
        &mut self,
        examples: &[usize],
        w: &[f64],
        augmented: bool,
    ) -> Option<Vec<Result<Decoded<T::Label>, String>>> {
        let mut workers: Vec<T::Scratch> = (0..THREADS).map(|_| T::Scratch::default()).collect();
        let mut slots: Vec<_> = examples.iter().map(|&example| (example, Err("no answer".into()))).collect();
        let this = (self.task, self.examples, self.vocabulary);
        let fill = |scratch: &mut T::Scratch, _: usize, (example, answer): &mut (usize, _)| {
            let (task, examples, vocabulary) = this;
            *answer = Specimen::new(task, examples, vocabulary).ask(*example, w, augmented, scratch);
            Ok(())
        };
        let done = divide(&mut workers, &mut slots, fill);
        let mut answers: Vec<_> = slots.into_iter().map(|(_, answer)| answer).collect();
        if let Err(unfilled) = done {
            answers[unfilled.slot] = Err(unfilled.reason);
        }
        Some(answers)
    }
    fn changes(&mut self, _example: usize, label: &T::Label, most: usize, rng: &mut Rng) -> Vec<T::Label> {
        let numbers = self.task.numbers(label).to_vec();
        let labels = self.vocabulary.labels.len() as u32;
        let mut all: Vec<(usize, u32)> =
            (0..numbers.len()).flat_map(|place| (0..labels).map(move |number| (place, number))).collect();
        all.retain(|&(place, number)| numbers[place] != number);
        rng.shuffle(&mut all);
        all.truncate(most);
        let changed = all.into_iter().filter_map(|(place, number)| {
            let mut numbers = numbers.clone();
            numbers[place] = number;
            T::from_numbers(&numbers)
        });
        changed.collect()
    }
    fn fits(&mut self, example: usize, label: &T::Label) -> bool {
        let variables = |label: &T::Label| self.task.numbers(label).len();
        T::from_numbers(self.task.numbers(label)).is_some()
            && variables(label) == variables(&self.examples.labels[example])
    }
    fn same(&mut self, one: &T::Label, other: &T::Label) -> bool {
        one == other
    }
    fn show(&mut self, label: &T::Label) -> String {
        self.task.show(label, self.vocabulary)
    }
}
