//! The loop around a solver: steps, budgets, and the moments at which bounds are evaluated.

use super::budget::Budget;
use super::evaluator::Evaluator;
use super::gap_predictor::Evaluate;
use super::loss_watch::{LossWatch, Watched};
use super::outcome::{LossMeters, Outcome, RunError, Stop, StopReason};
use super::training::Training;
use crate::certificate::DualCertificate;
use crate::clock::{Clock, ClockKind};
use crate::executor::Executor;
use crate::observe::{Observer, RunCost, Tick};
use crate::oracle::MaxOracle;
use crate::regularizer::Regularizer;
use crate::rng::Rng;
use crate::solver::Solver;

/// Observers hear of every this many steps (every step if the oracle is slow).
const TICK_STEPS: u64 = 64;

/// An oracle slower than this is worth a tick per step, in seconds.
const SLOW_ORACLE_SECONDS: f64 = 1e-4;

/// A solver on a problem, with all that a run of it remembers.
pub struct Run<O> {
    pub(crate) training: Training<O>,
    pub(crate) evaluator: Evaluator<O>,
    pub(super) losses: LossWatch,
    pub(super) stop: Stop,
    pub(super) observers: Vec<Box<dyn Observer>>,
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

    /// Takes one step (after looking at the budgets) and evaluates bounds if that is due. Returns why the
    /// run is over, once it is.
    ///
    /// # Errors
    ///
    /// As [`to_end`](Run::to_end).
    pub fn advance(&mut self) -> Result<Option<StopReason>, RunError> {
        if let Some(reason) = self.spent() {
            return Ok(Some(reason));
        }
        if self.evaluator.attempt.is_some() {
            self.go_on_looking()?;
            if self.evaluator.attempt.is_some() || self.training.steps > 0 {
                return Ok(self.gap_reached().then_some(StopReason::Gap));
            }
        } else if self.training.steps == 0 {
            self.look_at_start()?;
            if self.evaluator.attempt.is_some() {
                return Ok(None);
            }
        }
        if self.gap_reached() {
            return Ok(Some(StopReason::Gap)); // w = 0 will do, or restored where it had ended
        }
        if self.losses.is_out_of_patience() {
            return Ok(Some(StopReason::Patience));
        }
        let report = self.training.step()?;
        if report.iteration_ended || report.part_ended {
            self.look(report.iteration_ended)?;
            if self.gap_reached() {
                return Ok(Some(StopReason::Gap));
            }
        }
        self.tick();
        Ok(report.is_last.then_some(StopReason::Rule))
    }

    /// Looks at the bounds at the end of an outer iteration, or of a part of one.
    fn look(&mut self, iteration_ended: bool) -> Result<(), RunError> {
        let Run { training, evaluator, losses, stop, .. } = self;
        training.clock.pause();
        if evaluator.mode == Evaluate::Pass {
            if iteration_ended && evaluator.may_evaluate(training) {
                evaluator.evaluate_aside(stop, training)?;
                self.record_best()?;
            }
            return Ok(());
        }
        let (progress, evaluates) = (training.solver.progress(), training.solver.facts().evaluates);
        evaluator.bounds.raise_books([progress.dual]);
        let expected = |seen| if evaluates { seen } else { evaluator.predictor.gap(seen) };
        evaluator.bounds.estimate = progress.gap_seen.map(expected);
        (evaluator.bounds.evaluated, evaluator.bounds.least_gap) = (None, None);
        let evaluated = iteration_ended && evaluator.take_pass_value(stop, training)?;
        if !evaluated && (evaluator.bounds.dual.is_none() || evaluator.bounds.is_within_reach(stop)) {
            evaluator.prove_dual(training)?;
        }
        // If F alone has closed the gap to the best P so far, there is nothing left to try.
        if !evaluator.bounds.gap_reached(stop)
            && !evaluates
            && let Some(target) = evaluator.target_in_reach(stop, training)
        {
            evaluator.begin_attempt(target, iteration_ended, Budget { stop, losses }, training)?;
        }
        self.end_look(iteration_ended)
    }

    /// Tells of the bounds, unless an attempt is suspended: after an outer iteration (`tells`), and if an answer was
    /// evaluated.
    fn end_look(&mut self, tells: bool) -> Result<(), RunError> {
        if self.evaluator.attempt.is_some() {
            return Ok(());
        }
        let bounds = &mut self.evaluator.bounds;
        bounds.estimate = [bounds.estimate, bounds.least_gap].into_iter().flatten().reduce(f64::max);
        if tells || self.evaluator.is_up_to_date(&self.training) { self.record_best() } else { Ok(()) }
    }

    /// Goes on with an attempt that was suspended, and with what follows it.
    fn go_on_looking(&mut self) -> Result<(), RunError> {
        let Run { training, evaluator, losses, stop, .. } = self;
        training.clock.pause();
        let tells = evaluator.attempt.as_ref().is_none_or(|attempt| attempt.tells);
        evaluator.go_on_with_attempt(Budget { stop, losses }, training)?;
        if self.training.steps > 0 { self.end_look(tells) } else { Ok(()) }
    }

    /// Looks at the bounds that a warm start has brought, before the first step: they may be all that is wanted.
    fn look_at_start(&mut self) -> Result<(), RunError> {
        let Run { training, evaluator, losses, stop, .. } = self;
        let dual = training.solver.progress().dual;
        let warm = dual.is_some_and(|dual| dual > 0.0) && !training.solver.facts().evaluates;
        if warm && evaluator.mode == Evaluate::Auto && evaluator.bounds.evaluated_at.is_none() {
            evaluator.bounds.books = dual;
            if let Some(target) = evaluator.target_in_reach(stop, training) {
                evaluator.begin_attempt(target, true, Budget { stop, losses }, training)?;
            }
        }
        Ok(())
    }

    pub(super) fn gap_reached(&self) -> bool {
        self.evaluator.bounds.gap_reached(&self.stop)
    }

    pub(super) fn budget(&self) -> Budget<'_> {
        Budget { stop: &self.stop, losses: &self.losses }
    }

    /// Returns the budget that is spent, if one is.
    pub(crate) fn spent(&self) -> Option<StopReason> {
        self.budget().spent(&self.evaluator, &self.training)
    }

    /// Returns whether the run was asked to stop.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.stop.is_interrupted()
    }

    /// Stops the training clock until the next step.
    pub(crate) fn pause(&mut self) {
        self.training.clock.pause();
    }

    pub(crate) fn tick(&mut self) {
        if self.observers.is_empty() || !self.is_tick() {
            return;
        }
        let tick = Tick {
            pass: self.passes(),
            oracle_calls: self.training.counts.oracle_calls,
            evaluation_calls: self.evaluator.cost.calls,
            seconds: self.training.clock.now() + self.evaluator.cost.seconds,
            gap_estimate: self.evaluator.bounds.estimate,
        };
        for observer in &mut self.observers {
            observer.ticked(tick);
        }
    }

    /// Returns whether this is one of the moments at which observers hear of the run: every step if the oracle is
    /// slow, else every few steps. Good for whatever is too costly to be done at every step.
    pub fn is_tick(&self) -> bool {
        let slow = self.training.counts.single_call().is_some_and(|call| call > SLOW_ORACLE_SECONDS);
        slow || self.training.steps.is_multiple_of(TICK_STEPS)
    }

    /// Returns the length d of w.
    pub fn dim(&self) -> usize {
        self.training.oracle.dim()
    }

    /// Returns the number of examples n.
    pub(crate) fn blocks(&self) -> usize {
        self.training.blocks()
    }

    /// Returns the regulariser.
    pub(crate) fn regularizer(&self) -> &Regularizer {
        &self.training.regularizer
    }

    /// Returns the strength of the regulariser.
    pub fn lambda(&self) -> f64 {
        self.regularizer().lambda()
    }

    /// Forgets what is known of P and F, and of held-out data.
    pub(super) fn forget_bounds(&mut self) {
        self.losses.watched = Watched::default();
        self.evaluator.forget(&self.training);
    }

    /// Starts again with bounds, at `lambda` and with another solver if one is given; counts, clock and chance go on.
    pub(crate) fn move_to(&mut self, lambda: f64, solver: Option<Box<dyn Solver<O>>>) {
        let training = &mut self.training;
        training.clock.pause();
        training.forget_ahead();
        if let Some(solver) = solver {
            training.solver = solver;
        }
        let moves_sums = training.solver.facts().moves_sums;
        training.regularizer = training.regularizer.with_lambda(lambda).moved_by_sums(moves_sums);
        self.forget_bounds();
        self.observers.iter_mut().for_each(|observer| observer.moved(lambda));
    }

    /// Returns the cost of the run so far.
    pub fn cost(&self) -> RunCost {
        RunCost {
            oracle_calls: self.training.counts.oracle_calls,
            evaluation_calls: self.evaluator.cost.calls,
            cached_steps: self.training.counts.cached_steps,
            passes: self.passes(),
            iterations: Some(self.training.solver.progress().iterations),
            train_seconds: self.training.clock.now(),
            evaluation_seconds: self.evaluator.cost.seconds,
            oracle_seconds: self.training.oracle_seconds(),
        }
    }

    /// Returns the calls and the seconds so far, of training and evaluation; takes constant time.
    pub fn calls_and_seconds(&self) -> (u64, f64) {
        let (counts, cost) = (&self.training.counts, &self.evaluator.cost);
        (counts.oracle_calls + cost.calls, self.training.clock.now() + cost.seconds)
    }

    /// Returns the seconds so far that budgets of seconds pay for: training, and with `evaluate=auto` all evaluation.
    pub fn seconds_paid(&self) -> f64 {
        self.budget().seconds_paid(&self.evaluator, &self.training)
    }

    /// Returns the planes kept, mean per example.
    pub fn planes(&self) -> Option<f64> {
        self.training.solver.progress().planes
    }

    /// Returns the passes so far: oracle calls / n, or examples drawn / n if the solver counts these.
    pub fn passes(&self) -> f64 {
        self.training.passes()
    }

    /// Returns the steps taken so far.
    pub fn steps(&self) -> u64 {
        self.training.steps
    }

    /// Returns the weights with the lowest primal value evaluated so far, and that value, rounded outward.
    pub fn best(&self) -> Option<(&[f64], f64)> {
        self.evaluator.bounds.best.as_ref().map(|best| (best.w.as_slice(), best.primal.upper()))
    }

    /// Returns the dual points that the solver stands on; see [`Solver::dual_points`].
    pub fn dual_points(&mut self) -> Vec<DualCertificate<'_>> {
        self.training.solver.catch_up();
        self.training.solver.dual_points()
    }
}

impl<O: MaxOracle> Run<O> {
    /// Returns a run that has not begun, with seed 0 on the wall clock. `oracle` is trained with; `evaluation_oracle`,
    /// one of the same problem, evaluates bounds.
    pub fn new(
        oracle: O,
        evaluation_oracle: O,
        solver: Box<dyn Solver<O>>,
        regularizer: impl Into<Regularizer>,
        stop: Stop,
    ) -> Self {
        let regularizer = regularizer.into().moved_by_sums(solver.facts().moves_sums);
        let mut training = Training::new(oracle, solver, regularizer);
        training.target = stop.gap;
        let mut evaluator = Evaluator::new(evaluation_oracle, &mut training);
        evaluator.bounds.target = stop.gap;
        Run { training, evaluator, losses: LossWatch::new(stop.patience), stop, observers: Vec::new() }
    }

    /// Draws random numbers from `seed`.
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.training.rng = Rng::new(seed, 0);
        self
    }

    /// Measures training time by this clock.
    pub fn with_clock(mut self, kind: ClockKind) -> Self {
        self.training.clock = Clock::new(kind).with_prices(self.training.oracle.prices().known);
        self
    }

    /// Evaluates bounds at these moments.
    pub fn with_evaluate(mut self, evaluate: Evaluate) -> Self {
        self.evaluator.mode = evaluate;
        self
    }

    /// Answers with the latest weights, however low P was before or is at w = 0: of solvers that learn online, whose
    /// users want to predict with what was learned. Of a run with a dual value that is to reach a gap it is the best of
    /// those evaluated. Runs of solvers that do not [minimise](crate::solver::SolverFacts::minimises) do so anyway.
    pub fn with_latest(mut self, latest: bool) -> Self {
        self.evaluator.bounds.online = latest || !self.training.solver.facts().minimises;
        self
    }

    /// Has training calls at one w (gap passes, batches of exact passes, batch steps) answered by `training`, and
    /// bounds evaluated by `evaluation`: executors on the two oracles, which then only do the rest.
    pub fn with_executors(mut self, training: Box<dyn Executor>, evaluation: Box<dyn Executor>) -> Self {
        self.training.set_executor(training);
        self.evaluator.hinges.set_executor(evaluation);
        self
    }

    /// Adds an observer.
    pub fn with_observer(mut self, observer: Box<dyn Observer>) -> Self {
        self.observers.push(observer);
        self
    }

    /// Measures task losses for records, and for patience.
    pub fn with_losses(mut self, losses: LossMeters) -> Self {
        self.losses.meters = losses;
        self
    }
}
