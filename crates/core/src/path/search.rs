//! Where a regularisation path begins, without an oracle that leaves the loss out: all mass is put on the oracle's
//! answers at w = 0, and the smallest lambda is sought at which that point has a gap small enough. Above it, the same
//! masses do at every lambda.
//!
//! In mu = 1/lambda the gap of these masses is convex. At mu = 0 it is what the oracle's bounds at w = 0 lie above its
//! planes there: [`gap_at_zero`](LambdaSearch::gap_at_zero), 0 where the oracle is exact. Between two values the chord
//! bounds it, whatever the bounds are that gave the values; so a point of gap g > target shows that the mu will do at
//! which the chord from mu = 0 reaches the target: a bisection between such bounds. Where the gap at mu = 0 is no smaller
//! than the target, nothing is proven of large lambda, and there is no beginning. Costs n calls for the masses and n for
//! each trial, all of them training. The search goes in units between which a run may be saved.

use serde::{Deserialize, Serialize};

use super::path_run::PathRun;
use super::point::PathPoint;
use crate::oracle::{MaxOracle, Quality};
use crate::rounding::UNIT;
use crate::run::{RunError, StopReason, Unsupported};

/// How near the start of a path comes to the smallest lambda at which its point is good enough, relative.
const START_TOLERANCE: f64 = 1e-3;

/// What rounding leaves of any gap at least, as a share of the mean loss of the planes placed: their hinges are known no
/// better (see [`Rounding::primal`](crate::rounding::Rounding::primal)).
const LEAST_ROUNDING: f64 = 64.0 * UNIT;

/// Trials after which the search gives up.
const MOST_TRIALS: usize = 200;

/// Where the search for the start of a path stands; the solver's state belongs to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LambdaSearch {
    stage: Stage,
    /// By how much the bounds at w = 0 exceed the planes there, summed over the examples placed.
    gap_at_zero: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Stage {
    /// So many examples are on the oracle's answers at w = 0.
    Place(usize),
    /// The largest mu that will do lies between these.
    Bisect {
        /// Will do; 0 before such a mu is known.
        low: f64,
        /// Too large, or not known to be too small.
        high: f64,
        /// Trials so far.
        trials: usize,
    },
    /// This mu should do, and is tried.
    Confirm {
        /// The mu.
        mu: f64,
        /// Trials so far.
        trials: usize,
    },
}

/// What a unit of the search came to.
#[derive(Clone, Debug, PartialEq)]
pub enum SearchStep {
    /// It goes on.
    Running,
    /// The path begins here.
    Start(PathPoint),
    /// w(phi) is 0, and good enough at every lambda.
    Zero,
    /// The oracle's bounds leave this gap, too wide, at w = 0 or as near as the search has come: no beginning is proven.
    Loose(f64),
    /// Nothing was done: a budget is spent.
    OutOfBudget(StopReason),
}

impl LambdaSearch {
    /// Before the first call.
    pub fn new() -> Self {
        LambdaSearch { stage: Stage::Place(0), gap_at_zero: 0.0 }
    }

    /// Returns the gap at mu = 0 of the masses placed, by the oracle's own bounds: 0 where its answers were exact. With
    /// the gap g at a point of these masses, at `rho` times its mu the gap is at most `(1 - rho)` times this and
    /// `rho g`, for rho from 0 to 1.
    pub fn gap_at_zero(&self) -> f64 {
        self.gap_at_zero
    }
}

impl Default for LambdaSearch {
    fn default() -> Self {
        LambdaSearch::new()
    }
}

impl<O: MaxOracle> PathRun<'_, O> {
    /// Takes the search for the start of a path, with a point of a gap of at most `gap`, one unit further: places an
    /// example, or tries a lambda.
    ///
    /// # Errors
    ///
    /// A solver that cannot change lambda, a regulariser with a prior mean, an oracle that proves nothing or fails.
    pub fn search(&mut self, gap: f64, search: &mut LambdaSearch) -> Result<SearchStep, RunError> {
        match search.stage {
            Stage::Place(block) if block < self.run.blocks() => self.place(block, search),
            Stage::Place(_) => self.first_trial(gap, search),
            Stage::Bisect { low, high, trials } => {
                if let Some(reason) = self.run.spent() {
                    return Ok(SearchStep::OutOfBudget(reason));
                }
                search.stage = self.bisect((gap, search.gap_at_zero), (low, high), trials)?;
                Ok(SearchStep::Running)
            }
            Stage::Confirm { mu, trials } => {
                if let Some(reason) = self.run.spent() {
                    return Ok(SearchStep::OutOfBudget(reason));
                }
                let point = self.point_at(1.0 / mu)?;
                if point.gap() <= gap {
                    return Ok(SearchStep::Start(point));
                }
                if trials + 1 == MOST_TRIALS {
                    return Ok(SearchStep::Loose(point.gap()));
                }
                // By rounding, or where the oracle only gives bounds.
                search.stage = Stage::Confirm { mu: mu * (1.0 - START_TOLERANCE), trials: trials + 1 };
                Ok(SearchStep::Running)
            }
        }
    }

    /// Puts an example on the oracle's answer at w = 0.
    fn place(&mut self, block: usize, search: &mut LambdaSearch) -> Result<SearchStep, RunError> {
        if self.run.regularizer().prior().is_some() {
            return Err(Unsupported::Prior.into());
        }
        if self.run.is_interrupted() {
            return Ok(SearchStep::OutOfBudget(StopReason::Interrupt));
        }
        let (blocks, dim) = (self.run.blocks(), self.run.dim());
        let (solver, mut ctx, (origin, plane)) = self.run.parts();
        if block == 0 || origin.len() != dim {
            origin.clear();
            origin.resize(dim, 0.0); // once, and again where the run was restored
        }
        let Some(solver) = solver.rescaling() else { return Err(Unsupported::OneLambda.into()) };
        ctx.resume();
        match ctx.maximize_ahead(block..blocks, origin, plane)? {
            Quality::Exact => {}
            // The truth's own plane scores 0.
            Quality::UpperBound(bound) => search.gap_at_zero += (bound.max(0.0) - plane.view().circ).max(0.0),
            Quality::Heuristic => return Err(Unsupported::NotProven.into()),
        }
        solver.place(block, plane, &mut ctx);
        self.run.pause();
        search.stage = Stage::Place(block + 1);
        Ok(SearchStep::Running)
    }

    fn first_trial(&mut self, gap: f64, search: &mut LambdaSearch) -> Result<SearchStep, RunError> {
        if let Some(reason) = self.run.spent() {
            return Ok(SearchStep::OutOfBudget(reason));
        }
        if search.gap_at_zero >= gap {
            return Ok(SearchStep::Loose(search.gap_at_zero));
        }
        let start = self.point_at(1.0)?;
        let square = self.run.regularizer().metric().norm(&start.w);
        if square == 0.0 {
            // The same weights, and so the same gap, at every lambda.
            return Ok(if start.gap() <= gap { SearchStep::Zero } else { SearchStep::Loose(start.gap()) });
        }
        // As a function of mu the gap is at least |w|^2 mu - circ, w being that at mu = 1.
        let circ = start.dual + 0.5 * square;
        if gap < LEAST_ROUNDING * circ {
            return Ok(SearchStep::Loose(LEAST_ROUNDING * circ)); // at no mu do 64-bit numbers prove that
        }
        search.stage = Stage::Bisect { low: 0.0, high: (gap + circ) / square, trials: 0 };
        Ok(SearchStep::Running)
    }

    fn bisect(
        &mut self,
        (gap, at_zero): (f64, f64),
        (low, high): (f64, f64),
        trials: usize,
    ) -> Result<Stage, RunError> {
        let mu = if low == 0.0 { high } else { f64::sqrt(low * high) };
        let point = self.point_at(1.0 / mu)?;
        let chord = mu * (gap - at_zero) / (point.gap() - at_zero);
        let (low, high) = if point.gap() > gap { (f64::max(low, chord), mu) } else { (mu, high) };
        let near = low > 0.0 && high <= low * (1.0 + START_TOLERANCE);
        Ok(match near || trials + 1 == MOST_TRIALS {
            true => Stage::Confirm { mu: low, trials: 0 },
            false => Stage::Bisect { low, high, trials: trials + 1 },
        })
    }
}
