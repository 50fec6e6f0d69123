//! The search for the start of a regularisation path, without an oracle that leaves the loss out: all mass is put on
//! the oracle's answers at w = 0, and a lambda is sought at which that point has a gap small enough. Above it, the same
//! masses do at every lambda.
//!
//! In mu = 1/lambda the gap of any masses is convex. At mu = 0 it is what the oracle's bounds at w = 0 lie above the
//! masses' planes there: [`gap_at_zero`](LambdaSearch::gap_at_zero), for the first ones 0 where the oracle is exact.
//! Between two values the chord bounds it, whatever the bounds are that gave the values; so a point of gap g > target
//! shows that the mu will do at which the chord from mu = 0 reaches the target: a bisection between such bounds. Where
//! the gap at mu = 0 is no smaller than the target, nothing is proven of large lambda, and there is no beginning.
//!
//! From there the search descends, lambda by halves: masses are kept and trained until their gap is small enough again.
//! As long as they have a gap of at most eps at mu = 0 too, convexity says that they have at every lambda above: the
//! path may begin here, and no pass is spent on breakpoints between which only the length of w changes. All the same
//! holds of shares of P: `(1 - share) P - F` is convex in mu as well.
//!
//! Costs n calls for the masses and n for each trial, and then what training costs; all of it is training. The search
//! goes in units between which a run may be saved.

use serde::{Deserialize, Serialize};

use super::path_run::{GapProgress, PathPoint, PathRun};
use crate::oracle::{MaxOracle, Quality};
use crate::rounding::UNIT;
use crate::run::{GapTarget, RunError, StopReason, Unsupported};
use crate::solver::WarmStart;
use crate::state::{StateError, ensure};

/// How near the bisection comes to the smallest lambda at which the first masses are good enough, as a factor. The
/// descent goes on from there.
const NEAR: f64 = 2.0;

/// By how much a trial that fails by rounding alone gives way, relative.
const GIVES_WAY: f64 = 1e-3;

/// By how much the descent lets lambda fall at a time.
const DESCENT: f64 = 0.5;

/// Checks of the gap after which the descent leaves a lambda alone.
const MOST_CHECKS: u32 = 50;

/// The least gap that rounding leaves, as a share of the mean loss of the planes placed: their hinges are known no
/// better (see [`Rounding::primal`](crate::rounding::Rounding::primal)).
const LEAST_ROUNDING: f64 = 64.0 * UNIT;

/// Trials after which the search gives up.
const MOST_TRIALS: usize = 200;

/// The requested beginning of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beginning {
    /// The gap that its point has at most.
    pub target: GapTarget,
    /// The gap that its masses may have at larger lambda; no smaller than `target`.
    pub eps: GapTarget,
    /// Its lambda; if not given, as low as these gaps let it be.
    pub lambda: Option<f64>,
    /// The search does not descend below this lambda.
    pub floor: f64,
}

/// The state of the search for the start of a path; the solver's state belongs to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LambdaSearch {
    stage: Stage,
    /// By how much the bounds at w = 0 exceed the planes of the masses there, summed over the examples.
    gap_at_zero: f64,
    /// The bounds at w = 0, summed over the examples placed: P there.
    at_zero: f64,
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
    /// At this point the path may begin; half its lambda is tried.
    Descend {
        /// The point.
        best: Box<PathPoint>,
        /// Checks of the gap at half its lambda.
        checks: u32,
    },
    /// The lambda is given, and the point is trained there.
    Train,
}

/// The result of a unit of the search.
#[derive(Clone, Debug, PartialEq)]
pub enum SearchStep {
    /// It goes on.
    Running,
    /// It goes on at a lambda that was given, where the gap is still too wide.
    AboveTarget(PathPoint),
    /// The path begins here. The run may stand at a smaller lambda.
    Start(PathPoint),
    /// w(phi) is 0, and good enough at every lambda.
    Zero,
    /// The oracle's bounds leave this gap, too wide, at w = 0 or as near as the search has come: no beginning is
    /// proven.
    Loose(f64),
    /// Nothing was done: a budget is spent.
    OutOfBudget(StopReason),
}

impl LambdaSearch {
    /// Returns P at w = 0, by the oracle's own bounds, of the examples placed so far.
    pub fn primal_at_zero(&self) -> f64 {
        self.at_zero
    }

    /// Returns the gap at mu = 0 of the masses of the point found, by the oracle's own bounds. With
    /// the gap g at a point of these masses, at `rho` times its mu the gap is at most `(1 - rho)` times this and
    /// `rho g`, for rho from 0 to 1.
    pub fn gap_at_zero(&self) -> f64 {
        self.gap_at_zero
    }

    /// Refuses one that was read and does not fit, for points of `size` numbers.
    ///
    /// # Errors
    ///
    /// A point that is none.
    pub fn check(&self, size: usize) -> Result<(), StateError> {
        let Stage::Descend { best, .. } = &self.stage else { return Ok(()) };
        let sound = best.lambda.is_finite() && best.lambda > 0.0 && best.w.len() == size;
        ensure(sound, "the beginning of the path")
    }
}

impl Default for LambdaSearch {
    /// Before the first call.
    fn default() -> Self {
        LambdaSearch { stage: Stage::Place(0), gap_at_zero: 0.0, at_zero: 0.0 }
    }
}

impl<O: MaxOracle> PathRun<'_, O> {
    /// Takes the search for the start of a path one unit further: places an example, tries a lambda, or takes a step
    /// toward its gap.
    ///
    /// # Errors
    ///
    /// A solver that cannot change lambda, a regulariser with a prior mean, an oracle that proves nothing or fails.
    pub fn search(&mut self, rule: &Beginning, search: &mut LambdaSearch) -> Result<SearchStep, RunError> {
        match search.stage {
            Stage::Place(block) if block < self.run.blocks() => self.place(block, search),
            Stage::Place(_) => self.first_trial(rule, search),
            Stage::Bisect { low, high, trials } => {
                if let Some(reason) = self.run.spent() {
                    return Ok(SearchStep::OutOfBudget(reason));
                }
                let at_zero = search.gap_at_zero - rule.target.at(search.at_zero);
                search.stage = self.bisect(rule.target, at_zero, (low, high), trials)?;
                Ok(SearchStep::Running)
            }
            Stage::Confirm { mu, trials } => {
                if let Some(reason) = self.run.spent() {
                    return Ok(SearchStep::OutOfBudget(reason));
                }
                let point = self.point_at(1.0 / mu)?;
                if point.gap() <= rule.target.at(point.primal) {
                    search.stage = Stage::Descend { best: Box::new(point), checks: 0 };
                    return Ok(SearchStep::Running);
                }
                if trials + 1 == MOST_TRIALS {
                    return Ok(SearchStep::Loose(point.gap()));
                }
                // By rounding, or where the oracle only gives bounds.
                search.stage = Stage::Confirm { mu: mu * (1.0 - GIVES_WAY), trials: trials + 1 };
                Ok(SearchStep::Running)
            }
            Stage::Descend { .. } => self.descend(rule, search),
            Stage::Train => Ok(match self.approach(rule.target)? {
                GapProgress::Running => SearchStep::Running,
                GapProgress::AboveTarget(point) => SearchStep::AboveTarget(point),
                GapProgress::OutOfBudget(reason) => SearchStep::OutOfBudget(reason),
                GapProgress::Reached(point) => {
                    search.gap_at_zero = gap_at_zero(search.at_zero, &point);
                    SearchStep::Start(point)
                }
            }),
        }
    }

    /// Goes on at half the lambda of the point at which the path may begin, until its gap is small enough or looked at
    /// too often; if the masses do above as well, the path may begin there.
    fn descend(&mut self, rule: &Beginning, search: &mut LambdaSearch) -> Result<SearchStep, RunError> {
        let Stage::Descend { best, checks } = &mut search.stage else { return Ok(SearchStep::Running) };
        let lambda = (DESCENT * best.lambda).max(rule.floor);
        if best.lambda <= rule.floor || *checks == MOST_CHECKS {
            return Ok(SearchStep::Start((**best).clone()));
        }
        if let Some(reason) = self.run.spent() {
            return Ok(SearchStep::OutOfBudget(reason));
        }
        if self.run.lambda() != lambda {
            self.continue_at(lambda, WarmStart::KeepDual);
        }
        match self.approach(rule.target)? {
            GapProgress::Running => {}
            GapProgress::AboveTarget(_) => *checks += 1,
            GapProgress::OutOfBudget(reason) => return Ok(SearchStep::OutOfBudget(reason)),
            GapProgress::Reached(point) => {
                let gap = gap_at_zero(search.at_zero, &point);
                if gap > rule.eps.at(search.at_zero) {
                    return Ok(SearchStep::Start((**best).clone()));
                }
                (**best, *checks, search.gap_at_zero) = (point, 0, gap);
            }
        }
        Ok(SearchStep::Running)
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
        let (solver, mut ctx, (origin, plane)) = self.run.training.parts();
        if block == 0 || origin.len() != dim {
            origin.clear();
            origin.resize(dim, 0.0); // once, and again where the run was restored
        }
        let Some(solver) = solver.rescaling() else { return Err(Unsupported::OneLambda.into()) };
        ctx.resume();
        match ctx.maximize_ahead(block..blocks, origin, plane)? {
            Quality::Exact => search.at_zero += plane.view().circ,
            // The truth's own plane scores 0.
            Quality::UpperBound(bound) => {
                let excess = (bound.max(0.0) - plane.view().circ).max(0.0);
                search.gap_at_zero += excess;
                search.at_zero += plane.view().circ + excess;
            }
            Quality::Heuristic => return Err(Unsupported::NotProven.into()),
        }
        solver.place(block, plane, &mut ctx);
        self.run.pause();
        search.stage = Stage::Place(block + 1);
        Ok(SearchStep::Running)
    }

    fn first_trial(&mut self, rule: &Beginning, search: &mut LambdaSearch) -> Result<SearchStep, RunError> {
        if let Some(reason) = self.run.spent() {
            return Ok(SearchStep::OutOfBudget(reason));
        }
        if let Some(lambda) = rule.lambda {
            if !self.continue_at(lambda, WarmStart::KeepDual) {
                return Err(Unsupported::OneLambda.into());
            }
            search.stage = Stage::Train;
            return Ok(SearchStep::Running);
        }
        let gap = rule.target.at(search.at_zero);
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

    /// A trial between two mu; `at_zero` is by how much the gap exceeds its target at mu = 0, where it does not.
    fn bisect(
        &mut self,
        target: GapTarget,
        at_zero: f64,
        (low, high): (f64, f64),
        trials: usize,
    ) -> Result<Stage, RunError> {
        let mu = if low == 0.0 { high } else { f64::sqrt(low * high) };
        let point = self.point_at(1.0 / mu)?;
        let excess = point.gap() - target.at(point.primal);
        let chord = mu * -at_zero / (excess - at_zero);
        let (low, high) = if excess > 0.0 { (f64::max(low, chord), mu) } else { (mu, high) };
        let near = low > 0.0 && high <= low * NEAR;
        Ok(match near || trials + 1 == MOST_TRIALS {
            true => Stage::Confirm { mu: low, trials: 0 },
            false => Stage::Bisect { low, high, trials: trials + 1 },
        })
    }
}

/// The gap that the masses of a point have at mu = 0, no less than it is: there P is `at_zero`, and F the sum of their
/// losses.
fn gap_at_zero(at_zero: f64, point: &PathPoint) -> f64 {
    let losses = point.dual + 0.5 * point.lambda * point.square;
    (at_zero - losses + LEAST_ROUNDING * at_zero).max(0.0)
}
