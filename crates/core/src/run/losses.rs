//! Task losses of a run's answers, for its records: a prediction of every example, which nothing of the run depends on.

use super::driver::Run;
use super::outcome::{Losses, RunError};
use crate::clock::{ClockKind, Stopwatch};
use crate::oracle::MaxOracle;

/// Losses for records may take this share of all other time, or so many seconds where that is more.
const BESIDE: (f64, f64) = (0.1, 0.5);

impl<O: MaxOracle> Run<O> {
    /// Measures the losses of the answer just evaluated, or else of the present one, where they are asked for and are
    /// cheap. Whether they are changes nothing but how long a run takes.
    pub(super) fn measure_losses(&mut self, evaluated: bool) -> Result<Losses, RunError> {
        if !self.losses_are_cheap() {
            return Ok(Losses::default());
        }
        let Some(mut losses) = self.losses.take() else { return Ok(Losses::default()) };
        let stopwatch = Stopwatch::start();
        if !evaluated {
            self.solver.answer(&mut self.candidate);
        }
        let w = match &self.best {
            Some(best) if evaluated && self.best_is_new => &best.w,
            _ => &self.candidate,
        };
        let measured = losses(w);
        self.losses = Some(losses);
        self.loss_cost = match self.clock.kind() {
            ClockKind::Wall => stopwatch.seconds(),
            ClockKind::Work => self.seconds_of_predictions(),
        };
        self.loss_seconds += self.loss_cost;
        Ok(measured?)
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
