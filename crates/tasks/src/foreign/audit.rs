//! Answers that a program declares to be the best, held against what else it has said of the same example: no labelling
//! that it has ever named may score higher, the truth included, nor the one that it predicts at the same weights.
//!
//! It can only prove that a declaration is false, never that it is true. Costs no call but at most [`ASKED`] at the end
//! of a run, and for each answer on an audited example one score per labelling kept.

use std::hash::{DefaultHasher, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use multiplane_core::oracle::Quality;

use crate::foreign::features::FeatureVector;
use crate::foreign::task::{ForeignAnswer, ForeignTask};

/// Examples that are audited, spread over all.
const EXAMPLES: usize = 64;

/// Labellings kept of an example, the latest ones.
const LABELLINGS: usize = 8;

/// Entries of features kept of an example: 64 examples keep some 50 MB at most.
const ENTRIES: usize = 1 << 16;

/// Examples that are asked about once more at the end, where the last answer was at other weights.
const ASKED: usize = 8;

/// By how much, relative to the terms, a score may be below another one: rounding on either side.
const TOLERANCE: f64 = 1e-6;

/// The claims about the audited examples.
pub(super) struct Audit {
    /// Every so-manieth example is audited.
    every: usize,
    examples: Vec<Mutex<Seen>>,
    asked: AtomicUsize,
}

#[derive(Default)]
struct Seen {
    /// Features and losses of labellings.
    known: Vec<(FeatureVector, f64)>,
    /// The place of the next one once there are enough.
    next: usize,
    /// The promise of the last answer with the loss added: the digest of its weights, and a score that none exceeds.
    last: Option<(u64, f64)>,
}

/// A score with the sum of its terms' sizes.
fn score(w: &[f64], features: &FeatureVector, loss: f64) -> (f64, f64) {
    let terms = features.iter().map(|(index, value)| w[index as usize] * value);
    let fixed = features.fixed;
    terms.fold((loss + fixed, loss.abs() + fixed.abs()), |(sum, size), term| (sum + term, size + term.abs()))
}

fn digest(w: &[f64]) -> u64 {
    let mut hasher = DefaultHasher::new();
    w.iter().for_each(|w| hasher.write_u64(w.to_bits()));
    hasher.finish()
}

/// The fault of a promise that another labelling breaks.
fn broken(quality: Quality, promised: f64, better: f64, which: &str) -> String {
    let declared = match quality {
        Quality::UpperBound(_) => format!("its upper bound is {promised}"),
        _ => format!("it is declared exact, but its answer with the loss added scores {promised}"),
    };
    format!(
        "{declared}, and {which} scores {better} at the same weights (`multiplane check`, and check(X, Y) in Python, \
         look for the reason)"
    )
}

impl Audit {
    /// Of so many examples.
    pub(super) fn new(examples: usize) -> Self {
        let every = examples.div_ceil(EXAMPLES).max(1);
        let seen = |_| Mutex::default();
        Audit { every, examples: (0..examples.div_ceil(every)).map(seen).collect(), asked: AtomicUsize::new(0) }
    }

    /// The claims about an example, if it is audited.
    fn seen(&self, example: usize) -> Option<MutexGuard<'_, Seen>> {
        let chosen = example.is_multiple_of(self.every).then(|| self.examples.get(example / self.every))??;
        Some(chosen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Looks at an answer with the loss added.
    ///
    /// # Errors
    ///
    /// A labelling known scores higher than the answer's declaration allows.
    pub(super) fn augmented<L>(
        &self,
        example: usize,
        w: &[f64],
        answer: &ForeignAnswer<L>,
        truth: &FeatureVector,
    ) -> Result<(), String> {
        if answer.quality == Quality::Heuristic {
            return Ok(());
        }
        let Some(mut seen) = self.seen(example) else { return Ok(()) };
        let (own, size) = score(w, &answer.features, answer.loss);
        let promised = if let Quality::UpperBound(bound) = answer.quality { bound } else { own };
        let truth = (score(w, truth, 0.0), "the truth");
        let known =
            seen.known.iter().map(|(features, loss)| (score(w, features, *loss), "a labelling that it named before"));
        for ((better, more), which) in known.chain([truth]) {
            if better > promised + TOLERANCE * (1.0 + size + more) {
                return Err(broken(answer.quality, promised, better, which));
            }
        }
        seen.last = Some((digest(w), promised + TOLERANCE * (1.0 + size)));
        seen.keep(answer);
        Ok(())
    }

    /// Looks at a prediction, once a run has asked about its example: at the weights of the last answer it must not
    /// score higher with its loss. Where that answer was at other weights, `task` is asked again for a few examples.
    ///
    /// # Errors
    ///
    /// It does; the task fails.
    pub(super) fn plain<T: ForeignTask>(
        &self,
        example: usize,
        w: &[f64],
        answer: &ForeignAnswer<T::Label>,
        task: &mut T,
    ) -> Result<(), String> {
        if answer.quality == Quality::Heuristic {
            return Ok(());
        }
        let Some(seen) = self.seen(example) else { return Ok(()) };
        let Some((weights, promised)) = seen.last else { return Ok(()) };
        drop(seen);
        let (better, more) = score(w, &answer.features, answer.loss);
        let mut again = ForeignAnswer::default();
        let (quality, promised) = if weights == digest(w) {
            (answer.quality, promised)
        } else if self.asked.fetch_add(1, Ordering::Relaxed) < ASKED {
            task.answer(example, w, true, &mut again)?;
            let (own, size) = score(w, &again.features, again.loss);
            let promised = if let Quality::UpperBound(bound) = again.quality { bound } else { own };
            (again.quality, promised + TOLERANCE * (1.0 + size))
        } else {
            return Ok(());
        };
        match better > promised + TOLERANCE * more {
            true => Err(broken(quality, promised, better, "what it predicts, with its loss,")),
            false => Ok(()),
        }
    }
}

impl Seen {
    fn keep<L>(&mut self, answer: &ForeignAnswer<L>) {
        let is_new = self.known.iter().all(|(features, loss)| *loss != answer.loss || *features != answer.features);
        if !is_new || answer.features.len() > ENTRIES / LABELLINGS {
            return;
        }
        let kept = (answer.features.clone(), answer.loss);
        match self.known.get_mut(self.next) {
            Some(old) => *old = kept,
            None => self.known.push(kept),
        }
        self.next = (self.next + 1) % LABELLINGS;
    }
}
