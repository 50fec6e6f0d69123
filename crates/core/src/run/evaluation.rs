//! Evaluation: bounds and losses of the present answer, by an oracle of its own.

use super::booking::Meter;
use super::driver::Run;
use super::moment::Evaluate;
use super::outcome::{Best, Losses, Outcome, RunError};
use super::stop::{GapTarget, StopReason};
use crate::clock::Stopwatch;
use crate::executor::{Executor, Sequential, sum_of_hinges};
use crate::observe::{Certificate, GapForecast, KernelState, Record};
use crate::oracle::MaxOracle;
use crate::rounding::Rounded;

/// After an evaluation that was not proven, the next attempt is made after so many times the passes.
const TRY_AGAIN: f64 = 1.25;

impl<O: MaxOracle> Run<O> {
    /// Looks at the bounds at the end of an outer iteration, or of a part of one.
    pub(super) fn look(&mut self, iteration_ended: bool) -> Result<(), RunError> {
        self.clock.pause();
        match self.evaluate {
            Evaluate::Pass if iteration_ended && self.may_evaluate() => self.evaluate_aside(),
            Evaluate::Pass => Ok(()),
            Evaluate::Auto => {
                let progress = self.solver.progress();
                self.books = [self.books, progress.dual].into_iter().flatten().reduce(f64::max);
                let forecast = |seen| if self.solver.facts().evaluates { seen } else { self.forecast.gap(seen) };
                self.estimate = progress.gap_seen.map(forecast);
                (self.evaluated, self.least_gap) = (None, None);
                let evaluated = iteration_ended && self.take_pass_value()?;
                if !evaluated && (self.dual.is_none() || self.is_within_reach()) {
                    let meter = self.meter();
                    self.prove_dual();
                    self.book_proof(&meter);
                    self.check_bounds()?;
                }
                // Where F alone has closed the gap to the best P so far, there is nothing left to try.
                if !self.gap_reached()
                    && !self.solver.facts().evaluates
                    && let Some(target) = self.target_in_reach()
                {
                    self.attempt(target, iteration_ended)?;
                }
                self.end_look(iteration_ended)
            }
        }
    }

    /// Books the primal value that the calls of the outer iteration have found by themselves; `false` where they have not.
    fn take_pass_value(&mut self) -> Result<bool, RunError> {
        let meter = self.meter();
        let Some(found) = self.solver.pass_value() else { return Ok(false) };
        let primal = self.rounding.primal(&self.regularizer, found.w, found.hinges, found.terms);
        let (w, proven) = (found.w.to_vec(), found.proven);
        self.settle(w, primal, proven, None)?;
        self.book_proof(&meter);
        Ok(true)
    }

    /// Tells of what a look at the bounds has found, once no attempt is under way: after an outer iteration, where `tells`,
    /// and whatever was evaluated.
    fn end_look(&mut self, tells: bool) -> Result<(), RunError> {
        if self.attempt.is_some() {
            return Ok(());
        }
        self.estimate = [self.estimate, self.least_gap].into_iter().flatten().reduce(f64::max);
        if tells || self.evaluated_at == Some(self.steps) { self.record_best() } else { Ok(()) }
    }

    /// Goes on with an attempt that was suspended, and with what follows it.
    pub(super) fn go_on_looking(&mut self) -> Result<(), RunError> {
        self.clock.pause();
        let tells = self.attempt.as_ref().is_none_or(|attempt| attempt.tells);
        self.go_on_with_attempt()?;
        if self.steps > 0 { self.end_look(tells) } else { Ok(()) }
    }

    /// Books the time of a proof of F.
    fn book_proof(&mut self, meter: &Meter) {
        let spent = self.read(meter, 0);
        self.book(spent, 0);
    }

    /// Looks at the bounds of what a warm start has brought, before the first step: they may be all that is wanted.
    pub(super) fn look_at_start(&mut self) -> Result<(), RunError> {
        let warm = self.solver.progress().dual.is_some_and(|dual| dual > 0.0) && !self.solver.facts().evaluates;
        if warm && self.evaluate == Evaluate::Auto && self.evaluated_at.is_none() {
            self.books = self.solver.progress().dual;
            if let Some(target) = self.target_in_reach() {
                self.attempt(target, true)?;
            }
        }
        Ok(())
    }

    /// Whether the bounds that there are would end the run, if the dual value on the books can be proven.
    fn is_within_reach(&self) -> bool {
        match (self.stop.gap, self.best_primal(), self.expected_dual()) {
            (Some(target), Some((primal, _)), Some(dual)) => primal.value - dual <= target.at(primal.value),
            _ => false,
        }
    }

    /// The target, where an evaluation may end the run by it.
    fn target_in_reach(&mut self) -> Option<GapTarget> {
        let (target, dual) = (self.stop.gap?, self.expected_dual()?);
        // What the oracle has not proven once, it may at other weights; if it proved a part, that is worth trying now and then.
        let in_doubt = self.doubted.is_some_and(|(pass, partly)| !partly || self.passes() < TRY_AGAIN * pass);
        let too_soon = self.forecast.is_too_soon(self.passes());
        if (in_doubt && !self.stop.estimated) || too_soon || !self.may_evaluate() {
            return None;
        }
        let seen = self.solver.progress().gap_seen;
        let (forecast, passes, pace) = (&self.forecast, self.passes(), self.clock.pace());
        let near = seen.is_none_or(|seen| forecast.is_near(seen, target.at(dual + forecast.gap(seen)), passes, pace));
        near.then_some(target)
    }

    /// Evaluates all answers of the solver, off the training clock; nothing of it reaches the solver.
    fn evaluate_aside(&mut self) -> Result<(), RunError> {
        let meter = self.meter();
        let mut candidate = std::mem::take(&mut self.candidate);
        self.solver.answer(&mut candidate);
        let (mut primal, mut proven) = self.primal(&candidate)?;
        let mut calls = self.oracle.blocks() as u64;
        let mut other = std::mem::take(&mut self.other);
        let other_dual = self.solver.alternative(&mut other);
        let mut answer = None;
        if other_dual.is_some() {
            let (other_primal, other_proven) = self.primal(&other)?;
            calls *= 2;
            answer = Some("last");
            if other_proven >= proven && other_primal.upper() < primal.upper() {
                (primal, proven, answer) = (other_primal, other_proven, Some("average"));
                std::mem::swap(&mut candidate, &mut other);
            }
        }
        self.other = other;
        self.settle(candidate, primal, proven, answer)?;
        let spent = self.read(&meter, calls);
        self.book(spent, calls);
        self.record_best()
    }

    /// Books a primal value, that of the weights `w`, which are the solver's answer of this name, and proves the dual
    /// value that goes with it.
    pub(super) fn settle(
        &mut self,
        mut w: Vec<f64>,
        primal: Rounded,
        proven: bool,
        answer: Option<&'static str>,
    ) -> Result<(), RunError> {
        if !primal.value.is_finite() {
            return Err(RunError::NotFinite(primal.value));
        }
        // A proven value is worth more than an unproven one, which may be too low to be true.
        let lower = |best: &Best| primal.upper() < best.primal.upper();
        let better = |best: &Best| (proven && !best.proven) || (proven == best.proven && lower(best));
        self.noise = primal.rounding;
        self.best_is_new = self.keeps_latest() || self.best.as_ref().is_none_or(better);
        if self.best_is_new {
            let old = self.best.replace(Best { w, primal, proven });
            w = old.map(|best| best.w).unwrap_or_default();
        }
        (self.candidate, self.evaluated, self.evaluated_at) = (w, answer, Some(self.steps));
        self.prove_dual();
        self.check_bounds()
    }

    /// Tells the observers of the best bounds so far, with the losses of the answer just evaluated, or else of the
    /// present one.
    pub(super) fn record_best(&mut self) -> Result<(), RunError> {
        let certificate = self.certificate(); // what is proven for records alone may change nothing
        let known = |bounds: [Option<f64>; 2]| bounds.into_iter().flatten();
        let gap = known([certificate.gap, self.solver.progress().gap_seen]).fold(f64::INFINITY, f64::min);
        let dual = known([certificate.dual, self.books]).fold(f64::NEG_INFINITY, f64::max);
        self.standing.look(gap, dual, self.passes());
        self.record_shown(self.evaluated_at == Some(self.steps))
    }

    /// Tells the observers of the bounds to show.
    fn record_shown(&mut self, evaluated: bool) -> Result<(), RunError> {
        let meter = self.meter();
        let certificate = self.certificate_to_show();
        self.book_proof(&meter);
        let watched = self.watch()?;
        let losses = self.measure_losses(evaluated, watched)?;
        self.record(certificate, losses, self.evaluated)
    }

    /// Returns P at `w` by one call per example, with a bound on its rounding, and whether the oracle's word is that it
    /// is no less than the true P.
    pub(crate) fn primal(&mut self, w: &[f64]) -> Result<(Rounded, bool), RunError> {
        let wanted = self.wanted();
        let blocks = self.evaluation_oracle.blocks();
        let mut alone = Sequential::new(&mut self.evaluation_oracle, &mut self.plane);
        let evaluation_executor: &mut dyn Executor = match &mut self.evaluation_executor {
            Some(evaluation_executor) => &mut **evaluation_executor,
            None => &mut alone,
        };
        let stopwatch = Stopwatch::start();
        let weights = self.regularizer.metric().weights(w);
        let hinges = sum_of_hinges(evaluation_executor, blocks, weights, wanted, &mut self.batch)?;
        self.latency.add(blocks, stopwatch.seconds(), hinges.seconds);
        let primal = self.rounding.primal(&self.regularizer, w, hinges.sum, hinges.seen);
        if primal.value.is_finite() { Ok((primal, hinges.proven)) } else { Err(RunError::NotFinite(primal.value)) }
    }

    /// Tells the observers of an evaluation.
    pub(crate) fn record(
        &mut self,
        certificate: Certificate,
        losses: Losses,
        answer: Option<&'static str>,
    ) -> Result<(), RunError> {
        let progress = self.solver.progress();
        let (cost, split) = (self.cost(), self.split());
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
            forecast: (self.evaluate == Evaluate::Auto).then_some(GapForecast {
                gap_estimate: self.estimate,
                evaluation_calls: cost.evaluation_calls,
                evaluation_seconds: cost.evaluation_seconds,
            }),
            planes: progress.planes,
            train_loss: losses.train,
            test_loss: losses.test,
            early_stopping: self.early_stopping(),
            answer,
            details: self.solver.details(),
            examples_drawn: self.solver.drawn(),
            kernel: self.regularizer.metric().counts().map(|counts| KernelState {
                kernel_evaluations: counts.evaluations,
                support_vectors: self.solver.support_vectors(),
            }),
        };
        for observer in &mut self.observers {
            observer.evaluated(&record)?;
        }
        Ok(())
    }

    /// Returns the best bounds so far.
    pub(super) fn certificate(&self) -> Certificate {
        let certified = self.is_certified();
        match (self.best_primal(), self.dual) {
            (Some((primal, _)), Some(dual)) => {
                let (primal, dual) = Rounded::bracket(primal, dual);
                Certificate::new(primal, Some(dual), certified)
            }
            (primal, dual) => {
                let primal = primal.map_or(f64::INFINITY, |(primal, _)| primal.upper());
                Certificate::new(primal, dual.map(Rounded::lower), certified)
            }
        }
    }

    /// Returns what the run has come to. Evaluates once more if the solver has moved since the last time and the budget
    /// has room for it.
    ///
    /// # Errors
    ///
    /// An evaluation that failed.
    pub fn outcome(&mut self, stop_reason: StopReason) -> Result<Outcome, RunError> {
        self.clock.pause();
        self.solver.catch_up();
        self.forget_ahead();
        self.end_watch(stop_reason)?;
        if self.early_stopping().is_some() {
            let outcome = self.outcome_so_far(stop_reason);
            self.check_bounds()?;
            self.record_chosen()?;
            return Ok(outcome);
        }
        if self.evaluated_at != Some(self.steps) && stop_reason != StopReason::Gap {
            match self.evaluate {
                Evaluate::Pass => self.evaluate_aside()?,
                Evaluate::Auto if self.has_room_for_evaluation(stop_reason) => {
                    self.evaluate_answer()?;
                    self.record_best()?;
                }
                Evaluate::Auto => {}
            }
        }
        let recorded = self.dual;
        let outcome = self.outcome_so_far(stop_reason);
        if self.dual != recorded {
            let evaluated = self.evaluated_at == Some(self.steps);
            self.record_shown(evaluated)?; // the last record says what the run ends with, whatever its losses cost
        }
        Ok(outcome)
    }

    /// Returns what the run has come to, without another call of the oracle: where there is no time. Before the first
    /// evaluation that is the solver's present answer, of which the primal value is not known: infinite. w = 0 takes its
    /// place where that is known to be better, but not of runs that answer [with the latest](Run::with_latest). With
    /// [patience](super::Stop::patience) it is the iterate with the lowest held-out loss.
    pub fn outcome_so_far(&mut self, stop_reason: StopReason) -> Outcome {
        self.clock.pause();
        self.solver.catch_up();
        self.choose_lowest();
        if self.evaluated_at != Some(self.steps) {
            self.prove_dual();
        }
        let mut certificate = self.certificate();
        // Where the latest answer counts, none that was evaluated before does.
        let is_latest = self.evaluated_at == Some(self.steps);
        let best = self.best.as_ref().filter(|_| is_latest || !self.keeps_latest());
        let w = match (best, self.zero()) {
            _ if self.chosen.is_some() => self.chosen.clone().unwrap_or_default(),
            (Some(best), zero) if zero.is_none_or(|zero| best.primal.upper() <= zero) => best.w.clone(),
            (Some(_), Some(_)) => vec![0.0; self.regularizer.metric().size(self.dim())],
            _ if stop_reason == StopReason::Gap => vec![0.0; self.regularizer.metric().size(self.dim())],
            _ => {
                let mut w = Vec::new();
                self.solver.answer(&mut w);
                certificate = Certificate::new(f64::INFINITY, self.dual.map(Rounded::lower), false);
                w
            }
        };
        Outcome {
            w,
            certificate,
            primal_at_zero: self.primal_at_zero,
            rounding: self.rounding_in_gap(),
            still_since: self.standing.long_since(self.passes()),
            loss_seconds: self.loss_seconds + self.watched.seconds,
            early_stopping: self.early_stopping(),
            stop_reason,
            cost: self.cost(),
            progress: self.solver.progress(),
            details: self.solver.details(),
        }
    }
}
