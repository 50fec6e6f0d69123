//! One run at several lambdas: what regularisation paths (Osokin et al. 2016, section 5) and grids are driven by.
//!
//! Counts, clock and chance go on; bounds begin anew with every lambda. A check of the gap at w(phi) costs n evaluation
//! calls. One that only says "not yet" is evaluation. One that is passed decides where the path goes on, so its
//! calls and its time are moved to training.

use super::{Run, RunError, StopReason};
use crate::clock::{ClockKind, Stopwatch};
use crate::context::Ctx;
use crate::observe::RunCost;
use crate::oracle::MaxOracle;
use crate::rescale::WarmStart;
use crate::run::Losses;
use crate::solver::Solver;

/// The solver cannot change lambda.
pub(super) const CANNOT_RESCALE: RunError = RunError::Unsupported(
    "the solver cannot go on at another lambda: expected one of the block-coordinate Frank-Wolfe family",
);

/// The oracle certifies nothing.
pub(super) const NOT_PROVEN: RunError =
    RunError::Unsupported("the oracle is only a heuristic here: a path needs gaps that are proven");

/// What weak duality rules out.
const CONTRADICTED: RunError = RunError::Unsupported(
    "the dual value exceeds the primal value: the oracle's answers are not what it says of them (`multiplane check` \
     looks for the reason)",
);

/// A point w(phi) with its certificate.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Strength of the regulariser.
    pub lambda: f64,
    /// `w(phi)`.
    pub w: Vec<f64>,
    /// `P(w)` by one call per example.
    pub primal: f64,
    /// `F(phi)`.
    pub dual: f64,
    /// `sum_i score(phi^i; w)`, by which the gap grows when w is kept: at `rho lambda` it is `gap + (1 - rho)` times
    /// this. Without a prior it is `F - lambda/2 |w|^2`.
    pub score: f64,
}

/// What a step toward a gap came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Approach {
    /// Nobody has looked at the gap.
    Under,
    /// It is still too wide.
    Missed(Point),
    /// It is small enough.
    Reached(Point),
    /// Nothing was done: a budget is spent.
    Spent(StopReason),
}

impl Point {
    /// `P - F`: exact, as both belong to this point.
    pub fn gap(&self) -> f64 {
        self.primal - self.dual
    }

    /// The smallest share of lambda at which w is still good to `gap`; 0 where it is for every lambda.
    pub fn reach(&self, gap: f64) -> f64 {
        let room = gap - self.gap();
        if self.score <= room { 0.0 } else { 1.0 - room / self.score }
    }
}

impl<O: MaxOracle> Run<O> {
    /// Length d of w.
    pub fn dim(&self) -> usize {
        self.oracle.dim()
    }

    /// Strength of the regulariser.
    pub fn lambda(&self) -> f64 {
        self.regularizer.lambda()
    }

    /// Whether the solver can go on at another lambda.
    pub fn can_continue(&mut self) -> bool {
        self.solver.rescaling().is_some()
    }

    /// Goes on at `lambda` from the present point, with new bounds. `false`, and nothing done, where the solver
    /// cannot.
    pub fn continue_at(&mut self, lambda: f64, start: WarmStart) -> bool {
        let mut ctx = Ctx::new(&mut self.oracle, &mut self.rng, &mut self.clock, &mut self.counts)
            .with_lookahead(self.lookahead.as_mut());
        let Some(solver) = self.solver.rescaling() else { return false };
        ctx.resume();
        solver.rescale(lambda, start, &mut ctx);
        self.move_to(lambda);
        true
    }

    /// Goes on at `lambda` with another solver, one that has not begun, and new bounds.
    pub fn continue_with(&mut self, solver: Box<dyn Solver<O>>, lambda: f64) {
        self.solver = solver;
        self.move_to(lambda);
    }

    fn move_to(&mut self, lambda: f64) {
        self.clock.pause();
        self.regularizer = self.regularizer.with_lambda(lambda);
        (self.best, self.dual, self.evaluated_at) = (None, None, None);
        self.observers.iter_mut().for_each(|observer| observer.moved(lambda));
    }

    /// Goes to `lambda` with the same masses and measures the gap there: training, as it leads somewhere.
    pub fn point_at(&mut self, lambda: f64) -> Result<Point, RunError> {
        if !self.continue_at(lambda, WarmStart::KeepDual) {
            return Err(CANNOT_RESCALE);
        }
        let (point, seconds) = self.check()?;
        self.book(seconds);
        Ok(point)
    }

    /// Trains until w(phi) has a gap of at most `gap`; see [`approach`](Run::approach).
    pub fn to_gap(&mut self, gap: f64) -> Result<Result<Point, StopReason>, RunError> {
        loop {
            match self.approach(gap)? {
                Approach::Under | Approach::Missed(_) => {}
                Approach::Reached(point) => return Ok(Ok(point)),
                Approach::Spent(reason) => return Ok(Err(reason)),
            }
        }
    }

    /// Takes one step (after looking at the budgets) toward a w(phi) with a gap of at most `gap`, and looks at the gap
    /// after an outer iteration (less often where looking takes longer than training). Budgets are those of the run; a
    /// gap among its stops plays no part.
    pub fn approach(&mut self, gap: f64) -> Result<Approach, RunError> {
        if let Some(reason) = self.spent() {
            self.clock.pause();
            return Ok(Approach::Spent(reason));
        }
        let mut missed = None;
        if self.step()? {
            self.clock.pause();
            if self.evaluation_seconds <= self.clock.now() {
                let (point, seconds) = self.check()?;
                if point.gap() <= gap {
                    self.book(seconds);
                    self.show(&point)?;
                    return Ok(Approach::Reached(point));
                }
                self.show(&point)?;
                missed = Some(point);
            }
        }
        self.tick();
        Ok(missed.map_or(Approach::Under, Approach::Missed))
    }

    /// The certificate of w(phi) as it is now, and the seconds that it took; booked as evaluation.
    fn check(&mut self) -> Result<(Point, f64), RunError> {
        self.clock.pause();
        let stopwatch = Stopwatch::start();
        let mut w = Vec::new();
        let Some(solver) = self.solver.rescaling() else { return Err(CANNOT_RESCALE) };
        let dual = solver.point(&mut w);
        let (primal, proven) = self.primal(&w)?;
        if !proven {
            return Err(NOT_PROVEN);
        }
        if !super::is_possible(primal, dual) {
            return Err(CONTRADICTED);
        }
        let calls = self.evaluation_oracle.blocks() as f64;
        let seconds = match self.clock.kind() {
            ClockKind::Wall => stopwatch.seconds(),
            ClockKind::Work => calls * self.evaluation_oracle.call_cost(),
        };
        self.evaluation_calls += self.evaluation_oracle.blocks() as u64;
        self.evaluation_seconds += seconds;
        let score = dual - self.regularizer.penalty(&w);
        Ok((Point { lambda: self.regularizer.lambda(), w, primal, dual, score }, seconds))
    }

    /// Moves a check from evaluation to training. A training oracle with a delay would have taken longer.
    fn book(&mut self, seconds: f64) {
        let calls = self.evaluation_oracle.blocks() as u64;
        self.evaluation_calls -= calls;
        self.evaluation_seconds -= seconds;
        let seconds = seconds + calls as f64 * (self.oracle.call_cost() - self.evaluation_oracle.call_cost());
        self.counts.oracle_calls += calls;
        self.counts.oracle_seconds += seconds;
        self.clock.credit(seconds);
    }

    /// Tells the observers of a check.
    fn show(&mut self, point: &Point) -> Result<(), RunError> {
        self.best = Some(super::Best { w: Vec::new(), primal: point.primal, proven: true });
        self.dual = Some(point.dual);
        let told = self.record(Losses::default(), None);
        (self.best, self.dual) = (None, None); // a path's answer is its last point, not the best of several
        told
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
            // Sampled times can overshoot; more than all the time there was cannot be true.
            oracle_seconds: self.counts.oracle_seconds.min(self.clock.now()),
        }
    }

    /// Returns the planes kept, mean per example.
    pub fn planes(&self) -> Option<f64> {
        self.solver.progress().planes
    }
}
