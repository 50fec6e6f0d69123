//! A run under way: the loop around a solver, its budgets, and when bounds are looked at.

use std::sync::atomic::Ordering;

use super::moment::{Evaluate, Forecast};
use super::outcome::{Best, LossMeters, Outcome, RunError};
use super::still::Standing;
use super::stop::{Stop, StopReason};
use super::under_way::{Attempt, Latency};
use super::watched::Watched;
use crate::clock::{Clock, ClockKind};
use crate::context::{Counts, Ctx};
use crate::executor::{BatchItem, Executor};
use crate::lookahead::Lookahead;
use crate::observe::{Observer, RunCost, Tick, TimeSplit};
use crate::oracle::{Capabilities, MaxOracle};
use crate::plane::Plane;
use crate::regularizer::Regularizer;
use crate::rng::Rng;
use crate::rounding::{Rounded, Rounding};
use crate::solver::{Solver, StepReport};

/// Observers hear of every this many steps (every step where the oracle is slow).
const TICK_STEPS: u64 = 64;

/// An oracle slower than this is worth a tick per step, in seconds.
const SLOW_ORACLE_SECONDS: f64 = 1e-4;

/// A solver on a problem, under way.
pub struct Run<O> {
    pub(super) oracle: O,
    pub(super) evaluation_oracle: O,
    pub(super) lookahead: Option<Lookahead>,
    pub(super) evaluation_executor: Option<Box<dyn Executor>>,
    pub(super) solver: Box<dyn Solver<O>>,
    pub(super) regularizer: Regularizer,
    pub(super) stop: Stop,
    pub(super) rng: Rng,
    pub(super) clock: Clock,
    pub(super) counts: Counts,
    pub(super) observers: Vec<Box<dyn Observer>>,
    pub(super) losses: LossMeters,
    pub(super) best: Option<Best>,
    /// The highest dual value on the solver's books: running sums, by which moments are chosen.
    pub(super) books: Option<f64>,
    /// The best that is proven.
    pub(super) dual: Option<Rounded>,
    /// What rounding may have done to the bounds at the iterate that was evaluated last.
    pub(super) noise: f64,
    pub(super) rounding: Rounding,
    /// The last dual value proven for records alone, and the pass of it.
    pub(super) shown: Option<(Rounded, f64)>,
    pub(super) evaluation_calls: u64,
    pub(super) evaluation_seconds: f64,
    /// The same as decisions go by them.
    pub(super) evaluation_pace: f64,
    /// What losses took so far, and the last time, in seconds.
    pub(super) loss_seconds: f64,
    pub(super) loss_cost: f64,
    /// What is known of held-out data, and the weights that are the answer by it once the run has ended.
    pub(super) watched: Watched,
    pub(super) chosen: Option<Vec<f64>>,
    pub(super) evaluate: Evaluate,
    pub(super) forecast: Forecast,
    /// What the gap is thought to be since the last outer iteration; no bound.
    pub(super) estimate: Option<f64>,
    /// What the planes kept leave of the gap at least, where that was looked at after the last outer iteration.
    pub(super) least_gap: Option<f64>,
    /// What the bounds were when they last moved by more than a little.
    pub(super) standing: Standing,
    /// P(0), where it is known without a call.
    pub(super) primal_at_zero: Option<f64>,
    /// Whether the answer is the latest, and w = 0 none.
    pub(super) online: bool,
    /// Which of the solver's answers was evaluated last, and whether it is the best now.
    pub(super) evaluated: Option<&'static str>,
    pub(super) best_is_new: bool,
    pub(super) evaluated_at: Option<u64>,
    pub(super) steps: u64,
    pub(super) candidate: Vec<f64>,
    pub(super) other: Vec<f64>,
    /// An evaluation that a budget or an interrupt has suspended.
    pub(super) attempt: Option<Attempt>,
    /// The pass of the last attempt that proved nothing for want of the oracle's word, and whether it had some of it.
    pub(super) doubted: Option<(f64, bool)>,
    pub(super) latency: Latency,
    pub(super) plane: Plane,
    pub(super) batch: Vec<BatchItem>,
}

impl<O: MaxOracle> Run<O> {
    /// Runs to the end.
    ///
    /// # Errors
    ///
    /// An oracle that fails, an objective that overflows, a record that cannot be written.
    pub fn to_end(&mut self) -> Result<Outcome, RunError> {
        loop {
            if let Some(reason) = self.advance()? {
                return self.outcome(reason);
            }
        }
    }

    /// Takes one step (after looking at the budgets) and evaluates bounds where that is due. Returns why the
    /// run is over, once it is.
    ///
    /// # Errors
    ///
    /// As [`to_end`](Run::to_end).
    pub fn advance(&mut self) -> Result<Option<StopReason>, RunError> {
        if let Some(reason) = self.spent() {
            return Ok(Some(reason));
        }
        if self.attempt.is_some() {
            self.go_on_looking()?;
            if self.attempt.is_some() || self.steps > 0 {
                return Ok(self.gap_reached().then_some(StopReason::Gap));
            }
        } else if self.steps == 0 {
            self.look_at_start()?;
            if self.attempt.is_some() {
                return Ok(None);
            }
        }
        if self.gap_reached() {
            return Ok(Some(StopReason::Gap)); // w = 0 will do, or restored where it had ended
        }
        if self.is_out_of_patience() {
            return Ok(Some(StopReason::Patience));
        }
        let report = self.step()?;
        if report.iteration_ended || report.part_ended {
            self.look(report.iteration_ended)?;
            if self.gap_reached() {
                return Ok(Some(StopReason::Gap));
            }
        }
        self.tick();
        Ok(None)
    }

    /// Takes the run apart into the solver, the context that it steps in, and two buffers.
    pub(crate) fn parts(&mut self) -> (&mut dyn Solver<O>, Ctx<'_, O>, (&mut Vec<f64>, &mut Plane)) {
        self.solver.catch_up();
        self.apart()
    }

    /// As [`parts`](Run::parts), for another step.
    fn apart(&mut self) -> (&mut dyn Solver<O>, Ctx<'_, O>, (&mut Vec<f64>, &mut Plane)) {
        let ctx = Ctx::new(&mut self.oracle, &mut self.rng, &mut self.clock, &mut self.counts);
        let buffers = (&mut self.candidate, &mut self.plane);
        (&mut *self.solver, ctx.with_lookahead(self.lookahead.as_mut()), buffers)
    }

    /// Takes one step.
    pub(crate) fn step(&mut self) -> Result<StepReport, RunError> {
        self.clock.resume();
        let (solver, mut ctx, _) = self.apart();
        let report = solver.step(&mut ctx)?;
        self.steps += 1;
        Ok(report)
    }

    /// Returns whether the run was asked to stop.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.stop.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Stops the training clock until the next step.
    pub(crate) fn pause(&mut self) {
        self.clock.pause();
    }

    pub(crate) fn tick(&mut self) {
        if self.observers.is_empty() {
            return;
        }
        if self.is_tick() {
            let calls = self.counts.oracle_calls;
            let seconds = self.spent_seconds();
            let evaluation_calls = self.evaluation_calls;
            let gap_estimate = self.estimate;
            let tick = Tick { pass: self.passes(), oracle_calls: calls, evaluation_calls, seconds, gap_estimate };
            for observer in &mut self.observers {
                observer.ticked(tick);
            }
        }
    }

    /// Whether this is one of the moments at which those who watch hear of the run: every step where the oracle is
    /// slow, else every few steps. Good for whatever is too dear to be done at every step.
    pub fn is_tick(&self) -> bool {
        let slow = self.counts.single_call().is_some_and(|call| call > SLOW_ORACLE_SECONDS);
        slow || self.steps.is_multiple_of(TICK_STEPS)
    }

    /// Takes back questions that were asked ahead: nobody is to work on them. A run that goes on asks again.
    pub(super) fn forget_ahead(&mut self) {
        if let Some(lookahead) = &mut self.lookahead {
            lookahead.forget();
        }
    }

    /// Returns the length d of w.
    pub fn dim(&self) -> usize {
        self.oracle.dim()
    }

    /// Returns the number of examples n.
    pub(crate) fn blocks(&self) -> usize {
        self.oracle.blocks()
    }

    /// Returns the regulariser.
    pub(crate) fn regularizer(&self) -> &Regularizer {
        &self.regularizer
    }

    /// Returns the strength of the regulariser.
    pub fn lambda(&self) -> f64 {
        self.regularizer.lambda()
    }

    /// Forgets what is known of P and F, and of held-out data.
    pub(super) fn forget_bounds(&mut self) {
        (self.watched, self.chosen) = (Watched::default(), None);
        (self.best, self.books, self.dual, self.evaluated_at) = (None, None, None, None);
        (self.noise, self.shown) = (0.0, None);
        (self.attempt, self.doubted) = (None, None);
        (self.estimate, self.least_gap, self.standing) = (None, None, Standing::new(self.passes()));
    }

    /// Begins anew with bounds, at `lambda` and with another solver where one is given; counts, clock and chance go on.
    pub(crate) fn move_to(&mut self, lambda: f64, solver: Option<Box<dyn Solver<O>>>) {
        self.clock.pause();
        self.forget_ahead();
        if let Some(solver) = solver {
            self.solver = solver;
        }
        self.regularizer = self.regularizer.with_lambda(lambda).moved_by_sums(self.solver.facts().moves_sums);
        self.forget_bounds();
        self.observers.iter_mut().for_each(|observer| observer.moved(lambda));
    }

    /// Returns what the run took so far.
    pub fn cost(&self) -> RunCost {
        RunCost {
            oracle_calls: self.counts.oracle_calls,
            evaluation_calls: self.evaluation_calls,
            cached_steps: self.counts.cached_steps,
            passes: self.passes(),
            iterations: Some(self.solver.progress().iterations),
            train_seconds: self.clock.now(),
            evaluation_seconds: self.evaluation_seconds,
            // Sampled times can overshoot; more than all the time there was cannot be true.
            oracle_seconds: self.counts.oracle_seconds.min(self.clock.now()),
        }
    }

    /// Returns what training seconds went into, where the solver keeps books of it.
    pub(super) fn split(&mut self) -> Option<TimeSplit> {
        let master_seconds = self.solver.progress().master_seconds?;
        let of_a_call = match self.clock.kind() {
            ClockKind::Work => None,
            ClockKind::Wall => self.oracle.capabilities().and_then(|known| known.plane_seconds()),
        };
        let RunCost { oracle_calls, oracle_seconds, .. } = self.cost();
        let feature_seconds = of_a_call.map(|seconds| (seconds * oracle_calls as f64).min(oracle_seconds));
        Some(TimeSplit { feature_seconds, master_seconds })
    }

    /// Returns the planes kept, mean per example.
    pub fn planes(&self) -> Option<f64> {
        self.solver.progress().planes
    }

    /// Oracle calls / n so far, or examples drawn / n where the solver counts these.
    pub fn passes(&self) -> f64 {
        self.visits() as f64 / self.oracle.blocks() as f64
    }

    /// Visits so far, n of which are a pass: oracle calls, or what the solver counts instead.
    pub(super) fn visits(&self) -> u64 {
        self.solver.drawn().unwrap_or(self.counts.oracle_calls)
    }
}
