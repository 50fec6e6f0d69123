//! The mean time of something short: a few of its runs are timed.

use crate::clock::Stopwatch;

/// Runs that are timed at first, and one in how many after them: reading the clock would cost as much as what is timed.
const FIRST: u64 = 64;
const EVERY: u64 = 16;

/// The mean seconds of something that is done again and again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SampledMean {
    runs: u64,
    timed: u64,
    seconds: f64,
}

impl SampledMean {
    /// Begins a run; a stopwatch where it is one to time.
    pub(super) fn begin(&mut self) -> Option<Stopwatch> {
        self.runs += 1;
        (self.runs <= FIRST || self.runs.is_multiple_of(EVERY)).then(Stopwatch::start)
    }

    /// Ends a run.
    pub(super) fn end(&mut self, stopwatch: Option<Stopwatch>) {
        if let Some(stopwatch) = stopwatch {
            self.timed += 1;
            self.seconds += stopwatch.seconds();
        }
    }

    /// Returns the mean of those timed; `None` before the first.
    pub(super) fn mean(&self) -> Option<f64> {
        (self.timed > 0).then(|| self.seconds / self.timed as f64)
    }
}
