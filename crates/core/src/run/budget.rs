//! The budgets of a run: which one is spent, and whether it has room for the last evaluation.

use super::candidate::calls_of_evaluation;
use super::evaluator::{Evaluator, PATIENCE_SECONDS};
use super::gap_predictor::Evaluate;
use super::loss_watch::LossWatch;
use super::outcome::{Stop, StopReason};
use super::training::Training;
use crate::clock::ClockKind;
use crate::oracle::MaxOracle;

/// Calls needed to predict the time of an evaluation.
const CALLS_TO_TELL: u64 = 64;

/// The budgets, and the losses that they pay for besides training and evaluation.
#[derive(Clone, Copy)]
pub(super) struct Budget<'a> {
    pub(super) stop: &'a Stop,
    pub(super) losses: &'a LossWatch,
}

/// The share of a budget of seconds that leaving w = 0 may take.
const NOTICEABLE: f64 = 0.05;

impl Budget<'_> {
    /// Returns the budget that is spent, if one is.
    pub(super) fn spent<O: MaxOracle>(&self, evaluator: &Evaluator<O>, training: &Training<O>) -> Option<StopReason> {
        let stop = self.stop;
        if stop.is_interrupted() {
            Some(StopReason::Interrupt)
        } else if stop.passes.is_some_and(|passes| training.visits() as f64 >= passes * training.blocks() as f64) {
            Some(StopReason::Passes)
        } else if stop.calls.is_some_and(|limit| training.counts.oracle_calls >= limit) {
            Some(StopReason::Calls)
        } else if stop.seconds.is_some_and(|seconds| self.seconds_to_pay(seconds, evaluator, training) >= seconds) {
            Some(StopReason::Seconds)
        } else {
            None
        }
    }

    /// Returns the seconds that a budget of `budget` has to pay for if the run ends here: training, and with
    /// `evaluate=auto` all evaluation, the last one included if the budget can bear it.
    fn seconds_to_pay<O: MaxOracle>(&self, budget: f64, evaluator: &Evaluator<O>, training: &Training<O>) -> f64 {
        let told = training.counts.oracle_calls >= CALLS_TO_TELL.min(training.blocks() as u64);
        let known = told || training.clock.kind() == ClockKind::Work;
        let is_evaluated = evaluator.is_up_to_date(training) && !self.losses.is_watching();
        let paid = self.seconds_paid(evaluator, training);
        if evaluator.mode == Evaluate::Pass || !known || is_evaluated {
            return paid;
        }
        let last = seconds_of_evaluation(evaluator, training).unwrap_or(0.0) + self.losses.watched.mean_seconds();
        paid + if last < budget { last } else { 0.0 }
    }

    /// Returns the seconds so far that budgets of seconds pay for: training, and with `evaluate=auto` all evaluation.
    pub(super) fn seconds_paid<O: MaxOracle>(&self, evaluator: &Evaluator<O>, training: &Training<O>) -> f64 {
        match evaluator.mode {
            Evaluate::Pass => training.clock.now(),
            Evaluate::Auto => {
                let spent = training.clock.now() + evaluator.cost.seconds;
                spent + self.losses.loss_seconds + self.losses.watched.seconds
            }
        }
    }

    /// Returns whether another measurement of the held-out loss would exceed the budget of seconds; the first one is
    /// always made.
    pub(super) fn has_no_room_for_measuring<O: MaxOracle>(
        &self,
        evaluator: &Evaluator<O>,
        training: &Training<O>,
    ) -> bool {
        let watched = &self.losses.watched;
        let beyond = |limit| self.seconds_paid(evaluator, training) + watched.mean_seconds() > limit;
        watched.lowest.is_some() && self.stop.seconds.is_some_and(beyond)
    }

    /// Returns the calls of training that the budgets leave; without a budget, the largest number.
    pub(super) fn training_calls_left<O: MaxOracle>(&self, training: &Training<O>) -> usize {
        let of_passes = self.stop.passes.map(|passes| (passes * training.blocks() as f64).ceil() as u64);
        let limit = [of_passes, self.stop.calls].into_iter().flatten().min();
        limit.map_or(usize::MAX, |limit| limit.saturating_sub(training.counts.oracle_calls) as usize)
    }

    /// Returns the calls after which a budget of seconds will be spent; without a budget, the largest number.
    pub(super) fn calls_in_time<O: MaxOracle>(&self, evaluator: &Evaluator<O>, training: &Training<O>) -> usize {
        let Some(seconds) = self.stop.seconds else { return usize::MAX };
        let call = match training.clock.kind() {
            ClockKind::Work => Some(evaluator.hinges.price()),
            ClockKind::Wall => evaluator.hinges.latency.mean(),
        };
        let left = (seconds - self.seconds_to_pay(seconds, evaluator, training)).max(0.0);
        call.filter(|call| *call > 0.0).map_or(usize::MAX, |call| (left / call).ceil() as usize)
    }

    /// Returns whether the budgets are large enough for one evaluation, or after an interrupt, whether it is short.
    /// Before the first call its time is unknown and taken for 0.
    pub(super) fn has_room_for_evaluation<O: MaxOracle>(
        &self,
        stop_reason: StopReason,
        evaluator: &Evaluator<O>,
        training: &Training<O>,
    ) -> bool {
        let seconds = seconds_of_evaluation(evaluator, training);
        if stop_reason == StopReason::Interrupt {
            return seconds.is_none_or(|seconds| seconds <= PATIENCE_SECONDS);
        }
        let n = training.blocks() as u64;
        let seconds = seconds.unwrap_or(0.0);
        self.stop.passes.is_none_or(|passes| passes >= 1.0)
            && self.stop.calls.is_none_or(|calls| calls >= n)
            && self.stop.seconds.is_none_or(|limit| seconds < limit)
    }

    /// Returns whether one or two more evaluations may be made to avoid w = 0: not after an interrupt, nor if they
    /// would take a noticeable part of the seconds.
    pub(super) fn can_leave_zero<O: MaxOracle>(
        &self,
        stop_reason: StopReason,
        evaluator: &Evaluator<O>,
        training: &Training<O>,
    ) -> bool {
        let seconds = 2.0 * seconds_of_evaluation(evaluator, training).unwrap_or(0.0);
        let may = stop_reason == StopReason::Gap || self.has_room_for_evaluation(stop_reason, evaluator, training);
        may && stop_reason != StopReason::Interrupt
            && self.stop.seconds.is_none_or(|limit| seconds < NOTICEABLE * limit)
    }
}

/// Estimates the seconds to end now: one evaluation, and two looks over the planes kept (the evaluation's, and that of
/// the next step). `None` before the first call.
fn seconds_of_evaluation<O: MaxOracle>(evaluator: &Evaluator<O>, training: &Training<O>) -> Option<f64> {
    Some(seconds_of_calls(evaluator, training)? + 2.0 * evaluator.predictor.seconds_of_look())
}

fn seconds_of_calls<O: MaxOracle>(evaluator: &Evaluator<O>, training: &Training<O>) -> Option<f64> {
    let calls = calls_of_evaluation(training.blocks()) as u64;
    if training.clock.kind() == ClockKind::Work {
        // Work is the same on any number of threads.
        return Some(evaluator.hinges.price() * calls as f64);
    }
    if let Some(call) = evaluator.hinges.latency.mean() {
        return Some(call * calls as f64);
    }
    let workers = evaluator.hinges.workers();
    Some(training.counts.single_call()? * calls.div_ceil(workers as u64) as f64)
}
