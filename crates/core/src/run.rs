//! The driver: steps a solver until a budget is spent or the gap is small enough, and evaluates bounds aside.
//!
//! Evaluation stops the training clock and uses calls of its own, whose answers no solver sees; all it decides
//! is which iterate to save and when to stop.

mod continuation;
mod evaluation;
mod saving;
mod start;
mod stop;

pub use continuation::{Approach, Point};
pub use start::{Search, Sought};
pub use stop::{GapTarget, Stop, StopReason};

use std::sync::atomic::Ordering;

use crate::clock::{Clock, ClockKind};
use crate::context::{Counts, Ctx};
use crate::executor::{BatchItem, Executor};
use crate::lookahead::Lookahead;
use crate::observe::{Certificate, Observer, RunCost, Tick};
use crate::oracle::{MaxOracle, OracleError};
use crate::plane::Plane;
use crate::regularizer::Regularizer;
use crate::rng::Rng;
use crate::solver::{Progress, Solver};

/// Observers hear of every this many steps (every step where the oracle is slow).
const TICK_STEPS: u64 = 64;

/// By how much F may exceed P, relative, where rounding is the reason.
const ROUNDING: f64 = 1e-9;

/// Whether weak duality leaves room for these values of P and F.
fn is_possible(primal: f64, dual: f64) -> bool {
    dual <= primal + ROUNDING * (1.0 + primal.abs())
}

/// An oracle slower than this is worth a tick per step, in seconds.
const SLOW_ORACLE_SECONDS: f64 = 1e-4;

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The oracle gave no usable answer.
    #[error(transparent)]
    Oracle(#[from] OracleError),
    /// What was asked for needs more than this solver, oracle or regulariser offers.
    #[error("{0}")]
    Unsupported(&'static str),
    /// The objective overflowed.
    #[error("the primal value became {0}: the features or 1/lambda are too large for 64-bit numbers")]
    NotFinite(f64),
    /// A record could not be written.
    #[error("the record could not be written: {0}")]
    Record(#[from] std::io::Error),
}

/// Measures mean task losses of predictions at `w`.
pub type LossMeter = Box<dyn FnMut(&[f64]) -> Result<Losses, OracleError>>;

/// Mean task losses of predictions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Losses {
    /// On the training set.
    pub train: Option<f64>,
    /// On the test set.
    pub test: Option<f64>,
}

/// What a run arrives at.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The weights with the lowest primal value seen.
    pub w: Vec<f64>,
    /// The bounds there; the primal value is an upper bound on it where the oracle only gave bounds.
    pub certificate: Certificate,
    /// Why the run ended.
    pub stop_reason: StopReason,
    /// What it took.
    pub cost: RunCost,
    /// Iterations, approximate passes, planes.
    pub progress: Progress,
}

/// The iterate to save.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Best {
    w: Vec<f64>,
    primal: f64,
    proven: bool,
}

/// A solver on a problem, under way.
pub struct Run<O> {
    oracle: O,
    evaluation_oracle: O,
    lookahead: Option<Lookahead>,
    evaluation_executor: Option<Box<dyn Executor>>,
    solver: Box<dyn Solver<O>>,
    regularizer: Regularizer,
    stop: Stop,
    rng: Rng,
    clock: Clock,
    counts: Counts,
    observers: Vec<Box<dyn Observer>>,
    losses: Option<LossMeter>,
    best: Option<Best>,
    dual: Option<f64>,
    evaluation_calls: u64,
    evaluation_seconds: f64,
    evaluated_at: Option<u64>,
    steps: u64,
    candidate: Vec<f64>,
    other: Vec<f64>,
    plane: Plane,
    batch: Vec<BatchItem>,
}

impl<O: MaxOracle> Run<O> {
    /// A run that has not begun, with seed 0 on the wall clock. `oracle` is trained with; `evaluation_oracle`,
    /// one of
    /// the same problem, evaluates bounds and its calls are not counted as training.
    pub fn new(
        oracle: O,
        evaluation_oracle: O,
        solver: Box<dyn Solver<O>>,
        regularizer: impl Into<Regularizer>,
        stop: Stop,
    ) -> Self {
        Run {
            oracle,
            evaluation_oracle,
            lookahead: None,
            evaluation_executor: None,
            solver,
            regularizer: regularizer.into(),
            stop,
            rng: Rng::new(0, 0),
            clock: Clock::new(ClockKind::Wall),
            counts: Counts::default(),
            observers: Vec::new(),
            losses: None,
            best: None,
            dual: None,
            evaluation_calls: 0,
            evaluation_seconds: 0.0,
            evaluated_at: None,
            steps: 0,
            candidate: Vec::new(),
            other: Vec::new(),
            plane: Plane::new(),
            batch: Vec::new(),
        }
    }

    /// Draws random numbers from `seed`.
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.rng = Rng::new(seed, 0);
        self
    }

    /// Measures training time by this clock.
    pub fn with_clock(mut self, kind: ClockKind) -> Self {
        self.clock = Clock::new(kind);
        self
    }

    /// Has training passes at one w (gap passes, batch steps) answered by `training`, and bounds evaluated by
    /// `evaluation`: executors on the two oracles, which then only do the rest.
    pub fn with_executors(mut self, training: Box<dyn Executor>, evaluation: Box<dyn Executor>) -> Self {
        self.lookahead = Some(Lookahead::new(training));
        self.evaluation_executor = Some(evaluation);
        self
    }

    /// Has somebody watch.
    pub fn with_observer(mut self, observer: Box<dyn Observer>) -> Self {
        self.observers.push(observer);
        self
    }

    /// Measures task losses at every evaluation.
    pub fn with_losses(mut self, losses: LossMeter) -> Self {
        self.losses = Some(losses);
        self
    }

    /// Runs to the end.
    pub fn to_end(&mut self) -> Result<Outcome, RunError> {
        loop {
            if let Some(reason) = self.advance()? {
                return self.outcome(reason);
            }
        }
    }

    /// Takes one step (after looking at the budgets) and evaluates bounds where that is due. Returns why the
    /// run is over, once it is.
    pub fn advance(&mut self) -> Result<Option<StopReason>, RunError> {
        if let Some(reason) = self.spent() {
            return Ok(Some(reason));
        }
        if self.evaluated_at == Some(self.steps) && self.gap_reached() {
            return Ok(Some(StopReason::Gap)); // restored where it had ended
        }
        if self.step()? {
            self.clock.pause();
            if self.evaluation_seconds <= self.clock.now() {
                self.evaluate()?;
                if self.gap_reached() {
                    return Ok(Some(StopReason::Gap));
                }
            }
        }
        self.tick();
        Ok(None)
    }

    /// Takes one step; returns whether it ended an outer iteration.
    fn step(&mut self) -> Result<bool, RunError> {
        self.clock.resume();
        let mut ctx = Ctx::new(&mut self.oracle, &mut self.rng, &mut self.clock, &mut self.counts)
            .with_lookahead(self.lookahead.as_mut());
        let report = self.solver.step(&mut ctx)?;
        self.steps += 1;
        Ok(report.iteration_ended)
    }

    fn spent(&self) -> Option<StopReason> {
        let calls = self.counts.oracle_calls;
        let stop = &self.stop;
        if stop.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            Some(StopReason::Interrupt)
        } else if stop.passes.is_some_and(|passes| calls as f64 >= passes * self.oracle.blocks() as f64) {
            Some(StopReason::Passes)
        } else if stop.calls.is_some_and(|limit| calls >= limit) {
            Some(StopReason::Calls)
        } else if stop.seconds.is_some_and(|seconds| self.clock.now() >= seconds) {
            Some(StopReason::Seconds)
        } else {
            None
        }
    }

    fn gap_reached(&self) -> bool {
        match (self.stop.gap, &self.best, self.dual) {
            (Some(target), Some(best), Some(dual)) => {
                (self.is_certified() || self.stop.estimated) && best.primal - dual <= target.at(best.primal)
            }
            _ => false,
        }
    }

    /// Whether the gap is proven: P by answers that may prove something, F by any, and not F above P, which would
    /// disprove what the oracle says of its answers.
    fn is_certified(&self) -> bool {
        match (&self.best, self.dual) {
            (Some(best), Some(dual)) => best.proven && is_possible(best.primal, dual),
            _ => false,
        }
    }

    fn tick(&mut self) {
        if self.observers.is_empty() {
            return;
        }
        if self.is_tick() {
            let calls = self.counts.oracle_calls;
            let tick = Tick { pass: self.passes(), oracle_calls: calls, seconds: self.clock.now() };
            for observer in &mut self.observers {
                observer.ticked(tick);
            }
        }
    }

    /// Whether this is one of the moments at which those who watch hear of the run: every step where the oracle is
    /// slow, else every few steps. Good for whatever is too dear to be done at every step.
    pub fn is_tick(&self) -> bool {
        let slow = self.counts.oracle_seconds > SLOW_ORACLE_SECONDS * self.counts.oracle_calls as f64;
        slow || self.steps.is_multiple_of(TICK_STEPS)
    }

    /// Oracle calls / n so far.
    pub fn passes(&self) -> f64 {
        self.counts.oracle_calls as f64 / self.oracle.blocks() as f64
    }
}
