//! The first answers about a few examples, kept while a foreign task is asked, and asked for again when a run goes on.
//!
//! Features and losses are compared by digests of their bits. Costs one digest for each of the first calls on an
//! example of the sample, and nothing on the others.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};

use crate::foreign::features::FeatureVector;
use crate::foreign::task::{ForeignAnswer, ForeignTask};
use crate::problem::{AnswerSample, SampledAnswer, SampledLabel};

/// Examples of a sample, spread over all.
const EXAMPLES: usize = 16;

/// Labellings of an example that are kept, each with other features or another loss.
const LABELLINGS: usize = 3;

/// Answers on an example that are looked at.
const CALLS: usize = 64;

/// Longest text of a labelling that is kept.
const LONGEST_TEXT: usize = 1 << 14;

/// Answers as they come in.
pub(super) struct Sampler<L> {
    /// Every so-manieth example is of the sample.
    every: usize,
    examples: Vec<Mutex<Sampled<L>>>,
}

struct Sampled<L> {
    calls: usize,
    answers: Vec<(L, String)>,
}

impl<L: Clone> Sampler<L> {
    /// Of so many examples.
    pub(super) fn new(examples: usize) -> Self {
        let every = examples.div_ceil(EXAMPLES).max(1);
        let empty = |_| Mutex::new(Sampled { calls: 0, answers: Vec::new() });
        Sampler { every, examples: (0..examples.div_ceil(every)).map(empty).collect() }
    }

    /// The examples of the sample.
    pub(super) fn chosen(&self) -> impl Iterator<Item = usize> {
        let every = self.every;
        (0..self.examples.len()).map(move |k| k * every)
    }

    /// Looks at an answer.
    pub(super) fn see(&self, example: usize, answer: &ForeignAnswer<L>) {
        let (Some(label), true) = (&answer.label, example.is_multiple_of(self.every)) else { return };
        let mut sampled = self.examples[example / self.every].lock().unwrap_or_else(PoisonError::into_inner);
        if sampled.calls < CALLS && sampled.answers.len() < LABELLINGS {
            sampled.calls += 1;
            sampled.add(label, digest(&answer.features, answer.loss));
        }
    }

    /// Returns what was kept.
    pub(super) fn answers(&self, write: impl Fn(&L) -> Option<String>) -> Vec<SampledAnswer>
    where
        L: Send + Sync + 'static,
    {
        let mut found = Vec::new();
        for (example, sampled) in self.chosen().zip(&self.examples) {
            let sampled = sampled.lock().unwrap_or_else(PoisonError::into_inner);
            for (label, digest) in &sampled.answers {
                let label = match write(label) {
                    Some(text) if text.len() <= LONGEST_TEXT => SampledLabel::Text(text),
                    Some(_) => continue,
                    None => SampledLabel::Own(Arc::new(label.clone())),
                };
                found.push(SampledAnswer { example, label, digest: digest.clone() });
            }
        }
        found
    }

    /// Asks for the answers of a sample again, and keeps them. The error says which differs.
    pub(super) fn check<T: ForeignTask<Label = L>>(&self, sample: &AnswerSample, task: &mut T) -> Result<(), String>
    where
        L: 'static,
    {
        let mut again = ForeignAnswer::default();
        for SampledAnswer { example, label, digest: before } in &sample.answers {
            let label = match label {
                SampledLabel::Text(text) => task.read(text),
                SampledLabel::Own(label) => (&**label as &dyn Any).downcast_ref::<L>().cloned(),
            };
            let label = label.ok_or_else(|| format!("example {example}: a labelling kept cannot be read"))?;
            let told = task.describe(*example, &label, &mut again);
            told.map_err(|reason| format!("example {example}: asked about a labelling of before: {reason}"))?;
            if digest(&again.features, again.loss) != *before {
                return Err(format!("example {example}: a labelling of before has other features or another loss now"));
            }
            if example.is_multiple_of(self.every)
                && let Some(sampled) = self.examples.get(example / self.every)
            {
                sampled.lock().unwrap_or_else(PoisonError::into_inner).add(&label, before.clone());
            }
        }
        Ok(())
    }
}

impl<L: Clone> Sampled<L> {
    fn add(&mut self, label: &L, digest: String) {
        if self.answers.len() < LABELLINGS && self.answers.iter().all(|(_, known)| *known != digest) {
            self.answers.push((label.clone(), digest));
        }
    }
}

/// The digest of what makes a plane.
pub(super) fn digest(features: &FeatureVector, loss: f64) -> String {
    let mut sha = Sha256::new();
    sha.update((loss.max(0.0) + features.fixed).to_bits().to_le_bytes()); // rounding may put it below
    for (index, value) in features.iter() {
        sha.update(index.to_le_bytes());
        sha.update(value.to_bits().to_le_bytes());
    }
    sha.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
