//! From a [`Session`] to a run: oracles and their executors, solver, stops, observers.

use multiplane_core::clock::ClockKind;
use multiplane_core::executor::{Executor, Threads};
use multiplane_core::oracle::{BoxedOracle, Delay, Delayed, Wrapped};
use multiplane_core::run::{GapTarget, Run, Stop};
use multiplane_core::solvers::BoxedSolver;

use super::abort::Abort;
use super::open::Session;
use super::options::RunOptions;
use crate::error::Error;
use crate::spec::USUAL_PASSES;

/// The executors of training and of evaluation.
type Executors = (Box<dyn Executor>, Box<dyn Executor>);

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
            seconds: self.spec.stop.seconds.map(|limit| limit + seconds),
            interrupt: options.interrupt,
        };
        let abortable = |oracle: BoxedOracle| -> BoxedOracle {
            match &options.abort {
                Some(flag) => Box::new(Wrapped::new(oracle, Abort(flag.clone()))),
                None => oracle,
            }
        };
        let evaluation_oracle = abortable(self.delayed(self.problem.oracle()?));
        let regularizer = self.regularizer.with_lambda(lambda);
        let mut run = Run::new(
            abortable(self.delayed(self.problem.oracle_of(0)?)),
            evaluation_oracle,
            self.solver(lambda),
            regularizer,
            stop,
        )
        .with_seed(self.spec.seed)
        .with_clock(self.spec.clock)
        .with_evaluate(self.spec.evaluate);
        if let Some((training, evaluation)) = self.executors(&abortable)? {
            run = run.with_executors(training, evaluation);
        }
        for observer in options.observers {
            run = run.with_observer(observer);
        }
        if options.losses {
            run = run.with_losses(self.loss_meter());
        }
        Ok(run)
    }

    /// The solver of the specification at `lambda`, not begun.
    pub(crate) fn solver(&self, lambda: f64) -> BoxedSolver {
        let (blocks, dim) = (self.problem.blocks(), self.problem.dim());
        self.spec.solver.config.build(blocks, dim, self.regularizer.with_lambda(lambda))
    }

    /// The oracle with the delay of the specification.
    fn delayed(&self, oracle: BoxedOracle) -> BoxedOracle {
        let seconds = self.spec.oracle.delay_us * 1e-6;
        if seconds == 0.0 {
            return oracle;
        }
        Box::new(Delayed::new(oracle, Delay { seconds, sleeps: self.spec.clock == ClockKind::Wall }))
    }

    /// Who answers many questions at one w in training and in evaluation; `None` where one oracle does.
    /// `wrapped` is what becomes of single oracles.
    fn executors(&self, wrapped: &dyn Fn(BoxedOracle) -> BoxedOracle) -> Result<Option<Executors>, Error> {
        let threads = self.spec.threads;
        // A delay is one of single calls.
        let own = || if self.spec.oracle.delay_us == 0.0 { self.problem.executor(threads) } else { Ok(None) };
        let shared = || -> Result<Box<dyn Executor>, Error> {
            let oracle = |slot| Ok::<_, Error>(wrapped(self.delayed(self.problem.oracle_of(slot)?)));
            let oracles = (0..threads.min(self.problem.blocks())).map(oracle).collect::<Result<_, _>>()?;
            Ok(Box::new(Threads::new(oracles)))
        };
        let evaluation = own()?;
        if evaluation.is_none() && threads < 2 {
            return Ok(None);
        }
        let executor = |own: Option<Box<dyn Executor>>| own.map_or_else(shared, Ok);
        Ok(Some((executor(own()?)?, executor(evaluation)?)))
    }
}
