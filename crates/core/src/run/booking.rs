//! What evaluation takes, in seconds as they are reported and as decisions go by them, and on which side it is booked.

use super::driver::Run;
use crate::clock::{ClockKind, Stopwatch};
use crate::oracle::MaxOracle;

/// What an evaluation took: seconds as they are reported, as decisions go by them, and work.
#[derive(Clone, Copy)]
pub(crate) struct Spent {
    seconds: f64,
    pace: f64,
    work: f64,
}

/// Times an attempt, on either clock.
pub(crate) struct Meter {
    stopwatch: Stopwatch,
    work: f64,
}

impl<O: MaxOracle> Run<O> {
    /// Begins to time what evaluation takes.
    pub(crate) fn meter(&self) -> Meter {
        Meter { stopwatch: Stopwatch::start(), work: self.clock.work() }
    }

    /// Returns what was spent since, with `calls` of the evaluation oracle; work on planes goes off the training clock.
    pub(crate) fn read(&mut self, meter: &Meter, calls: u64) -> Spent {
        let on_planes = self.clock.work() - meter.work;
        self.clock.charge(-on_planes);
        let work = on_planes + calls as f64 * self.evaluation_oracle.prices().call;
        let seconds = match self.clock.kind() {
            ClockKind::Wall => meter.stopwatch.seconds(),
            ClockKind::Work => work,
        };
        Spent { seconds, pace: if self.clock.decides_by_work() { work } else { seconds }, work }
    }

    /// Books calls and what they took as evaluation.
    pub(crate) fn book(&mut self, spent: Spent, calls: u64) {
        self.evaluation_calls += calls;
        self.evaluation_seconds += spent.seconds;
        self.evaluation_pace += spent.pace;
    }

    /// Books calls and what they took as training.
    pub(crate) fn book_training(&mut self, spent: Spent, calls: u64) {
        self.counts.oracle_calls += calls;
        self.counts.oracle_seconds += spent.seconds;
        self.clock.credit(spent.seconds);
        self.clock.charge(spent.work);
    }

    /// Moves calls that were booked as evaluation to training.
    pub(crate) fn move_to_training(&mut self, spent: Spent, calls: u64) {
        self.evaluation_calls -= calls;
        self.evaluation_seconds -= spent.seconds;
        self.evaluation_pace -= spent.pace;
        self.book_training(spent, calls);
    }

    /// Returns whether evaluation has taken no longer than training, so that bounds may be looked at.
    pub(crate) fn may_evaluate(&self) -> bool {
        self.evaluation_pace <= self.clock.pace()
    }
}
