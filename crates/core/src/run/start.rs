//! Where a regularisation path begins, without an oracle that leaves the loss out: all mass is put on the oracle's
//! answers at w = 0, and the smallest lambda is sought at which that point has a gap small enough. Above it, the same
//! masses do at every lambda.
//!
//! In mu = 1/lambda the gap is convex and 0 at 0, so a point of gap g > target shows that `mu target / g` will do: a
//! bisection between such bounds. Costs n calls for the masses and n for each trial, all of them training. The search
//! goes in units between which a run may be saved.

use std::sync::atomic::Ordering;

use serde::{Deserialize, Serialize};

use super::continuation::{CANNOT_RESCALE, NOT_PROVEN};
use super::{Point, Run, RunError, StopReason};
use crate::context::Ctx;
use crate::linalg;
use crate::oracle::MaxOracle;

/// How near the start of a path comes to the smallest lambda at which its point is good enough, relative.
const START_TOLERANCE: f64 = 1e-3;

/// Trials after which the search gives up.
const MOST_TRIALS: usize = 200;

/// Where the search for the start of a path stands; the solver's state belongs to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Search {
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
pub enum Sought {
    /// It goes on.
    Under,
    /// The path begins here.
    Start(Point),
    /// w(phi) is 0, and so it is optimal at every lambda.
    Zero,
    /// Nothing was done: a budget is spent.
    Spent(StopReason),
}

impl Search {
    /// Before the first call.
    pub fn new() -> Self {
        Search::Place(0)
    }
}

impl Default for Search {
    fn default() -> Self {
        Search::new()
    }
}

impl<O: MaxOracle> Run<O> {
    /// Takes the search for the start of a path, with a point of a gap of at most `gap`, one unit further: places an
    /// example, or tries a lambda.
    ///
    /// Fails where the solver cannot change lambda, the regulariser has a prior mean, or the oracle proves nothing.
    pub fn seek_start(&mut self, gap: f64, search: &mut Search) -> Result<Sought, RunError> {
        match *search {
            Search::Place(block) if block < self.oracle.blocks() => self.place(block, search),
            Search::Place(_) => self.first_trial(gap, search),
            Search::Bisect { low, high, trials } => {
                if let Some(reason) = self.spent() {
                    return Ok(Sought::Spent(reason));
                }
                *search = self.bisect(gap, (low, high), trials)?;
                Ok(Sought::Under)
            }
            Search::Confirm { mu, trials } => {
                let point = self.point_at(1.0 / mu)?;
                if point.gap() <= gap {
                    return Ok(Sought::Start(point));
                }
                if trials + 1 == MOST_TRIALS {
                    return Err(NOT_PROVEN);
                }
                // By rounding, or where the oracle only gives bounds.
                *search = Search::Confirm { mu: mu * (1.0 - START_TOLERANCE), trials: trials + 1 };
                Ok(Sought::Under)
            }
        }
    }

    /// Puts an example on the oracle's answer at w = 0.
    fn place(&mut self, block: usize, search: &mut Search) -> Result<Sought, RunError> {
        if self.regularizer.prior().is_some() {
            return Err(RunError::Unsupported("a path needs a regulariser without a prior mean"));
        }
        if self.stop.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Ok(Sought::Spent(StopReason::Interrupt));
        }
        let blocks = self.oracle.blocks();
        if block == 0 || self.candidate.len() != self.oracle.dim() {
            self.candidate.clear();
            self.candidate.resize(self.oracle.dim(), 0.0); // once, and again where the run was restored
        }
        let mut ctx = Ctx::new(&mut self.oracle, &mut self.rng, &mut self.clock, &mut self.counts)
            .with_lookahead(self.lookahead.as_mut());
        let Some(solver) = self.solver.rescaling() else { return Err(CANNOT_RESCALE) };
        ctx.resume();
        ctx.maximize_ahead(block..blocks, &self.candidate, &mut self.plane)?;
        solver.place(block, &mut self.plane, &mut ctx);
        self.clock.pause();
        *search = Search::Place(block + 1);
        Ok(Sought::Under)
    }

    fn first_trial(&mut self, gap: f64, search: &mut Search) -> Result<Sought, RunError> {
        if let Some(reason) = self.spent() {
            return Ok(Sought::Spent(reason));
        }
        let start = self.point_at(1.0)?;
        let square = linalg::sum_squares(&start.w);
        if square == 0.0 {
            return Ok(Sought::Zero);
        }
        // As a function of mu the gap is at least |w|^2 mu - circ, w being that at mu = 1.
        let circ = start.dual + 0.5 * square;
        *search = Search::Bisect { low: 0.0, high: (gap + circ) / square, trials: 0 };
        Ok(Sought::Under)
    }

    fn bisect(&mut self, gap: f64, (low, high): (f64, f64), trials: usize) -> Result<Search, RunError> {
        let mu = if low == 0.0 { high } else { f64::sqrt(low * high) };
        let point = self.point_at(1.0 / mu)?;
        let (low, high) = if point.gap() > gap { (f64::max(low, mu * gap / point.gap()), mu) } else { (mu, high) };
        let near = low > 0.0 && high <= low * (1.0 + START_TOLERANCE);
        Ok(match near || trials + 1 == MOST_TRIALS {
            true => Search::Confirm { mu: low, trials: 0 },
            false => Search::Bisect { low, high, trials: trials + 1 },
        })
    }
}
