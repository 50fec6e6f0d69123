//! From a [`Session`] to a run: oracles and their executors, solver, stops, observers. An oracle that is aborted
//! refuses further calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use multiplane_core::clock::ClockKind;
use multiplane_core::executor::{Executor, Threads};
use multiplane_core::oracle::{
    Audited, BoxedOracle, Delay, Delayed, MaxOracle, OracleError, OracleResult, Wrapped, Wrapper,
};
use multiplane_core::plane::Plane;
use multiplane_core::run::{GapTarget, Run, Stop};
use multiplane_solvers::BoxedSolver;

use super::checkpointer::RunOptions;
use super::open::Session;
use crate::error::Error;
use crate::spec::USUAL_PASSES;

/// The executors of training and of evaluation.
type Executors = (Box<dyn Executor>, Box<dyn Executor>);

/// Wraps an oracle before it is asked.
type Wrap = Arc<dyn Fn(BoxedOracle) -> BoxedOracle + Send + Sync>;

impl Session {
    /// A run at `lambda` that stops at `gap` and at the other stops of the specification.
    pub(crate) fn prepare(
        &self,
        lambda: f64,
        gap: Option<GapTarget>,
        options: RunOptions,
    ) -> Result<Run<BoxedOracle>, Error> {
        self.prepare_after(lambda, gap, options, (0, 0.0))
    }

    /// As [`prepare`](Session::prepare); budgets count what comes after so many calls and seconds.
    pub(crate) fn prepare_after(
        &self,
        lambda: f64,
        gap: Option<GapTarget>,
        options: RunOptions,
        (calls, seconds): (u64, f64),
    ) -> Result<Run<BoxedOracle>, Error> {
        // A gap alone could keep a run going for ever: rounding, a heuristic oracle, or a lambda that is too small.
        let unlimited = gap.is_some() && !self.spec.stop.has_budget();
        let passes = if unlimited { Some(USUAL_PASSES) } else { self.spec.stop.passes };
        let stop = Stop {
            gap,
            estimated: self.spec.stop.estimated,
            passes: passes.map(|passes| passes + calls as f64 / self.problem.blocks() as f64),
            calls: self.spec.stop.calls.map(|limit| limit.saturating_add(calls)),
            seconds: self.spec.stop.seconds.map(|limit| (limit - self.paid()).max(0.0) + seconds),
            patience: self.spec.stop.patience,
            interrupt: options.interrupt.clone(),
        };
        let wrap = self.wrapping(options.abort);
        let mut run = Run::new(
            wrap(self.problem.oracles().oracle(0)?),
            wrap(self.problem.oracle()?),
            self.solver(lambda),
            self.regularizer.with_lambda(lambda),
            stop,
        )
        .with_seed(self.spec.seed)
        .with_clock(self.spec.clock)
        .with_evaluate(self.spec.evaluate)
        .with_latest(self.spec.solver.entry.is_online);
        if let Some((training, evaluation)) = self.executors(&wrap)? {
            run = run.with_executors(training, evaluation);
        }
        for observer in options.observers {
            run = run.with_observer(observer);
        }
        if options.losses || self.spec.stop.patience.is_some() {
            run = run.with_losses(self.loss_meters(options.losses, options.interrupt));
        }
        Ok(run)
    }

    /// Seconds that were spent before the run, of its limit.
    fn paid(&self) -> f64 {
        self.choice.as_ref().map_or(0.0, |choice| choice.seconds)
    }

    /// The solver of the specification at `lambda`, not begun.
    pub(crate) fn solver(&self, lambda: f64) -> BoxedSolver {
        let (blocks, dim) = (self.problem.blocks(), self.problem.dim());
        self.spec.solver.config.build(blocks, dim, self.regularizer.with_lambda(lambda))
    }

    /// An oracle as training asks it.
    pub(crate) fn training_oracle(&self) -> Result<BoxedOracle, Error> {
        Ok(self.wrapping(None)(self.problem.oracles().oracle(0)?))
    }

    /// Returns the wrapping of oracles: an audit of those that are not ours, the delay of the specification, and the
    /// flag that lets them be stopped.
    fn wrapping(&self, abort: Option<Arc<AtomicBool>>) -> Wrap {
        let (seconds, sleeps) = (self.spec.oracle.delay_us * 1e-6, self.spec.clock == ClockKind::Wall);
        let audit = self.audit.clone();
        Arc::new(move |mut oracle: BoxedOracle| -> BoxedOracle {
            if let Some(audit) = &audit {
                oracle = Box::new(Audited::new(oracle, audit.clone()));
            }
            if seconds > 0.0 {
                oracle = Box::new(Delayed::new(oracle, Delay { seconds, sleeps }));
            }
            match &abort {
                Some(flag) => Box::new(Wrapped::new(oracle, Abort(flag.clone()))),
                None => oracle,
            }
        })
    }

    /// Who answers many questions at one w in training and in evaluation; `None` where one oracle does.
    fn executors(&self, wrap: &Wrap) -> Result<Option<Executors>, Error> {
        let size = self.pool_size()?;
        // A delay is one of single calls.
        let own = || if self.spec.oracle.delay_us == 0.0 { self.problem.oracles().executor(size) } else { Ok(None) };
        let shared = || -> Result<Box<dyn Executor>, Error> {
            let (problem, wrap) = (self.problem.clone(), wrap.clone());
            let oracle = move |slot| {
                problem.oracles().oracle(slot).map(|oracle| wrap(oracle)).map_err(|error| error.to_string())
            };
            let size = size.at_most(self.problem.blocks());
            Ok(Box::new(Threads::spawning(size, oracle, self.pool_stats.clone()).map_err(Error::input)?))
        };
        let evaluation = own()?;
        if evaluation.is_none() && size.most < 2 {
            return Ok(None);
        }
        let executor = |own: Option<Box<dyn Executor>>| own.map_or_else(shared, Ok);
        Ok(Some((executor(own()?)?, executor(evaluation)?)))
    }
}

/// Makes every call fail once the flag is set.
pub(crate) struct Abort(pub(crate) Arc<AtomicBool>);

impl Wrapper for Abort {
    fn maximize(&mut self, inner: &mut impl MaxOracle, block: usize, w: &[f64], out: &mut Plane) -> OracleResult {
        if self.0.load(Ordering::Relaxed) {
            return Err(OracleError { block, reason: "interrupted".into() });
        }
        inner.maximize(block, w, out)
    }
}
