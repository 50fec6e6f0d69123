//! Answers fetched ahead: a pass that asks block after block at one w gets them from an [`Executor`], many at a time.
//!
//! Only the fetching is done in batches. The solver still takes one answer a step, so counts, work, budgets, ticks
//! and the points at which a run can stop are those of a run on one thread. Answers that a run no longer takes when
//! it stops are not counted: no step has seen them.

use std::ops::Range;

use crate::clock::Stopwatch;
use crate::executor::{BatchItem, Executor, Reply};
use crate::oracle::{OracleError, Quality};
use crate::plane::Plane;

/// Most blocks of a batch.
const LARGEST_BATCH: usize = 2048;

/// A batch that takes longer makes the next one smaller, in seconds: an interrupt has to wait for it.
const LONG_BATCH_SECONDS: f64 = 0.05;

/// A batch whose planes have more coefficients makes the next one smaller: 4 Mi are at most 48 MiB.
const LARGE_BATCH_COEFFICIENTS: usize = 1 << 22;

/// An executor with the answers that it gave and that no step has taken yet.
pub struct Lookahead {
    executor: Box<dyn Executor>,
    answers: Vec<BatchItem>,
    /// Of the answers, those that can be taken.
    ready: Range<usize>,
    /// What is met after the last of them.
    failure: Option<OracleError>,
    batch: usize,
}

impl Lookahead {
    /// Nothing fetched yet.
    pub fn new(executor: Box<dyn Executor>) -> Self {
        let batch = executor.width().max(1);
        Lookahead { executor, answers: Vec::new(), ready: 0..0, failure: None, batch }
    }

    /// Drops what was fetched: w is about to change.
    pub fn forget(&mut self) {
        self.ready = 0..0;
        self.failure = None;
    }

    /// Whether the answer for `block` is next.
    pub fn holds(&self, block: usize) -> bool {
        match self.answers[self.ready.clone()].first() {
            Some(answer) => answer.block == block,
            None => self.failure.as_ref().is_some_and(|error| error.block == block),
        }
    }

    /// Fetches the answers of `first` and of the next of `others`, in their order, at `w`; returns the seconds of it.
    ///
    /// A failure is kept for when its block's turn comes.
    pub fn fetch(&mut self, first: usize, others: impl Iterator<Item = usize>, w: &[f64]) -> f64 {
        let stopwatch = Stopwatch::start();
        let mut count = 0;
        for block in std::iter::once(first).chain(others).take(self.batch) {
            match self.answers.get_mut(count) {
                Some(answer) => answer.block = block,
                None => self.answers.push(BatchItem::new(block)),
            }
            count += 1;
        }
        let answers = &mut self.answers[..count];
        let unanswered = self.executor.answer(w, Reply::Planes, answers).err();
        self.ready = 0..unanswered.as_ref().map_or(count, |unanswered| unanswered.slot.min(count));
        self.failure = unanswered.map(|unanswered| unanswered.error);
        let seconds = stopwatch.seconds();
        self.resize(count, seconds);
        seconds
    }

    /// Hands out the next answer.
    ///
    /// # Errors
    ///
    /// The failure that the fetched answers end with, where it is its turn.
    pub fn take(&mut self, out: &mut Plane) -> Result<Quality, OracleError> {
        if let Some(next) = self.ready.next() {
            let answer = &mut self.answers[next];
            std::mem::swap(out, &mut answer.plane);
            return Ok(answer.quality);
        }
        let nothing = || OracleError { block: 0, reason: "no answer was fetched".into() };
        Err(self.failure.take().unwrap_or_else(nothing))
    }

    /// Chooses the size of the next batch. It decides how long one takes, and nothing else.
    fn resize(&mut self, count: usize, seconds: f64) {
        let coefficients: usize = self.answers[..count].iter().map(|answer| coefficients(&answer.plane)).sum();
        if seconds > LONG_BATCH_SECONDS || coefficients > LARGE_BATCH_COEFFICIENTS {
            self.batch = (self.batch / 2).max(self.executor.width()).max(1);
        } else if count == self.batch
            && 2 * count <= LARGEST_BATCH
            && seconds < 0.5 * LONG_BATCH_SECONDS
            && 2 * coefficients < LARGE_BATCH_COEFFICIENTS
        {
            self.batch *= 2;
        }
    }
}

fn coefficients(plane: &Plane) -> usize {
    plane.view().star.values().len()
}
