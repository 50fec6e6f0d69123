//! Evaluation: bounds and losses of the present answer, by an oracle of its own.

use super::driver::Run;
use super::moment::Evaluate;
use super::outcome::{Best, Losses, Outcome, RunError};
use super::stop::{GapTarget, StopReason};
use crate::clock::{ClockKind, Stopwatch};
use crate::executor::{Executor, Sequential, sum_of_hinges};
use crate::observe::{Certificate, GapForecast, Record};
use crate::oracle::MaxOracle;

/// A gap that falls to less than this share of the smallest before has moved.
const FALLS: f64 = 0.99;

/// A gap that has not moved for so many passes, and for this share of all passes, stands still.
const LONG_STILL: (f64, f64) = (5.0, 0.3);

impl<O: MaxOracle> Run<O> {
    /// Looks at the bounds at the end of an outer iteration.
    pub(super) fn look(&mut self) -> Result<(), RunError> {
        self.clock.pause();
        match self.evaluate {
            Evaluate::Pass if self.may_evaluate() => self.evaluate_aside(),
            Evaluate::Pass => Ok(()),
            Evaluate::Auto => {
                let progress = self.solver.progress();
                self.dual = [self.dual, progress.dual].into_iter().flatten().reduce(f64::max);
                self.check_bounds()?;
                self.estimate = progress.gap_seen.map(|seen| self.forecast.gap(seen));
                (self.evaluated, self.least_gap) = (None, None);
                if let Some(target) = self.target_in_reach() {
                    self.attempt(target)?;
                    self.estimate = [self.estimate, self.least_gap].into_iter().flatten().reduce(f64::max);
                }
                self.record_best()
            }
        }
    }

    /// The target, where an evaluation may end the run by it.
    fn target_in_reach(&mut self) -> Option<GapTarget> {
        let (target, dual) = (self.stop.gap?, self.dual?);
        let unproven = self.best.as_ref().is_some_and(|best| !best.proven);
        if (unproven && !self.stop.estimated) || !self.may_evaluate() {
            return None;
        }
        let seen = self.solver.progress().gap_seen;
        let near = seen.is_none_or(|seen| self.forecast.is_near(seen, target.at(dual + self.forecast.gap(seen))));
        near.then_some(target)
    }

    /// Evaluates all answers of the solver, off the training clock; nothing of it reaches the solver.
    fn evaluate_aside(&mut self) -> Result<(), RunError> {
        let meter = self.meter();
        let mut candidate = std::mem::take(&mut self.candidate);
        let dual = self.solver.answer(&mut candidate);
        let (mut primal, mut proven) = self.primal(&candidate)?;
        let mut calls = self.oracle.blocks() as u64;
        let mut other = std::mem::take(&mut self.other);
        let other_dual = self.solver.alternative(&mut other);
        let mut answer = None;
        if other_dual.is_some() {
            let (other_primal, other_proven) = self.primal(&other)?;
            calls *= 2;
            answer = Some("last");
            if other_proven >= proven && other_primal < primal {
                (primal, proven, answer) = (other_primal, other_proven, Some("average"));
                std::mem::swap(&mut candidate, &mut other);
            }
        }
        self.other = other;
        let known = [dual, other_dual, self.solver.progress().dual, self.dual];
        self.dual = known.into_iter().flatten().reduce(f64::max);
        let spent = self.read(&meter, calls);
        self.book(spent, calls);
        self.settle(candidate, primal, proven, answer)?;
        self.record_best()
    }

    /// Books a primal value: that of the weights `w`, which are the solver's answer of this name.
    pub(super) fn settle(
        &mut self,
        mut w: Vec<f64>,
        primal: f64,
        proven: bool,
        answer: Option<&'static str>,
    ) -> Result<(), RunError> {
        if !primal.is_finite() {
            return Err(RunError::NotFinite(primal));
        }
        // A proven value is worth more than an unproven one, which may be too low to be true.
        let better = |best: &Best| (proven && !best.proven) || (proven == best.proven && primal < best.primal);
        self.best_is_new = self.best.as_ref().is_none_or(better);
        if self.best_is_new {
            let old = self.best.replace(Best { w, primal, proven });
            w = old.map(|best| best.w).unwrap_or_default();
        }
        (self.candidate, self.evaluated, self.evaluated_at) = (w, answer, Some(self.steps));
        self.check_bounds()
    }

    /// Returns the pass since which the gap has not moved, where that is long.
    fn still_since(&self) -> Option<f64> {
        let (since, now) = (self.fallen.1, self.passes());
        (now - since >= f64::max(LONG_STILL.0, LONG_STILL.1 * now)).then_some(since)
    }

    /// Tells the observers of the best bounds so far, with the losses of the answer just evaluated, or else of the
    /// present one.
    pub(super) fn record_best(&mut self) -> Result<(), RunError> {
        let certificate = self.certificate();
        let gap =
            [certificate.gap, self.solver.progress().gap_seen].into_iter().flatten().fold(f64::INFINITY, f64::min);
        if gap < FALLS * self.fallen.0 {
            self.fallen = (gap, self.passes());
        }
        let evaluated = self.evaluated_at == Some(self.steps);
        if self.losses.is_some() && !evaluated && self.loss_seconds > self.spent_seconds() {
            return Ok(()); // losses have cost more than all else
        }
        let losses = self.measure_losses(evaluated)?;
        self.record(certificate, losses, self.evaluated)
    }

    /// Measures the losses, where they are asked for. Whether they are changes nothing but how long a run takes.
    fn measure_losses(&mut self, evaluated: bool) -> Result<Losses, RunError> {
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
        self.loss_seconds += match self.clock.kind() {
            ClockKind::Wall => stopwatch.seconds(),
            ClockKind::Work => self.oracle.blocks() as f64 * self.evaluation_oracle.prices().call,
        };
        Ok(measured?)
    }

    /// Returns P at `w` by one call per example, and whether that is proven to be no less than the true P.
    pub(crate) fn primal(&mut self, w: &[f64]) -> Result<(f64, bool), RunError> {
        let blocks = self.evaluation_oracle.blocks();
        let mut alone = Sequential::new(&mut self.evaluation_oracle, &mut self.plane);
        let evaluation_executor: &mut dyn Executor = match &mut self.evaluation_executor {
            Some(evaluation_executor) => &mut **evaluation_executor,
            None => &mut alone,
        };
        let (hinge, proven) = sum_of_hinges(evaluation_executor, blocks, w, &mut self.batch)?;
        let primal = self.regularizer.penalty(w) + hinge;
        if primal.is_finite() { Ok((primal, proven)) } else { Err(RunError::NotFinite(primal)) }
    }

    /// Tells the observers of an evaluation.
    pub(crate) fn record(
        &mut self,
        certificate: Certificate,
        losses: Losses,
        answer: Option<&'static str>,
    ) -> Result<(), RunError> {
        let progress = self.solver.progress();
        let cost = self.cost();
        let record = Record {
            pass: cost.passes,
            iterations: progress.iterations,
            approximate_passes: progress.approximate_passes,
            oracle_calls: cost.oracle_calls,
            cached_steps: cost.cached_steps,
            seconds: cost.train_seconds,
            oracle_seconds: cost.oracle_seconds,
            certificate,
            forecast: (self.evaluate == Evaluate::Auto).then_some(GapForecast {
                gap_estimate: self.estimate,
                evaluation_calls: cost.evaluation_calls,
                evaluation_seconds: cost.evaluation_seconds,
            }),
            planes: progress.planes,
            train_loss: losses.train,
            test_loss: losses.test,
            answer,
            decisions: progress.decisions,
        };
        for observer in &mut self.observers {
            observer.evaluated(&record)?;
        }
        Ok(())
    }

    /// Returns the best bounds so far.
    pub(super) fn certificate(&self) -> Certificate {
        let primal = self.best_primal().map_or(f64::INFINITY, |(primal, _)| primal);
        Certificate::new(primal, self.dual, self.is_certified())
    }

    /// Returns what the run has come to. Evaluates once more if the solver has moved since the last time and the budget
    /// has room for it.
    ///
    /// # Errors
    ///
    /// An evaluation that failed.
    pub fn outcome(&mut self, stop_reason: StopReason) -> Result<Outcome, RunError> {
        self.clock.pause();
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
        Ok(self.outcome_so_far(stop_reason))
    }

    /// Returns what the run has come to, without another call of the oracle: where there is no time. Before the first
    /// evaluation that is the solver's present answer, of which the primal value is not known: infinite. w = 0 takes its
    /// place where that is known to be better.
    pub fn outcome_so_far(&mut self, stop_reason: StopReason) -> Outcome {
        self.clock.pause();
        let mut certificate = self.certificate();
        let w = match (&self.best, self.primal_at_zero) {
            (Some(best), zero) if zero.is_none_or(|zero| best.primal <= zero) => best.w.clone(),
            (Some(_), Some(_)) => vec![0.0; self.dim()],
            _ if stop_reason == StopReason::Gap => vec![0.0; self.dim()],
            _ => {
                let mut w = Vec::new();
                self.dual = [self.dual, self.solver.answer(&mut w)].into_iter().flatten().reduce(f64::max);
                certificate = Certificate::new(f64::INFINITY, self.dual, false);
                w
            }
        };
        Outcome {
            w,
            certificate,
            primal_at_zero: self.primal_at_zero,
            still_since: self.still_since(),
            stop_reason,
            cost: self.cost(),
            progress: self.solver.progress(),
        }
    }
}
