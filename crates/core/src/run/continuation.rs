//! One run at several lambdas: what regularisation paths (Osokin et al. 2016, section 5) and grids are driven by.
//!
//! Counts, clock and chance go on; bounds begin anew with every lambda. A check of the gap at w(phi) costs n calls of
//! the judge. One that only says "not yet" is evaluation. One that is passed decides where the path goes on, so its
//! calls and its time are moved to training.

use std::sync::atomic::Ordering;

use super::{Run, RunError, StopReason};
use crate::clock::{ClockKind, Stopwatch};
use crate::linalg;
use crate::oracle::MaxOracle;
use crate::rescale::WarmStart;
use crate::run::Losses;
use crate::solver::{Counts, Ctx, Solver};

/// The solver cannot change lambda.
const CANNOT_RESCALE: RunError = RunError::Unsupported(
    "the solver cannot go on at another lambda: expected one of the block-coordinate Frank-Wolfe family",
);

const NO_START: RunError =
    RunError::Unsupported("the budget was spent, or somebody interrupted, before the path had its first point");

/// The oracle certifies nothing.
const NOT_PROVEN: RunError =
    RunError::Unsupported("the oracle is only a heuristic here: a path needs gaps that are proven");

/// How near the start of a path comes to the smallest lambda at which its point is good enough, relative.
const START_TOLERANCE: f64 = 1e-3;

/// Evaluations after which the search for the start of a path gives up.
const MOST_TRIALS: usize = 200;

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

/// What a run took so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spending {
    /// Training calls of the oracle, cached steps, seconds inside the oracle.
    pub counts: Counts,
    /// Oracle calls spent on evaluation.
    pub evaluation_calls: u64,
    /// Training seconds.
    pub train_seconds: f64,
    /// Planes kept, mean per example.
    pub planes: Option<f64>,
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

    /// Whether the solver can go on at another lambda.
    pub fn can_continue(&mut self) -> bool {
        self.solver.rescaling().is_some()
    }

    /// Goes on at `lambda` from the present point, with new bounds. `false`, and nothing done, where the solver
    /// cannot.
    pub fn continue_at(&mut self, lambda: f64, start: WarmStart) -> bool {
        let mut ctx = Ctx::new(&mut self.oracle, &mut self.rng, &mut self.clock, &mut self.counts)
            .with_ahead(self.ahead.as_mut());
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

    /// Starts a path: puts all mass on the oracle's answers at w = 0 and goes to the smallest lambda (to 1e-3) at
    /// which that point has a gap of at most `gap`; above it, the same masses do at every lambda. `None` where this
    /// w(phi) is 0: then it is optimal everywhere.
    ///
    /// In 1/lambda the gap is convex and 0 at 0, so a point of gap g shows how far down the target must be met.
    pub fn start_path(&mut self, gap: f64) -> Result<Option<Point>, RunError> {
        if self.regularizer.prior().is_some() {
            return Err(RunError::Unsupported("a path needs a regulariser without a prior mean"));
        }
        self.place_at_zero()?;
        self.not_spent()?;
        let start = self.point_at(1.0)?;
        let square = linalg::sum_squares(&start.w);
        if square == 0.0 {
            return Ok(None);
        }
        let circ = start.dual + 0.5 * square;
        // As a function of mu = 1/lambda the gap is at least |w|^2 mu - circ, w being that at mu = 1.
        let (mut low, mut high) = (0.0, (gap + circ) / square);
        for _ in 0..MOST_TRIALS {
            self.not_spent()?;
            let mu = if low == 0.0 { high } else { f64::sqrt(low * high) };
            let point = self.point_at(1.0 / mu)?;
            if point.gap() > gap {
                (low, high) = (f64::max(low, mu * gap / point.gap()), mu);
            } else {
                low = mu;
            }
            if low > 0.0 && high <= low * (1.0 + START_TOLERANCE) {
                break;
            }
        }
        for _ in 0..MOST_TRIALS {
            let point = self.point_at(1.0 / low)?;
            if point.gap() <= gap {
                return Ok(Some(point));
            }
            low *= 1.0 - START_TOLERANCE; // by rounding, or where the oracle only gives bounds
        }
        Err(NOT_PROVEN)
    }

    fn not_spent(&self) -> Result<(), RunError> {
        self.spent().map_or(Ok(()), |_| Err(NO_START))
    }

    /// Puts every block on the oracle's answer at w = 0.
    fn place_at_zero(&mut self) -> Result<(), RunError> {
        let origin = vec![0.0; self.oracle.dim()];
        let blocks = self.oracle.blocks();
        let interrupt = self.stop.interrupt.clone();
        let mut ctx = Ctx::new(&mut self.oracle, &mut self.rng, &mut self.clock, &mut self.counts)
            .with_ahead(self.ahead.as_mut());
        let Some(solver) = self.solver.rescaling() else { return Err(CANNOT_RESCALE) };
        ctx.resume();
        for block in 0..blocks {
            if interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
                return Err(NO_START);
            }
            ctx.maximize_ahead(block..blocks, &origin, &mut self.plane)?;
            solver.place(block, &mut self.plane, &mut ctx);
        }
        self.clock.pause();
        Ok(())
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

    /// Trains until w(phi) has a gap of at most `gap`, looking after every outer iteration (less often where looking
    /// takes longer than training). Budgets are those of the run; a gap among its stops plays no part.
    pub fn to_gap(&mut self, gap: f64) -> Result<Result<Point, StopReason>, RunError> {
        loop {
            if let Some(reason) = self.spent() {
                self.clock.pause();
                return Ok(Err(reason));
            }
            if self.step()? {
                self.clock.pause();
                if self.evaluation_seconds <= self.clock.now() {
                    let (point, seconds) = self.check()?;
                    let passed = point.gap() <= gap;
                    if passed {
                        self.book(seconds);
                    }
                    self.show(&point)?;
                    if passed {
                        return Ok(Ok(point));
                    }
                }
            }
            self.tick();
        }
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
        let calls = self.judge.blocks() as f64;
        let seconds = match self.clock.kind() {
            ClockKind::Wall => stopwatch.seconds(),
            ClockKind::Work => calls * self.judge.work(),
        };
        self.evaluation_calls += self.judge.blocks() as u64;
        self.evaluation_seconds += seconds;
        let score = dual - self.regularizer.penalty(&w);
        Ok((Point { lambda: self.regularizer.lambda(), w, primal, dual, score }, seconds))
    }

    /// Moves a check from evaluation to training. A training oracle with a delay would have taken longer.
    fn book(&mut self, seconds: f64) {
        let calls = self.judge.blocks() as u64;
        self.evaluation_calls -= calls;
        self.evaluation_seconds -= seconds;
        let seconds = seconds + calls as f64 * (self.oracle.work() - self.judge.work());
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

    /// What the run took so far.
    pub fn spending(&self) -> Spending {
        // Sampled times can overshoot; more than all the time there was cannot be true.
        let oracle_seconds = self.counts.oracle_seconds.min(self.clock.now());
        Spending {
            counts: Counts { oracle_seconds, ..self.counts },
            evaluation_calls: self.evaluation_calls,
            train_seconds: self.clock.now(),
            planes: self.solver.progress().planes,
        }
    }
}
