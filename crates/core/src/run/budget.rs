//! The budgets of a run: which one is spent, and whether it has room for the last evaluation.

use super::ask::PATIENCE_SECONDS;
use super::candidate::calls_of_evaluation;
use super::driver::Run;
use super::moment::Evaluate;
use super::stop::StopReason;
use crate::clock::ClockKind;
use crate::oracle::MaxOracle;

/// Calls after which their mean time tells what an evaluation will take.
const CALLS_TO_TELL: u64 = 64;

impl<O: MaxOracle> Run<O> {
    /// Returns the budget that is spent, if one is.
    pub(crate) fn spent(&self) -> Option<StopReason> {
        let calls = self.counts.oracle_calls;
        let stop = &self.stop;
        if self.is_interrupted() {
            Some(StopReason::Interrupt)
        } else if stop.passes.is_some_and(|passes| self.visits() as f64 >= passes * self.oracle.blocks() as f64) {
            Some(StopReason::Passes)
        } else if stop.calls.is_some_and(|limit| calls >= limit) {
            Some(StopReason::Calls)
        } else if stop.seconds.is_some_and(|seconds| self.seconds_to_pay(seconds) >= seconds) {
            Some(StopReason::Seconds)
        } else {
            None
        }
    }

    /// Returns the seconds that a budget of `budget` has to pay for if the run ends here: training, and with
    /// `evaluate=auto` all evaluation, the last one included where the budget can bear it.
    fn seconds_to_pay(&self, budget: f64) -> f64 {
        let told = self.counts.oracle_calls >= CALLS_TO_TELL.min(self.oracle.blocks() as u64);
        let known = told || self.clock.kind() == ClockKind::Work;
        let is_evaluated = self.evaluated_at == Some(self.steps) && !self.is_watching();
        if self.evaluate == Evaluate::Pass || !known || is_evaluated {
            return self.seconds_paid();
        }
        let last = self.seconds_of_evaluation().unwrap_or(0.0) + self.watched.mean_seconds();
        self.seconds_paid() + if last < budget { last } else { 0.0 }
    }

    /// Returns the seconds so far that budgets of seconds pay for: training, and with `evaluate=auto` all evaluation.
    pub fn seconds_paid(&self) -> f64 {
        match self.evaluate {
            Evaluate::Pass => self.clock.now(),
            Evaluate::Auto => self.spent_seconds() + self.loss_seconds + self.watched.seconds,
        }
    }

    /// Returns the seconds of training and evaluation so far.
    pub(super) fn spent_seconds(&self) -> f64 {
        self.clock.now() + self.evaluation_seconds
    }

    /// Returns the calls of training that the budgets leave; there is no limit without one.
    pub(super) fn training_calls_left(&self) -> usize {
        let of_passes = self.stop.passes.map(|passes| (passes * self.oracle.blocks() as f64).ceil() as u64);
        let limit = [of_passes, self.stop.calls].into_iter().flatten().min();
        limit.map_or(usize::MAX, |limit| limit.saturating_sub(self.counts.oracle_calls) as usize)
    }

    /// Returns the calls after which a budget of seconds will be spent; there is no limit without one.
    pub(super) fn calls_in_time(&self) -> usize {
        let Some(seconds) = self.stop.seconds else { return usize::MAX };
        let call = match self.clock.kind() {
            ClockKind::Work => Some(self.evaluation_oracle.prices().call),
            ClockKind::Wall => self.latency.mean(),
        };
        let left = (seconds - self.seconds_to_pay(seconds)).max(0.0);
        call.filter(|call| *call > 0.0).map_or(usize::MAX, |call| (left / call).ceil() as usize)
    }

    /// Returns what ending now will take, by the calls and the looks over planes kept so far: an evaluation, which begins
    /// with a look, and the look with which the next step may end. `None` where there were no calls.
    fn seconds_of_evaluation(&self) -> Option<f64> {
        Some(self.seconds_of_calls()? + 2.0 * self.forecast.seconds_of_look())
    }

    fn seconds_of_calls(&self) -> Option<f64> {
        let calls = calls_of_evaluation(self.oracle.blocks()) as u64;
        if self.clock.kind() == ClockKind::Work {
            // Work is the same on any number of threads.
            return Some(self.evaluation_oracle.prices().call * calls as f64);
        }
        if let Some(call) = self.latency.mean() {
            return Some(call * calls as f64);
        }
        let workers = self.evaluation_executor.as_ref().map_or(1, |executor| executor.workers()).max(1);
        Some(self.counts.single_call()? * calls.div_ceil(workers as u64) as f64)
    }

    /// Returns whether the budgets are large enough for one evaluation, and whoever interrupts need not wait long for it;
    /// before the first call nobody knows, and one is made.
    pub(super) fn has_room_for_evaluation(&self, stop_reason: StopReason) -> bool {
        if stop_reason == StopReason::Interrupt {
            return self.seconds_of_evaluation().is_none_or(|seconds| seconds <= PATIENCE_SECONDS);
        }
        let n = self.oracle.blocks() as u64;
        let seconds = self.seconds_of_evaluation().unwrap_or(0.0);
        self.stop.passes.is_none_or(|passes| passes >= 1.0)
            && self.stop.calls.is_none_or(|calls| calls >= n)
            && self.stop.seconds.is_none_or(|limit| seconds < limit)
    }
}
