//! A run before it begins: its parts, and the options that it is given.

use super::driver::Run;
use super::evaluator::Evaluator;
use super::gap_predictor::Evaluate;
use super::loss_watch::LossWatch;
use super::outcome::LossMeters;
use super::stop::Stop;
use super::training::Training;
use crate::clock::{Clock, ClockKind};
use crate::executor::Executor;
use crate::observe::Observer;
use crate::oracle::MaxOracle;
use crate::regularizer::Regularizer;
use crate::rng::Rng;
use crate::solver::Solver;

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
        let evaluator = Evaluator::new(evaluation_oracle, &mut training);
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

    /// Answers with the latest weights, however low P was before or is at w = 0: of solvers that learn online, whose users want
    /// to predict with what was learned. Of a run with a dual value that is to reach a gap it is the best of those evaluated.
    /// Runs of solvers that do not [minimise](crate::solver::SolverFacts::minimises) do so anyway.
    pub fn with_latest(mut self, latest: bool) -> Self {
        self.evaluator.bounds.online = latest || !self.training.solver.facts().minimises;
        self
    }

    /// Has training passes at one w (gap passes, batch steps) answered by `training`, and bounds evaluated by
    /// `evaluation`: executors on the two oracles, which then only do the rest.
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
