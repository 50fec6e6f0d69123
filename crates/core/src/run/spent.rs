//! The cost of calls and evaluations: in seconds, in the pace that decisions use, and in work.

use serde::{Deserialize, Serialize};

use crate::clock::Stopwatch;

/// The cost of an evaluation, or of a part of one.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Spent {
    /// Seconds as reports show them.
    pub(super) seconds: f64,
    /// Of these, the seconds that the run waited for answers.
    pub(super) answers: f64,
    /// Seconds that answers took while the run did not wait for them.
    pub(super) hidden: f64,
    /// Seconds as decisions go by them.
    pub(super) pace: f64,
    /// Work, in seconds.
    pub(super) work: f64,
}

impl Spent {
    /// Adds what was spent after it.
    pub(super) fn add(&mut self, more: Spent) {
        self.seconds += more.seconds;
        self.answers += more.answers;
        self.hidden += more.hidden;
        self.pace += more.pace;
        self.work += more.work;
    }
}

/// The cost of all evaluations so far.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct EvaluationCost {
    pub(super) calls: u64,
    pub(super) seconds: f64,
    /// Seconds as decisions go by them.
    pub(super) pace: f64,
}

impl EvaluationCost {
    /// Adds calls and what they took.
    pub(super) fn book(&mut self, spent: Spent, calls: u64) {
        self.calls += calls;
        self.seconds += spent.seconds;
        self.pace += spent.pace;
    }

    /// Takes back what was added.
    pub(super) fn take_back(&mut self, spent: Spent, calls: u64) {
        self.calls -= calls;
        self.seconds -= spent.seconds;
        self.pace -= spent.pace;
    }
}

/// The time that calls take when answers are asked for in batches, several workers taken together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Latency {
    pub(super) calls: u64,
    pub(super) seconds: f64,
    /// Seconds that the calls took besides these: several workers had some in hand.
    pub(super) hidden: f64,
    /// Coefficients of the planes that came back.
    pub(super) coefficients: u64,
}

impl Latency {
    /// Counts calls with the time that the run waited for them, and the time that answering took, if measured.
    pub(super) fn add(&mut self, calls: usize, waited: f64, taken: Option<f64>) {
        self.calls += calls as u64;
        self.seconds += waited;
        self.hidden += taken.unwrap_or(waited) - waited;
    }

    /// Returns the mean seconds of a call; `None` before the first.
    pub(super) fn mean(self) -> Option<f64> {
        (self.calls > 0).then(|| self.seconds / self.calls as f64)
    }
}

/// Times an evaluation, on either clock.
pub(crate) struct SpentMeter {
    stopwatch: Stopwatch,
    latency: Latency,
    work: f64,
}

impl SpentMeter {
    /// Begins, where latencies and the clock's work have come so far.
    pub(super) fn start(latency: Latency, work: f64) -> Self {
        SpentMeter { stopwatch: Stopwatch::start(), latency, work }
    }

    /// Returns the time that has passed, as far as it is measured.
    pub(super) fn timed(&self, latency: Latency) -> Spent {
        let seconds = self.stopwatch.seconds();
        let hidden = latency.hidden - self.latency.hidden;
        Spent { seconds, answers: latency.seconds - self.latency.seconds, hidden, pace: seconds + hidden, work: 0.0 }
    }

    /// Returns the work that has been charged, of so much in all.
    pub(super) fn work(&self, work: f64) -> f64 {
        work - self.work
    }
}
