//! Task losses of a run's answers, for its records: a prediction of every example, which nothing of the run depends on.

use super::driver::Run;
use super::outcome::{Losses, RunError};
use crate::clock::{ClockKind, Stopwatch};
use crate::oracle::MaxOracle;

/// Losses for records may take this share of all other time, or so many seconds where that is more.
const BESIDE: (f64, f64) = (0.1, 0.5);

impl<O: MaxOracle> Run<O> {
    /// Measures the losses of the answer just evaluated, or else of the present one, where they are asked for and are
    /// cheap. Whether they are changes nothing but how long a run takes. With patience the loss on held-out data is what was
    /// `watched`, if it was, and the training loss that of the weights that have it, in `candidate`.
    pub(super) fn measure_losses(&mut self, evaluated: bool, watched: Option<f64>) -> Result<Losses, RunError> {
        let unmeasured = Losses { train: None, test: watched };
        if !self.losses_are_cheap() {
            return Ok(unmeasured);
        }
        let Some(mut of_training) = self.losses.train.take() else { return Ok(unmeasured) };
        let stopwatch = Stopwatch::start();
        if !evaluated && watched.is_none() {
            self.solver.answer(&mut self.candidate);
        }
        let w = match &self.best {
            Some(best) if evaluated && self.best_is_new && watched.is_none() => &best.w,
            _ => &self.candidate,
        };
        let train = of_training(w);
        let is_watching = self.stop.patience.is_some();
        let test = match &mut self.losses.test {
            Some(of_test) if !is_watching => of_test(w),
            _ => Ok(watched),
        };
        self.losses.train = Some(of_training);
        self.loss_cost = match self.clock.kind() {
            ClockKind::Wall => stopwatch.seconds(),
            ClockKind::Work => self.seconds_of_predictions(),
        };
        self.loss_seconds += self.loss_cost;
        Ok(Losses { train: train?, test: test? })
    }

    /// Whether measuring the losses once more keeps within what they may cost.
    fn losses_are_cheap(&self) -> bool {
        let (share, seconds) = BESIDE;
        let next = if self.loss_cost > 0.0 { self.loss_cost } else { self.seconds_of_predictions() };
        self.loss_seconds + next <= f64::max(share * self.spent_seconds(), seconds)
    }

    /// Returns the seconds that a prediction of every training example takes, if it takes as long as a call.
    pub(super) fn seconds_of_predictions(&self) -> f64 {
        let call = match self.clock.kind() {
            ClockKind::Wall => self.counts.single_call().unwrap_or(0.0),
            ClockKind::Work => self.evaluation_oracle.prices().call,
        };
        call * self.oracle.blocks() as f64
    }
}
