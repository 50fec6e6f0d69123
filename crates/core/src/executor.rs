//! Who answers many questions at one w: gap passes, batch steps and evaluation ask an [`Executor`].
//!
//! A batch is data and nothing else: blocks and w go out, planes or their scores come back, by index. So threads can
//! answer it, or processes, or machines, and what is computed from the answers, in the order of the blocks, has the
//! same bits whoever did.

use crate::divide::divide;
use crate::oracle::{MaxOracle, OracleError, Quality, check_answer};
use crate::plane::Plane;
use crate::rounding::Seen;

/// One question of a batch, and the answer to it.
#[derive(Clone, Debug)]
pub struct BatchItem {
    /// The question: which block.
    pub block: usize,
    /// The plane, where planes are wanted; else whatever was there.
    pub plane: Plane,
    /// How far the answer can be trusted.
    pub quality: Quality,
    /// The plane's score at the w of the batch.
    pub score: f64,
    /// The terms of that score, where they are wanted.
    pub seen: Seen,
}

impl BatchItem {
    /// A question about `block`.
    pub fn new(block: usize) -> Self {
        BatchItem { block, plane: Plane::new(), quality: Quality::Heuristic, score: 0.0, seen: Seen::default() }
    }
}

/// What of the answers comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Planes, with their scores.
    Planes,
    /// Scores only.
    Scores,
    /// Scores with the size of their terms.
    Terms,
}

/// Returns the score of a plane at `w`, and the terms of it where they are wanted.
pub fn score_and_terms(plane: &Plane, w: &[f64], wanted: Reply) -> (f64, Seen) {
    let mut seen = Seen::default();
    if wanted == Reply::Terms {
        seen.add(1.0, plane.view(), w);
    }
    (plane.view().score(w), seen)
}

/// A question of a batch that got no usable answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{error}")]
pub struct Unanswered {
    /// Its place in the batch.
    pub slot: usize,
    /// What went wrong.
    pub error: OracleError,
}

impl From<Unanswered> for OracleError {
    fn from(unanswered: Unanswered) -> Self {
        unanswered.error
    }
}

/// Something that answers batches of questions to one problem's max-oracle.
///
/// As an oracle's answer depends on block and w alone, no bit depends on the executor.
pub trait Executor {
    /// How many questions are worked on at the same time; a batch should not be smaller.
    fn width(&self) -> usize;

    /// Answers every question of `batch` at `w`. Answers are checked ([`check_answer`]).
    ///
    /// # Errors
    ///
    /// The first question, in the order of the batch, that gets no usable answer; the questions before it are answered.
    fn answer(&mut self, w: &[f64], wanted: Reply, batch: &mut [BatchItem]) -> Result<(), Unanswered>;
}

/// One oracle, one question after the other.
pub struct Sequential<'a, O: ?Sized> {
    oracle: &'a mut O,
    plane: &'a mut Plane,
}

impl<'a, O: MaxOracle + ?Sized> Sequential<'a, O> {
    /// Asks `oracle`; `plane` is scratch.
    pub fn new(oracle: &'a mut O, plane: &'a mut Plane) -> Self {
        Sequential { oracle, plane }
    }
}

impl<O: MaxOracle + ?Sized> Executor for Sequential<'_, O> {
    fn width(&self) -> usize {
        1
    }
    fn answer(&mut self, w: &[f64], wanted: Reply, batch: &mut [BatchItem]) -> Result<(), Unanswered> {
        for (slot, answer) in batch.iter_mut().enumerate() {
            ask(self.oracle, self.plane, w, wanted, answer).map_err(|error| Unanswered { slot, error })?;
        }
        Ok(())
    }
}

/// An oracle per thread; a panic of an oracle is an error like others.
pub struct Threads<O> {
    workers: Vec<(O, Plane)>,
}

impl<O: MaxOracle + Send> Threads<O> {
    /// One thread for each of the oracles, which are of the same problem; there must be one at least.
    pub fn new(oracles: Vec<O>) -> Self {
        Threads { workers: oracles.into_iter().map(|oracle| (oracle, Plane::new())).collect() }
    }
}

impl<O: MaxOracle + Send> Executor for Threads<O> {
    fn width(&self) -> usize {
        self.workers.len()
    }
    fn answer(&mut self, w: &[f64], wanted: Reply, batch: &mut [BatchItem]) -> Result<(), Unanswered> {
        let done = divide(&mut self.workers, batch, |(oracle, plane), _, answer| {
            ask(oracle, plane, w, wanted, answer).map_err(|error| error.reason)
        });
        done.map_err(|unfilled| {
            let block = batch[unfilled.slot].block;
            Unanswered { slot: unfilled.slot, error: OracleError { block, reason: unfilled.reason } }
        })
    }
}

fn ask<O: MaxOracle + ?Sized>(
    oracle: &mut O,
    scratch: &mut Plane,
    w: &[f64],
    wanted: Reply,
    answer: &mut BatchItem,
) -> Result<(), OracleError> {
    let block = answer.block;
    if block + 1 < oracle.blocks() {
        oracle.prefetch(block + 1); // right for passes, and harmless for others
    }
    let plane = if wanted == Reply::Planes { &mut answer.plane } else { scratch };
    answer.quality = oracle.maximize(block, w, plane)?;
    check_answer(block, w, plane, answer.quality)?;
    (answer.score, answer.seen) = score_and_terms(plane, w, wanted);
    Ok(())
}

/// Blocks of an evaluation that are asked about at a time.
const EVALUATION_BATCH: usize = 4096;

/// What an answer says of its block's hinge, and whether the oracle's word is that it is no less than the true one. It is
/// no less than the truth's own plane, which scores 0, and the plane that was answered.
pub fn hinge(answer: &BatchItem) -> (f64, bool) {
    let hinge = match answer.quality {
        Quality::UpperBound(bound) => bound.max(answer.score),
        Quality::Exact | Quality::Heuristic => answer.score,
    };
    // `max` would make 0 of what is no number.
    let is_number = !hinge.is_nan() && !answer.score.is_nan();
    (if is_number { hinge.max(0.0) } else { f64::NAN }, answer.quality != Quality::Heuristic)
}

/// What the answers of an evaluation add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hinges {
    /// The sum of the hinges.
    pub sum: f64,
    /// Whether the oracle's word is that it is no less than the true one.
    pub proven: bool,
    /// The size of the terms, where it was asked for.
    pub seen: Seen,
}

/// The hinges of all `blocks` at `w`, added up in their order; `wanted` says whether the size of their terms is.
///
/// `batch` is scratch.
///
/// # Errors
///
/// The first block, in their order, that gets no usable answer.
pub fn sum_of_hinges(
    executor: &mut dyn Executor,
    blocks: usize,
    w: &[f64],
    wanted: Reply,
    batch: &mut Vec<BatchItem>,
) -> Result<Hinges, OracleError> {
    let mut hinges = Hinges { proven: true, ..Hinges::default() };
    for first in (0..blocks).step_by(EVALUATION_BATCH) {
        batch.clear();
        batch.extend((first..blocks).take(EVALUATION_BATCH).map(BatchItem::new));
        executor.answer(w, wanted, batch)?;
        for answer in batch.iter() {
            let (hinge, is_proven) = hinge(answer);
            hinges.proven &= is_proven;
            hinges.sum += hinge;
            hinges.seen.add_terms(answer.seen);
        }
    }
    Ok(hinges)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hinge is never below the truth's 0 or the plane in hand, whatever the bound; what is no number stays none.
    #[test]
    fn hinges_are_no_less_than_what_is_known() {
        let hinge = |quality, score| hinge(&BatchItem { quality, score, ..BatchItem::new(0) }).0;
        assert_eq!(hinge(Quality::Exact, -1.0), 0.0);
        assert_eq!(hinge(Quality::UpperBound(3.0), 2.0), 3.0);
        assert_eq!(hinge(Quality::UpperBound(2.0), 2.5), 2.5, "a bound below its own plane");
        assert!(hinge(Quality::Exact, f64::NAN).is_nan());
        assert!(hinge(Quality::UpperBound(1.0), f64::NAN).is_nan());
    }
}
