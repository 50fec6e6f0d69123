//! Evaluation: bounds and losses of the present answer, off the training clock, by an oracle of its own.

use super::driver::Run;
use super::outcome::{Best, Losses, Outcome, RunError};
use super::stop::StopReason;
use crate::clock::{ClockKind, Stopwatch};
use crate::executor::{Executor, Reply, Sequential, sum_of_hinges};
use crate::observe::{Certificate, Record};
use crate::oracle::{Capabilities, MaxOracle, NoCapabilities};
use crate::rounding::Rounded;

impl<O: MaxOracle> Run<O> {
    /// Evaluates the solver's present answer: primal, dual, losses; tells the observers.
    pub(super) fn evaluate(&mut self) -> Result<(), RunError> {
        let stopwatch = Stopwatch::start();
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
        self.dual = self.rounded_duals().into_iter().chain(self.dual).reduce(Rounded::higher);
        // Losses come after the time is taken: whether they are measured must not change how often bounds are.
        self.book_evaluation(stopwatch, calls);
        let losses = match &mut self.losses {
            Some(meter) => meter(&candidate)?,
            None => Losses::default(),
        };
        // A proven value is worth more than an unproven one, which may be too low to be true.
        let better = |best: &Best| (proven && !best.proven) || (proven == best.proven && primal.upper() < best.primal.upper());
        if self.best.as_ref().is_none_or(better) {
            let old = self.best.replace(Best { w: candidate, primal, proven });
            candidate = old.map(|best| best.w).unwrap_or_default();
        }
        self.candidate = candidate;
        self.evaluated_at = Some(self.steps);
        let primal = self.best.as_ref().map_or(primal, |best| best.primal);
        self.record(self.certificate(primal.upper()), losses, answer)
    }

    /// Books `calls` of the evaluation oracle and the time since the stopwatch started, which it returns.
    pub(crate) fn book_evaluation(&mut self, stopwatch: Stopwatch, calls: u64) -> f64 {
        let seconds = match self.clock.kind() {
            ClockKind::Wall => stopwatch.seconds(),
            ClockKind::Work => calls as f64 * self.evaluation_oracle.call_cost(),
        };
        self.evaluation_calls += calls;
        self.evaluation_seconds += seconds;
        seconds
    }

    /// Returns whether evaluation has taken no longer than training, so that bounds may be looked at.
    pub(crate) fn may_evaluate(&self) -> bool {
        self.evaluation_seconds <= self.clock.now()
    }

    /// Moves an evaluation of `n` calls to training. A training oracle with a delay would have taken longer.
    pub(crate) fn book_as_training(&mut self, seconds: f64) {
        let calls = self.evaluation_oracle.blocks() as u64;
        self.evaluation_calls -= calls;
        self.evaluation_seconds -= seconds;
        let seconds = seconds + calls as f64 * (self.oracle.call_cost() - self.evaluation_oracle.call_cost());
        self.counts.oracle_calls += calls;
        self.counts.oracle_seconds += seconds;
        self.clock.credit(seconds);
    }

    /// Returns the dual values of the solver's points, each with a bound on its rounding.
    pub(crate) fn rounded_duals(&mut self) -> Vec<Rounded> {
        let (mut none, mut values) = (NoCapabilities, Vec::new());
        let source: &mut dyn Capabilities = match self.oracle.capabilities() {
            Some(source) => source,
            None => &mut none,
        };
        self.solver.rounded_duals(&self.rounding, source, &mut values);
        values
    }

    /// Returns P at `w` by one call per example, with a bound on its rounding, and whether the oracle's word is that it
    /// is no less than the true P.
    pub(crate) fn primal(&mut self, w: &[f64]) -> Result<(Rounded, bool), RunError> {
        let wanted = if self.rounding.needs_planes() { Reply::Terms } else { Reply::Scores };
        let blocks = self.evaluation_oracle.blocks();
        let mut alone = Sequential::new(&mut self.evaluation_oracle, &mut self.plane);
        let evaluation_executor: &mut dyn Executor = match &mut self.evaluation_executor {
            Some(evaluation_executor) => &mut **evaluation_executor,
            None => &mut alone,
        };
        let hinges = sum_of_hinges(evaluation_executor, blocks, w, wanted, &mut self.batch)?;
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

    /// Returns the bounds of the best weights evaluated so far, whose primal value is `primal`.
    fn certificate(&self, primal: f64) -> Certificate {
        Certificate::new(primal, self.dual.map(Rounded::lower), self.is_certified())
    }

    /// Returns what the run has come to. Evaluates once more if the solver has moved since the last time.
    ///
    /// # Errors
    ///
    /// An evaluation that failed.
    pub fn outcome(&mut self, stop_reason: StopReason) -> Result<Outcome, RunError> {
        self.clock.pause();
        if self.evaluated_at != Some(self.steps) {
            self.evaluate()?;
        }
        Ok(self.outcome_so_far(stop_reason))
    }

    /// Returns what the run has come to, without another call of the oracle: where there is no time. Before the first
    /// evaluation that is the solver's present answer, of which the primal value is not known: infinite.
    pub fn outcome_so_far(&mut self, stop_reason: StopReason) -> Outcome {
        self.clock.pause();
        let best = self.best.clone().unwrap_or_else(|| {
            let mut w = Vec::new();
            self.dual = self.solver.answer(&mut w).map(Rounded::exact);
            Best { w, primal: Rounded::exact(f64::INFINITY), proven: false }
        });
        Outcome {
            w: best.w,
            certificate: self.certificate(best.primal.upper()),
            rounding: self.rounding_in_gap(),
            stop_reason,
            cost: self.cost(),
            progress: self.solver.progress(),
        }
    }
}
