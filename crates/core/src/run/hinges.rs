//! The hinges of an answer, block by block: in batches that an interrupt need not wait for, with what rounding needs.

use super::attempt_state::PartialEvaluation;
use super::outcome::RunError;
use super::spent::Latency;
use crate::clock::Stopwatch;
use crate::executor::{BatchItem, Executor, Hinges, Reply, Sequential, hinge, sum_of_hinges};
use crate::oracle::{MaxOracle, OracleError, SlackCount};
use crate::plane::Plane;

/// Most calls of a batch.
const LARGEST_BATCH: usize = 4096;

/// An interrupt has to wait for a batch, so none should take longer, in seconds.
const LONG_BATCH_SECONDS: f64 = 0.05;

/// Planes of a batch should not have more coefficients: 4 Mi are at most 48 MiB.
const LARGE_BATCH_COEFFICIENTS: usize = 1 << 22;

/// The oracle that bounds are evaluated with.
pub(super) struct EvaluationOracle<O> {
    oracle: O,
    executor: Option<Box<dyn Executor>>,
    /// If the bounds on rounding need the planes.
    needs_planes: bool,
    pub(super) latency: Latency,
    /// The cost of slack-rescaled answers so far.
    pub(super) slack: SlackCount,
    /// The answers of the last batch.
    pub(super) batch: Vec<BatchItem>,
    plane: Plane,
}

impl<O: MaxOracle> EvaluationOracle<O> {
    /// Asks `oracle`, which alone answers.
    pub(super) fn new(oracle: O, needs_planes: bool) -> Self {
        let (latency, slack) = (Latency::default(), SlackCount::default());
        EvaluationOracle {
            oracle,
            executor: None,
            needs_planes,
            latency,
            slack,
            batch: Vec::new(),
            plane: Plane::new(),
        }
    }

    /// Has `executor` answer.
    pub(super) fn set_executor(&mut self, executor: Box<dyn Executor>) {
        self.executor = Some(executor);
    }

    /// Returns the price of a call, in seconds.
    pub(super) fn price(&self) -> f64 {
        self.oracle.prices().call
    }

    /// Returns how many workers answer.
    pub(super) fn workers(&self) -> usize {
        self.executor.as_ref().map_or(1, |executor| executor.workers()).max(1)
    }

    /// Returns the kind of answer that an evaluation wants.
    pub(super) fn wanted(&self) -> Reply {
        if self.needs_planes { Reply::Terms } else { Reply::Scores }
    }

    /// Returns how many calls a batch has room for. It decides how long an interrupt waits, and nothing else.
    pub(super) fn batch_size(&self) -> usize {
        let width = self.executor.as_ref().map_or(1, |executor| executor.width()).max(1);
        let Some(call) = self.latency.mean() else { return 4 * width };
        let in_time = (LONG_BATCH_SECONDS / call.max(1e-9)) as usize;
        let plane = (self.latency.coefficients / self.latency.calls).max(1) as usize;
        in_time.min(LARGE_BATCH_COEFFICIENTS / plane).clamp(width, LARGEST_BATCH)
    }

    /// Calls for the `next` blocks at the weights `w` and adds what they say to `found`; the answers stay in the batch.
    pub(super) fn ask(
        &mut self,
        w: &[f64],
        wanted: Reply,
        next: &[u32],
        found: &mut PartialEvaluation,
    ) -> Result<(), RunError> {
        let batch = &mut self.batch;
        batch.resize_with(next.len(), || BatchItem::new(0));
        batch.iter_mut().zip(next).for_each(|(item, &block)| item.block = block as usize);
        let stopwatch = Stopwatch::start();
        let answered = match &mut self.executor {
            Some(executor) => executor.answer(w, wanted, batch),
            None => Sequential::new(&mut self.oracle, &mut self.plane).answer(w, wanted, batch),
        };
        answered.map_err(OracleError::from)?;
        let taken = batch.iter().map(|item| item.seconds).sum();
        self.latency.add(next.len(), stopwatch.seconds(), taken);
        for item in batch {
            let (score, proven) = hinge(item);
            if wanted == Reply::Planes {
                self.latency.coefficients += item.plane.view().star.values().len() as u64;
                if self.needs_planes {
                    item.seen.add(1.0, item.plane.view(), w);
                }
            }
            self.slack.take(item.quality, item.inner_calls);
            found.terms.add_terms(item.seen);
            found.proven &= proven;
            found.partly_proven |= proven;
            found.hinges[item.block] = score;
        }
        found.calls += next.len();
        Ok(())
    }

    /// Returns the sum of all hinges at the weights `w`, by one call per example.
    pub(super) fn sum(&mut self, w: &[f64]) -> Result<Hinges, OracleError> {
        let (wanted, blocks) = (self.wanted(), self.oracle.blocks());
        let mut alone = Sequential::new(&mut self.oracle, &mut self.plane);
        let executor: &mut dyn Executor = match &mut self.executor {
            Some(executor) => &mut **executor,
            None => &mut alone,
        };
        let stopwatch = Stopwatch::start();
        let hinges = sum_of_hinges(executor, blocks, w, wanted, &mut self.batch)?;
        self.latency.add(blocks, stopwatch.seconds(), hinges.seconds);
        self.slack.add(hinges.slack);
        Ok(hinges)
    }
}
