//! What evaluation takes, in seconds as they are reported and as decisions go by them, and on which side it is booked.

use super::driver::Run;
use super::under_way::Latency;
pub(crate) use super::under_way::Spent;
use crate::clock::{ClockKind, Stopwatch};
use crate::oracle::MaxOracle;

/// Times an attempt, on either clock.
pub(crate) struct Meter {
    stopwatch: Stopwatch,
    latency: Latency,
    work: f64,
}

impl<O: MaxOracle> Run<O> {
    /// Begins to time what evaluation takes.
    pub(crate) fn meter(&self) -> Meter {
        Meter { stopwatch: Stopwatch::start(), latency: self.latency, work: self.clock.work() }
    }

    /// Returns what was spent since, with `calls` of the evaluation oracle; work on planes goes off the training clock.
    pub(crate) fn read(&mut self, meter: &Meter, calls: u64) -> Spent {
        let on_planes = self.clock.work() - meter.work;
        self.clock.charge(-on_planes);
        let of_calls = calls as f64 * self.evaluation_oracle.prices().call;
        let work = on_planes + of_calls;
        match self.clock.kind() {
            ClockKind::Wall => {
                let timed = self.timed(meter);
                Spent { pace: if self.clock.decides_by_work() { work } else { timed.pace }, work, ..timed }
            }
            ClockKind::Work => Spent { seconds: work, answers: of_calls, hidden: 0.0, pace: work, work },
        }
    }

    /// Returns what time has passed since, as far as it is measured.
    fn timed(&self, meter: &Meter) -> Spent {
        let (seconds, since) = (meter.stopwatch.seconds(), self.latency.since(meter.latency));
        Spent { seconds, answers: since.seconds, hidden: since.hidden, pace: seconds + since.hidden, work: 0.0 }
    }

    /// Books calls and what they took as evaluation.
    pub(crate) fn book(&mut self, spent: Spent, calls: u64) {
        self.evaluation_calls += calls;
        self.evaluation_seconds += spent.seconds;
        self.evaluation_pace += spent.pace;
    }

    /// Books calls and what they took as training.
    pub(crate) fn book_training(&mut self, spent: Spent, calls: u64) {
        self.counts.book(calls, spent.answers, spent.hidden);
        self.clock.credit(spent.seconds);
        self.clock.count_hidden(spent.hidden);
        self.clock.charge(spent.work);
    }

    /// Books a call of an evaluation in parts, and charges its price: as training, on whose clock the work that its plane
    /// made is already, or as evaluation. What time it took is booked by [`time_passed`](Run::time_passed).
    pub(super) fn charge_call(&mut self, of_plane: f64, training: bool) -> Spent {
        let price = self.evaluation_oracle.prices().call;
        let work = price + of_plane;
        let shown = if self.clock.kind() == ClockKind::Work { (work, price) } else { (0.0, 0.0) };
        let pace = if self.clock.decides_by_work() { work } else { 0.0 };
        if training {
            self.counts.book(1, shown.1, 0.0);
            self.clock.charge(price);
        } else {
            self.evaluation_calls += 1;
            self.evaluation_seconds += shown.0;
            self.evaluation_pace += pace;
        }
        Spent { seconds: shown.0, answers: shown.1, hidden: 0.0, pace, work }
    }

    /// Books the time of a part of an evaluation, as far as that is measured.
    pub(super) fn time_passed(&mut self, meter: &Meter, training: bool) -> Spent {
        if self.clock.kind() == ClockKind::Work {
            return Spent::default();
        }
        let timed = self.timed(meter);
        let spent = Spent { pace: if self.clock.decides_by_work() { 0.0 } else { timed.pace }, ..timed };
        if training {
            self.book_training(spent, 0);
        } else {
            self.book(spent, 0);
        }
        spent
    }

    /// Moves calls that were booked as training to evaluation.
    pub(super) fn move_to_evaluation(&mut self, spent: Spent, calls: u64) {
        self.counts.take_back(calls, spent.answers, spent.hidden);
        self.clock.credit(-spent.seconds);
        self.clock.count_hidden(-spent.hidden);
        self.clock.charge(-spent.work);
        self.book(spent, calls);
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
