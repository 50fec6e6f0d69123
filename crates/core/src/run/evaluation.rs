//! Evaluation: bounds and losses of the present answer, off the training clock, by an oracle of its own.

use super::{Best, Losses, Outcome, Run, RunError, StopReason};
use crate::clock::{ClockKind, Stopwatch};
use crate::executor::{Executor, Sequential, sum_of_hinges};
use crate::observe::{Certificate, Record};
use crate::oracle::MaxOracle;

impl<O: MaxOracle> Run<O> {
    /// Evaluates the solver's present answer: primal, dual, losses; tells the observers.
    pub(super) fn evaluate(&mut self) -> Result<(), RunError> {
        let stopwatch = Stopwatch::start();
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
        self.evaluation_calls += calls;
        // Losses come after the time is taken: whether they are measured must not change how often bounds are.
        self.evaluation_seconds += match self.clock.kind() {
            ClockKind::Wall => stopwatch.seconds(),
            ClockKind::Work => calls as f64 * self.evaluation_oracle.call_cost(),
        };
        let losses = match &mut self.losses {
            Some(meter) => meter(&candidate)?,
            None => Losses::default(),
        };
        // A proven value is worth more than an unproven one, which may be too low to be true.
        let better = |best: &Best| (proven && !best.proven) || (proven == best.proven && primal < best.primal);
        if self.best.as_ref().is_none_or(better) {
            let old = self.best.replace(Best { w: candidate, primal, proven });
            candidate = old.map(|best| best.w).unwrap_or_default();
        }
        self.candidate = candidate;
        self.evaluated_at = Some(self.steps);
        self.record(losses, answer)
    }

    /// P at `w` by one call per example, and whether that is proven to be no less than the true P.
    pub(super) fn primal(&mut self, w: &[f64]) -> Result<(f64, bool), RunError> {
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

    pub(super) fn record(&mut self, losses: Losses, answer: Option<&'static str>) -> Result<(), RunError> {
        let Some(best) = &self.best else { return Ok(()) };
        let progress = self.solver.progress();
        let record = Record {
            pass: self.passes(),
            iterations: progress.iterations,
            approximate_passes: progress.approximate_passes,
            oracle_calls: self.counts.oracle_calls,
            cached_steps: self.counts.cached_steps,
            seconds: self.clock.now(),
            oracle_seconds: self.counts.oracle_seconds.min(self.clock.now()),
            certificate: Certificate::new(best.primal, self.dual, self.is_certified()),
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

    /// The certificate of the run so far. Evaluates once more if the solver has moved since the last time.
    pub fn outcome(&mut self, stop_reason: StopReason) -> Result<Outcome, RunError> {
        self.clock.pause();
        if self.evaluated_at != Some(self.steps) {
            self.evaluate()?;
        }
        Ok(self.standing(stop_reason))
    }

    /// What the run has come to, without another call of the oracle: for those who cannot wait. Before the first
    /// evaluation that is the solver's present answer, of which the primal value is not known: infinite.
    pub fn standing(&mut self, stop_reason: StopReason) -> Outcome {
        self.clock.pause();
        let best = self.best.clone().unwrap_or_else(|| {
            let mut w = Vec::new();
            self.dual = self.solver.answer(&mut w);
            Best { w, primal: f64::INFINITY, proven: false }
        });
        Outcome {
            w: best.w,
            certificate: Certificate::new(best.primal, self.dual, self.is_certified()),
            stop_reason,
            cost: self.cost(),
            progress: self.solver.progress(),
        }
    }
}
