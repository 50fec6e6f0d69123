//! Questions at one w, the interface of executors, which answer them, and the sum of hinges for an evaluation.

use crate::oracle::{MaxOracle, OracleError, Quality, SlackCount, check_answer};
use crate::plane::Plane;
use crate::rounding::TermSizes;

/// One question of a batch, and the answer to it.
#[derive(Clone, Debug)]
pub struct BatchItem {
    /// The question: which block.
    pub block: usize,
    /// The plane, if planes are wanted; else unspecified.
    pub plane: Plane,
    /// How far the answer can be trusted.
    pub quality: Quality,
    /// The plane's score at the w of the batch.
    pub score: f64,
    /// The terms of that score, if they are wanted.
    pub seen: TermSizes,
    /// Seconds of the call, if measured: by the worker if it has helpers that answer in parallel, else the mean of its
    /// batch.
    pub seconds: Option<f64>,
    /// The calls of another oracle that the answer took; see [`Plane::inner_calls`].
    pub inner_calls: u32,
}

impl BatchItem {
    /// A question about `block`.
    pub fn new(block: usize) -> Self {
        BatchItem {
            block,
            plane: Plane::new(),
            quality: Quality::Heuristic,
            score: 0.0,
            seen: TermSizes::default(),
            seconds: None,
            inner_calls: 0,
        }
    }

    /// Hands out the question, and with it the buffer for its answer.
    pub(super) fn lend(&mut self) -> BatchItem {
        BatchItem { plane: std::mem::take(&mut self.plane), ..BatchItem::new(self.block) }
    }
}

/// The part of the answers that comes back.
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
pub fn score_and_terms(plane: &Plane, w: &[f64], wanted: Reply) -> (f64, TermSizes) {
    let mut seen = TermSizes::default();
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
    /// The error.
    pub error: OracleError,
}

impl From<Unanswered> for OracleError {
    fn from(unanswered: Unanswered) -> Self {
        unanswered.error
    }
}

/// Asks `oracle` one question; the answer is checked.
pub(super) fn ask<O: MaxOracle + ?Sized>(
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
    answer.inner_calls = plane.inner_calls();
    (answer.score, answer.seen) = score_and_terms(plane, w, wanted);
    Ok(())
}

/// Which weights an answer is for: they are numbered in the order in which they are published.
pub type Version = u64;

/// A question on its way to a worker, with the buffer for the answer.
#[derive(Clone, Debug)]
pub struct BatchQuestion {
    /// The place of the answer; only the asker uses it.
    pub slot: usize,
    /// The question.
    pub item: BatchItem,
}

/// An answer, or the reason why there is none.
#[derive(Clone, Debug)]
pub struct Completed {
    /// The weights that it is for.
    pub version: Version,
    /// Its place.
    pub slot: usize,
    /// The question with its answer, checked ([`check_answer`](crate::oracle::check_answer)).
    pub item: BatchItem,
    /// Why there is none, if so.
    pub result: Result<(), OracleError>,
}

/// Something that answers questions to one problem's max-oracle, many at a time.
///
/// Questions and answers are data and nothing else, so threads can answer, or processes, or machines. As an oracle's
/// answer depends on block and w alone, no bit depends on who does, or in which order, where sums are taken in the
/// order of the blocks. An executor asks again what a lost worker held; the asker gets an error only
/// if no worker is left or the question seems to be the cause.
pub trait Executor {
    /// Returns how many answer at the same time.
    fn workers(&self) -> usize;

    /// Returns how many questions should be out at least: those that the workers take at a time.
    fn width(&self) -> usize {
        self.workers()
    }

    /// Makes `w` the weights of all that is submitted from now on; returns their number.
    fn publish(&mut self, w: &[f64]) -> Version;

    /// Asks at the weights published last; free workers answer, in about this order.
    fn submit(&mut self, wanted: Reply, questions: Vec<BatchQuestion>);

    /// Waits for the next answer; `None` where no question is out.
    fn next(&mut self) -> Option<Completed>;

    /// As [`next`](Executor::next), without waiting; `None` if no answer is ready.
    fn ready(&mut self) -> Option<Completed> {
        None
    }

    /// Cancels all questions.
    fn cancel(&mut self);

    /// Answers every question of `batch` at `w`, and waits for it.
    ///
    /// # Errors
    ///
    /// The first question, in the order of the batch, that gets no usable answer; the questions before it are answered.
    fn answer(&mut self, w: &[f64], wanted: Reply, batch: &mut [BatchItem]) -> Result<(), Unanswered> {
        self.cancel();
        let version = self.publish(w);
        let lent = batch.iter_mut().enumerate().map(|(slot, item)| BatchQuestion { slot, item: item.lend() });
        self.submit(wanted, lent.collect());
        let mut arrived = vec![false; batch.len()];
        let (mut open, mut failed): (usize, Option<Unanswered>) = (batch.len(), None);
        while open > 0 {
            let Some(completed) = self.next() else { break };
            let Completed { slot, item, result, .. } = completed;
            if completed.version != version || arrived.get(slot) != Some(&false) {
                continue; // not asked for
            }
            batch[slot] = item;
            arrived[slot] = true;
            open -= 1;
            if let Err(error) = result
                && failed.as_ref().is_none_or(|other| slot < other.slot)
            {
                failed = Some(Unanswered { slot, error });
            }
            if failed.as_ref().is_some_and(|failed| arrived[..failed.slot].iter().all(|&arrived| arrived)) {
                break;
            }
        }
        self.cancel();
        let missing = arrived.iter().position(|arrived| !arrived).filter(|_| failed.is_none());
        let lost = missing.map(|slot| {
            let error = OracleError { block: batch[slot].block, reason: "its answer was lost".into() };
            Unanswered { slot, error }
        });
        failed.or(lost).map_or(Ok(()), Err)
    }
}

/// Blocks of an evaluation that are asked about at a time.
const EVALUATION_BATCH: usize = 4096;

/// Returns the hinge of the block by an answer, and whether the oracle vouches that it is no less than the true one. It
/// is at least 0, the score of the truth's plane, and at least the score of the answered plane.
pub fn hinge(answer: &BatchItem) -> (f64, bool) {
    hinge_of(answer.quality, answer.score)
}

/// As [`hinge`], of an answer of this quality whose plane has this score.
pub fn hinge_of(quality: Quality, score: f64) -> (f64, bool) {
    let hinge = match quality {
        Quality::UpperBound(bound) => bound.max(score),
        Quality::Exact | Quality::Heuristic => score,
    };
    // `max` would make 0 of what is no number.
    let is_number = !hinge.is_nan() && !score.is_nan();
    (if is_number { hinge.max(0.0) } else { f64::NAN }, quality != Quality::Heuristic)
}

/// The sums of the answers of an evaluation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hinges {
    /// The sum of the hinges.
    pub sum: f64,
    /// If the oracle vouches that it is no less than the true one.
    pub proven: bool,
    /// The size of the terms, if it was asked for.
    pub seen: TermSizes,
    /// The seconds of the calls, if all were measured.
    pub seconds: Option<f64>,
    /// The cost of slack-rescaled answers.
    pub slack: SlackCount,
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
    let mut hinges = Hinges { proven: true, seconds: Some(0.0), ..Hinges::default() };
    for first in (0..blocks).step_by(EVALUATION_BATCH) {
        batch.clear();
        batch.extend((first..blocks).take(EVALUATION_BATCH).map(BatchItem::new));
        executor.answer(w, wanted, batch)?;
        for answer in batch.iter() {
            let (hinge, is_proven) = hinge(answer);
            hinges.proven &= is_proven;
            hinges.sum += hinge;
            hinges.seen.add_terms(answer.seen);
            hinges.slack.take(answer.quality, answer.inner_calls);
            hinges.seconds = hinges.seconds.zip(answer.seconds).map(|(sum, more)| sum + more);
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
