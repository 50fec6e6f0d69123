//! A built-in task as the oracle doctor asks it.

use std::ops::Range;

use multiplane_core::divide::divide;
use multiplane_core::example::Examples;
use multiplane_core::plane::{Plane, Star};
use multiplane_core::rng::Rng;
use multiplane_core::task::Question;

use crate::builtin::task::BuiltinTask;
use crate::probe::{Decoded, DecodedTogether, Probe, RawFeatures};

/// Threads that questions are asked on at the same time.
const THREADS: usize = 3;

/// A built-in task with its examples.
pub(super) struct BuiltinProbe<'a, T: BuiltinTask> {
    task: &'a T,
    examples: &'a Examples<T::Input, T::Label>,
    vocabulary: &'a T::Vocabulary,
    scratch: T::Scratch,
}

impl<'a, T: BuiltinTask> BuiltinProbe<'a, T> {
    pub(super) fn new(task: &'a T, examples: &'a Examples<T::Input, T::Label>, vocabulary: &'a T::Vocabulary) -> Self {
        BuiltinProbe { task, examples, vocabulary, scratch: T::Scratch::default() }
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
        let question = if augmented { Question::augmented(example, w) } else { Question::plain(example, w) };
        let quality = self.task.decode(question.call(scratch, &mut T::Memory::default()), &mut label)?;
        Ok((label, Some(quality)))
    }
}

impl<T: BuiltinTask> Probe for BuiltinProbe<'_, T> {
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
    fn decode_together(&mut self, examples: &[usize], w: &[f64], augmented: bool) -> DecodedTogether<T::Label> {
        let mut workers: Vec<T::Scratch> = (0..THREADS).map(|_| T::Scratch::default()).collect();
        let mut slots: Vec<_> = examples.iter().map(|&example| (example, Err("no answer".into()))).collect();
        let this = (self.task, self.examples, self.vocabulary);
        let fill = |scratch: &mut T::Scratch, _: usize, (example, answer): &mut (usize, _)| {
            let (task, examples, vocabulary) = this;
            *answer = BuiltinProbe::new(task, examples, vocabulary).ask(*example, w, augmented, scratch);
            Ok(())
        };
        let done = divide(&mut workers, &mut slots, fill);
        let mut answers: Vec<_> = slots.into_iter().map(|(_, answer)| answer).collect();
        if let Err(unfilled) = done {
            answers[unfilled.slot] = Err(unfilled.reason);
        }
        Some(answers)
    }
    fn neighbours(&mut self, example: usize, label: &T::Label, most: usize, rng: &mut Rng) -> Vec<T::Label> {
        self.task.neighbours(&self.examples.inputs[example], label, most, rng)
    }
    fn is_labelling_of(&mut self, example: usize, label: &T::Label) -> bool {
        self.task.is_labelling_of(&self.examples.inputs[example], label)
    }
    fn same_variables(&mut self, one: &T::Label, other: &T::Label) -> bool {
        self.task.same_variables(one, other)
    }
    fn same(&mut self, one: &T::Label, other: &T::Label) -> bool {
        one == other
    }
    fn show(&mut self, label: &T::Label) -> String {
        self.task.show(label, self.vocabulary)
    }
}
