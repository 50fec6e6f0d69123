//! A run before it begins: what it consists of, and what it is told.

use super::driver::Run;
use super::moment::{Evaluate, Forecast};
use super::outcome::LossMeters;
use super::still::Standing;
use super::stop::Stop;
use super::under_way::Latency;
use super::watched::Watched;
use crate::clock::{Clock, ClockKind};
use crate::context::Counts;
use crate::executor::Executor;
use crate::lookahead::Lookahead;
use crate::observe::Observer;
use crate::oracle::MaxOracle;
use crate::plane::Plane;
use crate::regularizer::Regularizer;
use crate::rng::Rng;
use crate::rounding::Rounding;
use crate::solver::Solver;

impl<O: MaxOracle> Run<O> {
    /// Returns a run that has not begun, with seed 0 on the wall clock. `oracle` is trained with; `evaluation_oracle`,
    /// one of the same problem, evaluates bounds.
    pub fn new(
        mut oracle: O,
        mut evaluation_oracle: O,
        solver: Box<dyn Solver<O>>,
        regularizer: impl Into<Regularizer>,
        stop: Stop,
    ) -> Self {
        let regularizer = regularizer.into().moved_by_sums(solver.facts().moves_sums);
        let primal_at_zero = primal_at_zero(&mut oracle, &regularizer);
        let online = !solver.facts().minimises;
        let clock = Clock::new(ClockKind::Wall).with_prices(oracle.prices().known);
        let magnitudes = evaluation_oracle.capabilities().and_then(|known| known.magnitudes());
        let rounding = Rounding::new(evaluation_oracle.blocks(), magnitudes);
        Run {
            oracle,
            evaluation_oracle,
            lookahead: None,
            evaluation_executor: None,
            solver,
            regularizer,
            stop,
            rng: Rng::new(0, 0),
            clock,
            counts: Counts::default(),
            observers: Vec::new(),
            losses: LossMeters::default(),
            best: None,
            books: None,
            dual: None,
            noise: 0.0,
            rounding,
            shown: None,
            evaluation_calls: 0,
            evaluation_seconds: 0.0,
            evaluation_pace: 0.0,
            loss_seconds: 0.0,
            loss_cost: 0.0,
            watched: Watched::default(),
            chosen: None,
            evaluate: Evaluate::default(),
            forecast: Forecast::new(),
            estimate: None,
            least_gap: None,
            standing: Standing::new(0.0),
            primal_at_zero,
            online,
            evaluated: None,
            best_is_new: false,
            evaluated_at: None,
            steps: 0,
            candidate: Vec::new(),
            other: Vec::new(),
            attempt: None,
            doubted: None,
            latency: Latency::default(),
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
        self.clock = Clock::new(kind).with_prices(self.oracle.prices().known);
        self
    }

    /// Evaluates bounds at these moments.
    pub fn with_evaluate(mut self, evaluate: Evaluate) -> Self {
        self.evaluate = evaluate;
        self
    }

    /// Answers with the latest weights, however low P was before or is at w = 0: of solvers that learn online, whose users want
    /// to predict with what was learned. Of a run with a dual value that is to reach a gap it is the best of those evaluated.
    /// Runs of solvers that do not [minimise](crate::solver::SolverFacts::minimises) do so anyway.
    pub fn with_latest(mut self, latest: bool) -> Self {
        self.online = latest || !self.solver.facts().minimises;
        self
    }

    /// Has training passes at one w (gap passes, batch steps) answered by `training`, and bounds evaluated by
    /// `evaluation`: executors on the two oracles, which then only do the rest.
    pub fn with_executors(mut self, training: Box<dyn Executor>, evaluation: Box<dyn Executor>) -> Self {
        self.lookahead = Some(Lookahead::new(training));
        self.evaluation_executor = Some(evaluation);
        self
    }

    /// Adds an observer.
    pub fn with_observer(mut self, observer: Box<dyn Observer>) -> Self {
        self.observers.push(observer);
        self
    }

    /// Measures task losses for records, and for patience.
    pub fn with_losses(mut self, losses: LossMeters) -> Self {
        self.losses = losses;
        self
    }
}

/// P(0), where the oracle knows its hinges at w = 0 and nothing draws the weights elsewhere. Summed with what rounding
/// loses carried along (Neumaier), so that n hinges of 1/n are 1.
fn primal_at_zero<O: MaxOracle>(oracle: &mut O, regularizer: &Regularizer) -> Option<f64> {
    let blocks = oracle.blocks();
    let known = oracle.capabilities().filter(|_| regularizer.prior().is_none())?;
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for block in 0..blocks {
        let hinge = known.hinge_at_zero(block)?;
        let next = sum + hinge;
        lost += if sum.abs() >= hinge.abs() { (sum - next) + hinge } else { (hinge - next) + sum };
        sum = next;
    }
    Some(sum + lost)
}
