//! The training side of a run: the solver, the oracle that it trains with, chance, time, counts.

use super::spent::Spent;
use crate::certificate::GapTarget;
use crate::clock::{Clock, ClockKind};
use crate::context::{CallCounts, Ctx};
use crate::executor::Executor;
use crate::lookahead::Lookahead;
use crate::observe::TimeSplit;
use crate::oracle::{MaxOracle, OracleError};
use crate::plane::Plane;
use crate::regularizer::Regularizer;
use crate::rng::Rng;
use crate::solver::{Solver, StepReport};

/// A solver with everything that it steps in.
pub(crate) struct Training<O> {
    pub(crate) oracle: O,
    pub(super) solver: Box<dyn Solver<O>>,
    pub(super) regularizer: Regularizer,
    pub(super) rng: Rng,
    pub(super) clock: Clock,
    pub(super) counts: CallCounts,
    pub(super) steps: u64,
    /// The gap that the run is to end at.
    pub(crate) target: Option<GapTarget>,
    lookahead: Option<Lookahead>,
    origin: Vec<f64>,
    plane: Plane,
}

impl<O: MaxOracle> Training<O> {
    /// Returns training that has not begun, with seed 0 on the wall clock.
    pub(super) fn new(oracle: O, solver: Box<dyn Solver<O>>, regularizer: Regularizer) -> Self {
        let clock = Clock::new(ClockKind::Wall).with_prices(oracle.prices().known);
        Training {
            oracle,
            solver,
            regularizer,
            rng: Rng::new(0, 0),
            clock,
            counts: CallCounts::default(),
            steps: 0,
            target: None,
            lookahead: None,
            origin: Vec::new(),
            plane: Plane::new(),
        }
    }

    /// Has passes at one w answered by `executor`.
    pub(super) fn set_executor(&mut self, executor: Box<dyn Executor>) {
        self.lookahead = Some(Lookahead::new(executor));
    }

    /// Takes it apart into the solver, the context that it steps in, and two buffers.
    pub(crate) fn parts(&mut self) -> (&mut dyn Solver<O>, Ctx<'_, O>, (&mut Vec<f64>, &mut Plane)) {
        self.solver.catch_up();
        self.apart()
    }

    /// As [`parts`](Training::parts), for another step.
    fn apart(&mut self) -> (&mut dyn Solver<O>, Ctx<'_, O>, (&mut Vec<f64>, &mut Plane)) {
        let mut ctx = Ctx::new(&mut self.oracle, &mut self.rng, &mut self.clock, &mut self.counts);
        ctx.target = self.target;
        let buffers = (&mut self.origin, &mut self.plane);
        (&mut *self.solver, ctx.with_lookahead(self.lookahead.as_mut()), buffers)
    }

    /// Takes one step.
    pub(crate) fn step(&mut self) -> Result<StepReport, OracleError> {
        self.clock.resume();
        let (solver, mut ctx, _) = self.apart();
        let report = solver.step(&mut ctx)?;
        self.steps += 1;
        Ok(report)
    }

    /// Takes back questions that were asked ahead: nothing more is to be done for them. A run that goes on asks again.
    pub(super) fn forget_ahead(&mut self) {
        if let Some(lookahead) = &mut self.lookahead {
            lookahead.forget();
        }
    }

    /// Forgets the weights that a path's first point is placed at.
    pub(super) fn forget_origin(&mut self) {
        self.origin.clear();
    }

    /// Returns the number of examples n.
    pub(crate) fn blocks(&self) -> usize {
        self.oracle.blocks()
    }

    /// Returns how many numbers a point has: d, or the rows of a kernel.
    pub(super) fn size(&self) -> usize {
        self.regularizer.metric().size(self.oracle.dim())
    }

    /// Returns the visits so far (n visits are a pass): oracle calls, or what the solver counts instead.
    pub(super) fn visits(&self) -> u64 {
        self.solver.drawn().unwrap_or(self.counts.oracle_calls)
    }

    /// Returns the passes so far: visits / n.
    pub(super) fn passes(&self) -> f64 {
        self.visits() as f64 / self.oracle.blocks() as f64
    }

    /// Adds calls of an evaluation and what they took.
    pub(super) fn book(&mut self, spent: Spent, calls: u64) {
        self.counts.book(calls, spent.answers, spent.hidden);
        self.clock.credit(spent.seconds);
        self.clock.count_hidden(spent.hidden);
        self.clock.charge(spent.work);
    }

    /// Takes back what was added.
    pub(super) fn take_back(&mut self, spent: Spent, calls: u64) {
        self.counts.take_back(calls, spent.answers, spent.hidden);
        self.clock.credit(-spent.seconds);
        self.clock.count_hidden(-spent.hidden);
        self.clock.charge(-spent.work);
    }

    /// Returns what training seconds went into, for solvers that say.
    pub(super) fn split(&mut self) -> Option<TimeSplit> {
        let master_seconds = self.solver.progress().master_seconds?;
        let of_a_call = match self.clock.kind() {
            ClockKind::Work => None,
            ClockKind::Wall => self.oracle.capabilities().and_then(|known| known.plane_seconds()),
        };
        let (calls, oracle_seconds) = (self.counts.oracle_calls, self.oracle_seconds());
        let feature_seconds = of_a_call.map(|seconds| (seconds * calls as f64).min(oracle_seconds));
        Some(TimeSplit { feature_seconds, master_seconds })
    }

    /// Returns the seconds inside the oracle. Sampled times can overshoot; more than all the time there was cannot be
    /// true.
    pub(super) fn oracle_seconds(&self) -> f64 {
        self.counts.oracle_seconds.min(self.clock.now())
    }
}
