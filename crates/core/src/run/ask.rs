//! The hinges of an answer, block by block: in batches that an interrupt need not wait for, with what rounding needs.

use super::driver::Run;
use super::outcome::RunError;
use super::under_way::Asked;
use crate::clock::Stopwatch;
use crate::executor::{BatchItem, Executor, Reply, Sequential, hinge};
use crate::oracle::MaxOracle;

/// Most calls of a batch.
const LARGEST_BATCH: usize = 4096;

/// An interrupt has to wait for a batch, so none should take longer, in seconds.
const LONG_BATCH_SECONDS: f64 = 0.05;

/// Planes of a batch should not have more coefficients: 4 Mi are at most 48 MiB.
const LARGE_BATCH_COEFFICIENTS: usize = 1 << 22;

/// An evaluation goes on after an interrupt if what is left of it takes no longer than this, in seconds.
pub(super) const PATIENCE_SECONDS: f64 = 2.0;

impl<O: MaxOracle> Run<O> {
    /// Calls for `blocks` in turn at `w` and books what they say. Returns whether all were asked for: an interrupt ends
    /// it where the rest would take too long, which the first call tells where there was none before.
    pub(super) fn ask_patiently(&mut self, w: &[f64], blocks: &[u32], asked: &mut Asked) -> Result<bool, RunError> {
        let mut left = blocks;
        while !left.is_empty() {
            let size = match self.latency.mean().or(self.counts.single_call()) {
                _ if !self.is_interrupted() => self.batch_size(),
                Some(call) if left.len() as f64 * call > PATIENCE_SECONDS => return Ok(false),
                Some(_) => self.batch_size(),
                None => 1,
            };
            let (next, rest) = left.split_at(size.min(left.len()));
            self.ask(w, self.wanted(), next, asked)?;
            left = rest;
        }
        Ok(true)
    }

    /// Returns how many calls a batch has room for. It decides how long an interrupt waits, and nothing else.
    pub(super) fn batch_size(&self) -> usize {
        let width = self.evaluation_executor.as_ref().map_or(1, |executor| executor.width()).max(1);
        let Some(call) = self.latency.mean() else { return 4 * width };
        let in_time = (LONG_BATCH_SECONDS / call.max(1e-9)) as usize;
        let plane = (self.latency.coefficients / self.latency.calls).max(1) as usize;
        in_time.min(LARGE_BATCH_COEFFICIENTS / plane).clamp(width, LARGEST_BATCH)
    }

    /// Calls for the `next` blocks at `w` and books what they say; the answers stay in the batch.
    pub(super) fn ask(&mut self, w: &[f64], wanted: Reply, next: &[u32], asked: &mut Asked) -> Result<(), RunError> {
        let w = self.regularizer.metric().weights(w);
        let batch = &mut self.batch;
        batch.resize_with(next.len(), || BatchItem::new(0));
        batch.iter_mut().zip(next).for_each(|(item, &block)| item.block = block as usize);
        let stopwatch = Stopwatch::start();
        let answered = match &mut self.evaluation_executor {
            Some(executor) => executor.answer(w, wanted, batch),
            None => Sequential::new(&mut self.evaluation_oracle, &mut self.plane).answer(w, wanted, batch),
        };
        answered.map_err(crate::oracle::OracleError::from)?;
        let taken = batch.iter().map(|item| item.seconds).sum();
        self.latency.add(next.len(), stopwatch.seconds(), taken);
        for item in batch {
            let (score, proven) = hinge(item);
            if wanted == Reply::Planes {
                self.latency.coefficients += item.plane.view().star.values().len() as u64;
                if self.rounding.needs_planes() {
                    item.seen.add(1.0, item.plane.view(), w);
                }
            }
            asked.terms.add_terms(item.seen);
            asked.proven &= proven;
            asked.partly_proven |= proven;
            asked.hinges[item.block] = score;
        }
        asked.calls += next.len();
        Ok(())
    }

    /// What an evaluation wants of answers.
    pub(super) fn wanted(&self) -> Reply {
        if self.rounding.needs_planes() { Reply::Terms } else { Reply::Scores }
    }
}
