//! The position on a regularisation path, and its steps: the search for the first breakpoint, then from each to the
//! next.

use multiplane_core::oracle::MaxOracle;
use multiplane_core::parameter::ParameterError;
use multiplane_core::path::{GapProgress, LambdaSearch, PathPoint, PathRun, SearchStep};
use multiplane_core::run::{GapTarget, Run, RunError};
use multiplane_core::solver::WarmStart;
use multiplane_core::state::StateError;
use multiplane_tasks::problem::MAX_DIM;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::spec::{PathEnd, PathSpec};

/// A run that comes no nearer to its target in this many checks, each after an exact pass or more, has stopped ..
const IDLE_CHECKS: u32 = 50;

/// .. if its dual value has risen by no more than this meanwhile, relative to the primal: what a gap cannot tell from 0.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// The position on a path: with the state of its run, all that is needed to go on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathState {
    /// Breakpoints so far.
    pub breakpoints: usize,
    /// Down to where the last of them serves: the lambda at which the run goes on. `None` before the first.
    pub next: Option<f64>,
    /// The lambda at which the run stands.
    pub lambda: f64,
    /// The search for the first breakpoint.
    search: LambdaSearch,
    /// The nearest that the run has come to the target at this lambda.
    nearest: Option<Nearest>,
}

/// The smallest gap seen at a lambda.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Nearest {
    gap: f64,
    dual: f64,
    /// Checks since that found no smaller one.
    checks: u32,
}

/// The result of a step along a path.
#[derive(Clone, Debug, PartialEq)]
pub enum PathStep {
    /// It goes on.
    Running,
    /// A breakpoint.
    Point(PathPoint),
    /// Nothing was done: the path has ended.
    Ended(PathEnd),
}

impl PathState {
    /// Takes the path one step further; between steps a run may be saved, and this state with it.
    ///
    /// # Errors
    ///
    /// The solver cannot change lambda, the oracle proves nothing, or the path has no lambda above `lambda_min`.
    pub fn advance<O: MaxOracle>(&mut self, run: &mut Run<O>, spec: &PathSpec) -> Result<PathStep, Error> {
        let step = match self.next {
            None => self.seek(run, spec),
            Some(next) if next <= spec.lambda_min => Ok(PathStep::Ended(PathEnd::LambdaMin)),
            Some(next) => {
                if self.lambda != next {
                    // The search for the start may have left the run below it.
                    let start = if next < self.lambda { WarmStart::KeepPrimal } else { WarmStart::KeepDual };
                    PathRun::new(run).continue_at(next, start);
                }
                self.approach(run, spec)
            }
        };
        self.lambda = run.lambda();
        step
    }

    /// The gap that the oracle's bounds leave to the masses of the first breakpoint as lambda grows without end; 0
    /// where the oracle is exact at w = 0.
    pub fn gap_at_zero(&self) -> f64 {
        self.search.gap_at_zero()
    }

    /// Refuses one that was read and does not fit, for points of `size` numbers.
    pub(super) fn check(&self, size: usize) -> Result<(), StateError> {
        self.search.check(size)
    }

    /// On the way to the first breakpoint.
    fn seek<O: MaxOracle>(&mut self, run: &mut Run<O>, spec: &PathSpec) -> Result<PathStep, Error> {
        let rule = spec.beginning(PathRun::new(run).blocks() as f64).map_err(|error| error.under("path"))?;
        let start = match PathRun::new(run).search(&rule, &mut self.search).map_err(unsupported)? {
            SearchStep::Running => return Ok(PathStep::Running),
            SearchStep::AboveTarget(point) => return self.miss(&point, spec),
            SearchStep::OutOfBudget(reason) => return Ok(PathStep::Ended(reason.into())),
            SearchStep::Start(point) => point,
            // The best labellings at w = 0 balance out: w = 0 is good enough at every lambda.
            SearchStep::Zero => PathRun::new(run).point_at(spec.lambda_min).map_err(unsupported)?,
            // Where the oracle leaves no gap, rounding does.
            SearchStep::Loose(gap) if self.search.gap_at_zero() == 0.0 => {
                let (lambda, target) = (run.lambda(), spec.target().at(self.search.primal_at_zero()));
                let what = format!("the rule is a gap of kappa eps = {target:.1e}, where rounding is {gap:.1e}");
                return Err(Error::input(beyond(spec.eps, lambda, gap, &what)));
            }
            SearchStep::Loose(gap) => {
                return Err(Error::input(loose(gap, spec.target().at(self.search.primal_at_zero()))));
            }
        };
        if start.lambda < spec.lambda_min {
            let rule = format!("the path begins at lambda = {:.6}, expected a number below that", start.lambda);
            return Err(ParameterError::new("path.lambda_min", spec.lambda_min, rule).into());
        }
        let rounding = ROUNDING * start.primal;
        let target = spec.target().at(start.primal);
        if target < rounding {
            let what = format!("the rule is a gap of kappa eps = {target:.1e}, where rounding is {rounding:.1e}");
            return Err(Error::Input(too_small(spec, &start, &what)));
        }
        self.pass(start, spec)
    }

    /// On the way to the next one.
    fn approach<O: MaxOracle>(&mut self, run: &mut Run<O>, spec: &PathSpec) -> Result<PathStep, Error> {
        if (self.breakpoints + 1).saturating_mul(run.dim()) > MAX_DIM {
            return Ok(PathStep::Ended(PathEnd::Size));
        }
        match PathRun::new(run).approach(spec.target()).map_err(unsupported)? {
            GapProgress::Running => Ok(PathStep::Running),
            GapProgress::AboveTarget(point) => self.miss(&point, spec),
            GapProgress::Reached(point) => self.pass(point, spec),
            GapProgress::OutOfBudget(reason) => Ok(PathStep::Ended(reason.into())),
        }
    }

    /// Takes note of a breakpoint. Fails where the next one would be the same number.
    fn pass(&mut self, point: PathPoint, spec: &PathSpec) -> Result<PathStep, Error> {
        let Some(reach) = point.reach(spec.eps) else {
            let (lambda, gap, eps) = (point.lambda, point.gap(), spec.eps.at(point.primal));
            return Err(Error::Failed(format!("at lambda = {lambda:e} the gap is {gap:.3e}, more than eps = {eps:e}")));
        };
        let next = (point.lambda * reach).max(spec.lambda_min);
        if next >= point.lambda && point.lambda > spec.lambda_min {
            let error = too_small(
                spec,
                &point,
                &format!(
                    "the next breakpoint, lambda (1 - (eps - gap) / S) with S = {:.3e}, is the same number",
                    point.score
                ),
            );
            return Err(if self.breakpoints == 0 { Error::Input(error) } else { Error::Failed(error) });
        }
        self.next = Some(next);
        self.nearest = None;
        self.breakpoints += 1;
        Ok(PathStep::Point(point))
    }

    /// Takes note of a gap that is too wide. Fails where neither gap nor dual have moved for long, but for rounding.
    fn miss(&mut self, point: &PathPoint, spec: &PathSpec) -> Result<PathStep, Error> {
        let (gap, dual) = (point.gap(), point.dual);
        match &mut self.nearest {
            Some(nearest) if gap >= nearest.gap => {
                nearest.checks += 1;
                let still = dual - nearest.dual <= ROUNDING * point.primal.abs();
                if nearest.checks >= IDLE_CHECKS && still {
                    let (checks, target) = (nearest.checks, spec.target().at(point.primal));
                    let what = format!(
                        "the rule is a gap of kappa eps = {target:.1e}, but it has not fallen below {:.3e} in {checks} \
                         further checks, and the dual value has not risen",
                        nearest.gap
                    );
                    return Err(Error::Failed(too_small(spec, point, &what)));
                }
            }
            _ => self.nearest = Some(Nearest { gap, dual, checks: 0 }),
        }
        Ok(PathStep::Running)
    }
}

impl Default for PathState {
    /// Before the first breakpoint.
    fn default() -> Self {
        PathState { breakpoints: 0, next: None, lambda: 1.0, search: LambdaSearch::default(), nearest: None }
    }
}

/// Says that bounds at w = 0 are too loose for a beginning.
pub(super) fn loose(gap: f64, target: f64) -> String {
    format!(
        "the oracle's upper bounds lie {gap:.3e} above its labellings at w = 0 and near it, where a gap of {target:.3e} is \
         asked for: nothing is proven of large lambda, and so a path has no beginning; a larger eps helps, or an oracle \
         with tighter bounds or better labellings there"
    )
}

/// Says that 64-bit numbers do not reach as far as eps asks.
fn too_small(spec: &PathSpec, point: &PathPoint, what: &str) -> String {
    beyond(spec.eps, point.lambda, point.gap(), what)
}

fn beyond(eps: GapTarget, lambda: f64, gap: f64, what: &str) -> String {
    let eps = match eps {
        GapTarget::Absolute(eps) => format!("{eps:e}"),
        GapTarget::Percent(share) => format!("{share}%"),
    };
    format!("eps = {eps} is too small for 64-bit numbers: at lambda = {lambda:e}, gap {gap:.3e}, {what}")
}

fn unsupported(error: RunError) -> Error {
    match error {
        RunError::Unsupported(reason) => Error::input(reason.to_string()),
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(primal: f64, dual: f64) -> PathPoint {
        PathPoint { lambda: 2.0, w: Vec::new(), primal, dual, score: 0.5, square: 0.0, unsaid: 0.0 }
    }

    /// A run that neither closes its gap nor raises its dual is stopped, one that does either is not, however slowly.
    #[test]
    fn idle_runs_are_stopped() {
        let spec = PathSpec { eps: 1e-13.into(), ..PathSpec::default() };
        let ends = |at: &dyn Fn(u32) -> PathPoint| {
            let mut state = PathState::default();
            (0..1000).find_map(|check| state.miss(&at(check), &spec).err())
        };
        assert!(ends(&|check| point(0.5 - 1e-6 * f64::from(check), 0.4)).is_none(), "the gap falls");
        assert!(ends(&|check| point(0.6 + 1e-6 * f64::from(check), 0.4 + 1e-9 * f64::from(check))).is_none());
        let error = ends(&|check| point(0.5 + 1e-12 * f64::from(check % 3), 0.5 - 1e-12)).unwrap();
        let text = error.to_string();
        assert!(matches!(error, Error::Failed(_)));
        for part in ["eps = 1e-13", "lambda = 2e0", "kappa eps = 9.0e-14", "not fallen below 1.000e-12 in 50 further"] {
            assert!(text.contains(part), "{text}");
        }
    }

    /// A breakpoint that would be the same number as the one before is refused.
    #[test]
    fn steps_move() {
        let spec = PathSpec { eps: 1e-18.into(), ..PathSpec::default() };
        let mut state = PathState::default();
        let error = state.pass(point(0.5, 0.5), &spec).unwrap_err();
        assert!(matches!(error, Error::Input(_)) && error.to_string().contains("is the same number"), "{error}");
        let spec = PathSpec { eps: 0.1.into(), ..spec };
        assert!(
            state.pass(point(0.5, 0.45), &spec).is_ok() && state.next.is_some_and(|next| (next - 1.8).abs() < 1e-12)
        );
    }
}
