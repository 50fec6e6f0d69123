//! The records of a run and its outcome.

use super::budget::Budget;
use super::driver::Run;
use super::gap_predictor::Evaluate;
use super::outcome::{Outcome, RunError, StopReason};
use crate::observe::{Certificate, GapForecast, KernelState, Losses, Record};
use crate::oracle::MaxOracle;
use crate::rounding::Rounded;

/// Allowed rise of P above P(0): a share of the target's slack, or of the gap if there is no slack.
const RISE: [f64; 2] = [0.5, 0.01];

impl<O: MaxOracle> Run<O> {
    /// Tells the observers of the best bounds so far, with the losses of the answer just evaluated, or else of the
    /// present one.
    pub(super) fn record_best(&mut self) -> Result<(), RunError> {
        let bounds = &mut self.evaluator.bounds;
        let certificate = bounds.certificate(); // what is proven for records alone may change nothing
        let known = |bounds: [Option<f64>; 2]| bounds.into_iter().flatten();
        let gap_seen = self.training.solver.progress().gap_seen;
        let gap = known([certificate.gap, gap_seen]).fold(f64::INFINITY, f64::min);
        let dual = known([certificate.dual, bounds.books]).fold(f64::NEG_INFINITY, f64::max);
        bounds.stall.learn(gap, dual, self.training.passes());
        self.record_shown()
    }

    /// Tells the observers of the bounds to show.
    fn record_shown(&mut self) -> Result<(), RunError> {
        let (training, evaluator) = (&mut self.training, &mut self.evaluator);
        let meter = evaluator.meter(training);
        let proves = evaluator.mode == Evaluate::Auto && !self.observers.is_empty();
        let certificate = evaluator.bounds.certificate_to_show(proves, training);
        evaluator.book_since(&meter, 0, training);
        let watched = self.watch()?;
        let losses = self.losses.measure_for_record(watched, &mut self.evaluator, &self.training)?;
        self.record(certificate, losses, self.evaluator.bounds.evaluated)
    }

    /// Measures the loss on held-out data if that is due; the weights that have it are left in the evaluator's
    /// `candidate`.
    fn watch(&mut self) -> Result<Option<f64>, RunError> {
        let (training, evaluator) = (&mut self.training, &mut self.evaluator);
        let budget = Budget { stop: &self.stop, losses: &self.losses };
        if !self.losses.is_due(evaluator, training) || budget.has_no_room_for_measuring(evaluator, training) {
            return Ok(None);
        }
        self.losses.measure(evaluator, training)
    }

    /// Ends the watch over held-out data: measures the last answer as well, and evaluates P at the weights that were
    /// best. If there is no room for that, P stays unknown.
    fn end_watch(&mut self, stop_reason: StopReason) -> Result<(), RunError> {
        if !self.losses.is_watching() {
            return Ok(());
        }
        let is_measured = self.losses.watched.step == Some(self.training.steps) || stop_reason == StopReason::Interrupt;
        if !is_measured && !self.budget().has_no_room_for_measuring(&self.evaluator, &self.training) {
            self.losses.measure(&mut self.evaluator, &mut self.training)?;
        }
        if matches!(stop_reason, StopReason::Gap | StopReason::Patience) || self.has_room_for_evaluation(stop_reason) {
            self.losses.evaluate_lowest(&self.stop, &mut self.evaluator, &mut self.training)?;
        }
        Ok(())
    }

    fn has_room_for_evaluation(&self, stop_reason: StopReason) -> bool {
        self.budget().has_room_for_evaluation(stop_reason, &self.evaluator, &self.training)
    }

    /// Tells the observers of an evaluation.
    pub(crate) fn record(
        &mut self,
        certificate: Certificate,
        losses: Losses,
        answer: Option<&'static str>,
    ) -> Result<(), RunError> {
        let cost = self.cost();
        let split = self.training.split();
        let (solver, bounds) = (&self.training.solver, &self.evaluator.bounds);
        let progress = solver.progress();
        let record = Record {
            pass: cost.passes,
            iterations: progress.iterations,
            approximate_passes: progress.approximate_passes,
            oracle_calls: cost.oracle_calls,
            cached_steps: cost.cached_steps,
            seconds: cost.train_seconds,
            oracle_seconds: cost.oracle_seconds,
            split,
            certificate,
            forecast: (self.evaluator.mode == Evaluate::Auto).then_some(GapForecast {
                gap_estimate: bounds.estimate,
                evaluation_calls: cost.evaluation_calls,
                evaluation_seconds: cost.evaluation_seconds,
            }),
            planes: progress.planes,
            losses,
            early_stopping: self.losses.early_stopping(),
            answer,
            details: solver.details(),
            examples_drawn: solver.drawn(),
            kernel: self.training.regularizer.metric().counts().map(|counts| KernelState {
                kernel_evaluations: counts.evaluations,
                support_vectors: solver.support_vectors(),
            }),
        };
        for observer in &mut self.observers {
            observer.evaluated(&record)?;
        }
        Ok(())
    }

    /// Returns the outcome of the run. Evaluates once more if the solver has moved since the last time and the budget
    /// has room for it.
    ///
    /// # Errors
    ///
    /// An evaluation that failed.
    pub fn outcome(&mut self, stop_reason: StopReason) -> Result<Outcome, RunError> {
        self.training.clock.pause();
        self.training.solver.catch_up();
        self.training.forget_ahead();
        self.end_watch(stop_reason)?;
        if self.losses.early_stopping().is_some() {
            let outcome = self.outcome_so_far(stop_reason);
            self.evaluator.bounds.check_duality()?;
            self.record_chosen()?;
            return Ok(outcome);
        }
        if !self.evaluator.is_up_to_date(&self.training) && stop_reason != StopReason::Gap {
            match self.evaluator.mode {
                Evaluate::Pass => {
                    self.evaluator.evaluate_aside(&self.stop, &mut self.training)?;
                    self.record_best()?;
                }
                Evaluate::Auto if self.has_room_for_evaluation(stop_reason) => {
                    self.evaluator.evaluate_answer(&self.stop, &mut self.training)?;
                    self.record_best()?;
                }
                Evaluate::Auto => {}
            }
        }
        let multiple = self.leave_zero(stop_reason)?;
        let recorded = self.evaluator.bounds.dual;
        let outcome = self.outcome_so_far(stop_reason);
        if self.evaluator.bounds.dual != recorded {
            self.record_shown()?; // the last record says what the run ends with, whatever its losses cost
        }
        Ok(Outcome { multiple, ..outcome })
    }

    /// Makes a small multiple t w of the best iterate the answer instead of w = 0, which predicts nothing. By convexity
    /// P(t w) <= (1 - t) P(0) + t P(w): t keeps the rise of the primal value within [`RISE`]. Returns t; `None` if
    /// w = 0 is not the answer, or stays it: it is optimal, or no useful call is affordable.
    fn leave_zero(&mut self, stop_reason: StopReason) -> Result<Option<f64>, RunError> {
        let can_pay = self.budget().can_leave_zero(stop_reason, &self.evaluator, &self.training);
        let Run { training, evaluator, stop, .. } = self;
        let can_tell = can_pay && evaluator.bounds.rounding_in_gap().is_none();
        let Some(zero) = evaluator.bounds.zero().filter(|zero| *zero > 0.0 && can_tell) else { return Ok(None) };
        let is_zero = |w: &[f64]| w.iter().all(|weight| *weight == 0.0);
        if evaluator.bounds.best.is_none() {
            evaluator.evaluate_answer(stop, training)?; // the better of latest and average
        }
        let best = evaluator.bounds.best.as_ref().filter(|best| !is_zero(&best.w));
        if best.is_some_and(|best| best.primal.upper() <= zero) {
            return Ok(None);
        }
        let mut found = best.map(|best| (best.primal, best.proven));
        let mut w = best.map_or(Vec::new(), |best| best.w.clone());
        if found.is_none() {
            training.solver.answer(&mut w);
            found = evaluator.evaluate_at(&w, stop, training)?;
        }
        let Some((primal, _)) = found.filter(|_| !is_zero(&w)) else { return Ok(None) };
        let bounds = &evaluator.bounds;
        let gap = zero - bounds.dual.map_or(0.0, Rounded::lower);
        let free = bounds.target.map_or(0.0, |target| target.at(zero) - gap);
        let rise = if free > 0.0 { RISE[0] * free } else { RISE[1] * gap };
        if rise <= 0.0 {
            return Ok(None); // w = 0 is the optimum
        }
        let multiple = rise / (primal.upper() - zero).max(rise);
        if multiple < 1.0 {
            w.iter_mut().for_each(|weight| *weight *= multiple);
            found = evaluator.evaluate_at(&w, stop, training)?;
        }
        // An oracle that is not exact may break convexity, and proves less than is known of w = 0.
        let is_as_good = |(primal, proven): &(Rounded, bool)| {
            primal.upper() <= zero + 2.0 * rise && (*proven || !evaluator.bounds.is_certified())
        };
        let Some(found) = found.filter(is_as_good) else { return Ok(None) };
        evaluator.bounds.choose(&w, Some(found));
        self.record_chosen()?;
        Ok((multiple < 1.0 || primal.upper() > zero).then_some(multiple))
    }

    /// Returns the outcome of the run so far, without another call of the oracle: for when there is no time. Before the
    /// first evaluation that is the solver's present answer; its primal value is unknown and given as infinite. w = 0
    /// takes its place if that is known to be better, except in runs that answer [with the latest](Run::with_latest).
    /// With [patience](super::Stop::patience) it is the iterate with the lowest held-out loss.
    pub fn outcome_so_far(&mut self, stop_reason: StopReason) -> Outcome {
        let (training, evaluator) = (&mut self.training, &mut self.evaluator);
        training.clock.pause();
        training.solver.catch_up();
        if let (true, Some(lowest)) = (self.losses.is_watching(), &self.losses.watched.lowest) {
            evaluator.bounds.choose(&lowest.w, lowest.primal);
        }
        let is_latest = evaluator.is_up_to_date(training);
        let bounds = &mut evaluator.bounds;
        if !is_latest {
            bounds.prove_dual(training);
        }
        let mut certificate = bounds.certificate();
        // If the latest answer counts, none that was evaluated before does.
        let best = bounds.best.as_ref().filter(|_| is_latest || !bounds.keeps_latest(&self.stop, training));
        let w = match (best, bounds.zero()) {
            _ if bounds.chosen.is_some() => bounds.chosen.clone().unwrap_or_default(),
            (Some(best), zero) if zero.is_none_or(|zero| best.primal.upper() <= zero) => best.w.clone(),
            (Some(_), Some(_)) => vec![0.0; training.size()],
            _ if stop_reason == StopReason::Gap => vec![0.0; training.size()],
            _ => {
                let mut w = Vec::new();
                training.solver.answer(&mut w);
                certificate = Certificate::new(f64::INFINITY, bounds.dual.map(Rounded::lower), false);
                w
            }
        };
        let mut slack = training.counts.slack;
        slack.add(evaluator.hinges.slack);
        Outcome {
            w,
            slack,
            certificate,
            primal_at_zero: bounds.primal_at_zero,
            multiple: None,
            rounding: bounds.rounding_in_gap(),
            still_since: bounds.stall.long_since(training.passes()),
            loss_seconds: self.losses.loss_seconds + self.losses.watched.seconds,
            early_stopping: self.losses.early_stopping(),
            stop_reason,
            cost: self.cost(),
            progress: self.training.solver.progress(),
            details: self.training.solver.details(),
        }
    }

    /// Tells the observers of the weights that were chosen at the end, with the bounds that the run ends with.
    fn record_chosen(&mut self) -> Result<(), RunError> {
        let loss = self.losses.early_stopping().map(|stopping| stopping.loss);
        let evaluator = &mut self.evaluator;
        if let Some(w) = &evaluator.bounds.chosen {
            evaluator.candidate.clone_from(w);
        }
        let losses = self.losses.measure_for_record(loss, evaluator, &self.training)?;
        self.record(self.evaluator.bounds.certificate(), losses, None)
    }
}
