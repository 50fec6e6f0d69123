//! What the slack-rescaled oracles of a problem share: what is known of it, and what their answers took and proved.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::oracle::max_oracle::MaxOracle;
use crate::rounding::Magnitudes;

/// What all slack-rescaled oracles of one problem share.
#[derive(Debug, Default)]
pub struct SlackFacts {
    listed: Vec<u32>,
    magnitudes: OnceLock<Option<Magnitudes>>,
    answers: AtomicU64,
    exact: AtomicU64,
    margin_calls: AtomicU64,
}

/// What answers took and proved so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlackCount {
    /// Answers given.
    pub answers: u64,
    /// Those proven to be the best.
    pub exact: u64,
    /// Calls of the margin oracle that they took; a list of labellings counts as one.
    pub margin_calls: u64,
}

impl SlackFacts {
    /// Begins to count. `listed[i]` is the number of labellings of block i, where the margin oracle is to list them all
    /// ([`KBestPlanes`](crate::oracle::KBestPlanes)), else 0; blocks that it leaves out are not listed.
    pub fn new(listed: Vec<u32>) -> Self {
        SlackFacts { listed, ..SlackFacts::default() }
    }

    /// Returns what was counted so far.
    pub fn told(&self) -> SlackCount {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        SlackCount { answers: read(&self.answers), exact: read(&self.exact), margin_calls: read(&self.margin_calls) }
    }

    /// Returns bounds on the terms of scores; `None` before an oracle was made, or where the margin oracle has none or does
    /// not know the largest losses.
    pub fn magnitudes(&self) -> Option<Magnitudes> {
        self.magnitudes.get().cloned().flatten()
    }

    /// Takes from a margin oracle what it knows of all scores; once.
    pub(super) fn look_at(&self, inner: &mut impl MaxOracle) {
        self.magnitudes.get_or_init(|| {
            let blocks = inner.blocks();
            let known = inner.capabilities()?;
            let magnitudes = known.magnitudes()?;
            let largest = (0..blocks).try_fold(0.0, |most: f64, block| Some(most.max(known.hinge_at_zero(block)?)))?;
            Some(magnitudes.rescaled(largest * blocks as f64))
        });
    }

    /// How many labellings of a block are all listed; 0 where they are not.
    pub(super) fn listed(&self, block: usize) -> usize {
        self.listed.get(block).map_or(0, |&count| count as usize)
    }

    /// Counts an answer.
    pub(super) fn count(&self, is_exact: bool, margin_calls: u64) {
        self.answers.fetch_add(1, Ordering::Relaxed);
        self.exact.fetch_add(u64::from(is_exact), Ordering::Relaxed);
        self.margin_calls.fetch_add(margin_calls, Ordering::Relaxed);
    }
}
