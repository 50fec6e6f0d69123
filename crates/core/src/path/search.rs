//! Where a regularisation path begins, without an oracle that leaves the loss out: all mass is put on the oracle's
//! answers at w = 0, and the smallest lambda is sought at which that point has a gap small enough. Above it, the same
//! masses do at every lambda.
//!
//! In mu = 1/lambda the gap is convex and 0 at 0, so a point of gap g > target shows that `mu target / g` will do: a
//! bisection between such bounds. Costs n calls for the masses and n for each trial, all of them training. The search
//! goes in units between which a run may be saved.

use serde::{Deserialize, Serialize};

use super::path_run::PathRun;
use super::point::PathPoint;
use crate::linalg;
use crate::oracle::MaxOracle;
use crate::run::{RunError, StopReason, Unsupported};

/// How near the start of a path comes to the smallest lambda at which its point is good enough, relative.
const START_TOLERANCE: f64 = 1e-3;

/// Trials after which the search gives up.
const MOST_TRIALS: usize = 200;

/// Where the search for the start of a path stands; the solver's state belongs to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum LambdaSearch {
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
    /// w(phi) is 0, and so it is optimal at every lambda.
    Zero,
    /// Nothing was done: a budget is spent.
    OutOfBudget(StopReason),
}

impl LambdaSearch {
    /// Before the first call.
    pub fn new() -> Self {
        LambdaSearch::Place(0)
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
        match *search {
            LambdaSearch::Place(block) if block < self.run.blocks() => self.place(block, search),
            LambdaSearch::Place(_) => self.first_trial(gap, search),
            LambdaSearch::Bisect { low, high, trials } => {
                if let Some(reason) = self.run.spent() {
                    return Ok(SearchStep::OutOfBudget(reason));
                }
                *search = self.bisect(gap, (low, high), trials)?;
                Ok(SearchStep::Running)
            }
            LambdaSearch::Confirm { mu, trials } => {
                let point = self.point_at(1.0 / mu)?;
                if point.gap() <= gap {
                    return Ok(SearchStep::Start(point));
                }
                if trials + 1 == MOST_TRIALS {
                    return Err(Unsupported::NotProven.into());
                }
                // By rounding, or where the oracle only gives bounds.
                *search = LambdaSearch::Confirm { mu: mu * (1.0 - START_TOLERANCE), trials: trials + 1 };
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
        ctx.maximize_ahead(block..blocks, origin, plane)?;
        solver.place(block, plane, &mut ctx);
        self.run.pause();
        *search = LambdaSearch::Place(block + 1);
        Ok(SearchStep::Running)
    }

    fn first_trial(&mut self, gap: f64, search: &mut LambdaSearch) -> Result<SearchStep, RunError> {
        if let Some(reason) = self.run.spent() {
            return Ok(SearchStep::OutOfBudget(reason));
        }
        let start = self.point_at(1.0)?;
        let square = linalg::sum_squares(&start.w);
        if square == 0.0 {
            return Ok(SearchStep::Zero);
        }
        // As a function of mu the gap is at least |w|^2 mu - circ, w being that at mu = 1.
        let circ = start.dual + 0.5 * square;
        *search = LambdaSearch::Bisect { low: 0.0, high: (gap + circ) / square, trials: 0 };
        Ok(SearchStep::Running)
    }

    fn bisect(&mut self, gap: f64, (low, high): (f64, f64), trials: usize) -> Result<LambdaSearch, RunError> {
        let mu = if low == 0.0 { high } else { f64::sqrt(low * high) };
        let point = self.point_at(1.0 / mu)?;
        let (low, high) = if point.gap() > gap { (f64::max(low, mu * gap / point.gap()), mu) } else { (mu, high) };
        let near = low > 0.0 && high <= low * (1.0 + START_TOLERANCE);
        Ok(match near || trials + 1 == MOST_TRIALS {
            true => LambdaSearch::Confirm { mu: low, trials: 0 },
            false => LambdaSearch::Bisect { low, high, trials: trials + 1 },
        })
    }
}
