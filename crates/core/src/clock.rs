//! Training time: a pausable wall clock, or a work clock that counts operations so that runs repeat exactly.
//!
//! This is the only module that reads the time. MP-BCFW's slope rule weighs gains by seconds, so a run that takes them
//! from the machine cannot be repeated. Every operation has a price, too; where the oracle knows its prices, and on the
//! work clock always, decisions go by these ([`Clock::pace`]), and the same seed gives the same bits.

use std::time::{Duration, Instant};

/// Price of one oracle call on the work clock, in seconds, unless the oracle names its own.
///
/// The two prices are what a Viterbi call and a cached plane of the OCR chain cost, rounded; what matters is
/// their ratio, by which the slope rule decides.
pub const ORACLE_CALL_WORK: f64 = 5e-6;

/// Price of scoring one cached plane (and its share of the step) on the work clock, in seconds.
pub const CACHED_PLANE_WORK: f64 = 2.5e-7;

/// Price of finding that a block can wait in the pass that begins, in seconds.
pub const WAITING_BLOCK_WORK: f64 = 3e-9;

/// The cost of a coefficient of a plane that is a sum over all examples: it is multiplied once, in order.
pub const COEFFICIENT_WORK: f64 = 2.5e-10;

/// Which clock a run uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClockKind {
    /// Seconds of the machine's monotonic clock.
    #[default]
    Wall,
    /// Seconds' worth of counted operations: the same run, the same bits.
    Work,
}

/// The training clock: runs while training, stands still while bounds are evaluated. Beside the time that it shows it
/// counts work, and says by which of them decisions are made.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Clock {
    kind: ClockKind,
    elapsed: f64,
    work: f64,
    /// Seconds that calls took while the run did not wait for them.
    hidden: f64,
    decides_by_work: bool,
    #[serde(skip)]
    running_since: Option<Instant>,
}

impl Clock {
    /// A stopped clock that shows zero.
    pub fn new(kind: ClockKind) -> Self {
        Clock {
            kind,
            elapsed: 0.0,
            work: 0.0,
            hidden: 0.0,
            decides_by_work: kind == ClockKind::Work,
            running_since: None,
        }
    }

    /// The same, but decisions go by work where `priced` says that work has known prices.
    pub fn with_prices(self, priced: bool) -> Self {
        Clock { decides_by_work: priced || self.kind == ClockKind::Work, ..self }
    }

    /// Which clock this is.
    pub fn kind(&self) -> ClockKind {
        self.kind
    }

    /// Lets the clock run; no effect if it does.
    pub fn resume(&mut self) {
        if self.running_since.is_none() {
            self.running_since = Some(Instant::now());
        }
    }

    /// Stops the clock; no effect if it stands.
    pub fn pause(&mut self) {
        if let Some(since) = self.running_since.take()
            && self.kind == ClockKind::Wall
        {
            self.elapsed += since.elapsed().as_secs_f64();
        }
    }

    /// Training seconds so far.
    pub fn now(&self) -> f64 {
        match (self.kind, self.running_since) {
            (ClockKind::Work, _) => self.work,
            (ClockKind::Wall, Some(since)) => self.elapsed + since.elapsed().as_secs_f64(),
            (ClockKind::Wall, None) => self.elapsed,
        }
    }

    /// Training seconds as decisions go by them: work where it has known prices, else what the clock shows and what
    /// calls took beside that. So what is decided does not go by how many workers there are.
    pub fn pace(&self) -> f64 {
        if self.decides_by_work { self.work } else { self.now() + self.hidden }
    }

    /// Counts seconds that calls took while the run did something else, or waited for others of them. Below zero where
    /// it waited longer than they took.
    pub fn count_hidden(&mut self, seconds: f64) {
        self.hidden += seconds;
    }

    /// Returns whether decisions go by work.
    pub fn decides_by_work(&self) -> bool {
        self.decides_by_work
    }

    /// Training work so far.
    pub fn work(&self) -> f64 {
        self.work
    }

    /// Adds training time that passed while the clock stood; the work clock shows none of it.
    pub fn credit(&mut self, seconds: f64) {
        self.elapsed += seconds;
    }

    /// Charges work: moves the work clock on, and what decisions go by where that is work.
    pub fn charge(&mut self, work: f64) {
        self.work += work;
    }
}

/// A stopwatch on the machine's clock, for what is reported but never decides anything.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts now.
    pub fn start() -> Self {
        Stopwatch(Instant::now())
    }

    /// Seconds since the start.
    pub fn seconds(self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

/// Waits; how [`Delayed`](crate::oracle::Delayed) makes an oracle costly on the wall clock.
pub fn sleep(seconds: f64) {
    std::thread::sleep(Duration::from_secs_f64(seconds));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The work clock moves by charges only, the wall clock by time only, and neither while paused.
    #[test]
    fn clocks_count_what_they_should() {
        let mut work = Clock::new(ClockKind::Work);
        work.resume();
        sleep(0.002);
        work.charge(1.5);
        work.pause();
        assert_eq!(work.now(), 1.5);

        let mut wall = Clock::new(ClockKind::Wall);
        wall.charge(1e6);
        wall.resume();
        sleep(0.002);
        wall.pause();
        let stopped = wall.now();
        sleep(0.002);
        assert_eq!(wall.now(), stopped);
        assert!((0.002..10.0).contains(&stopped));
    }
}
