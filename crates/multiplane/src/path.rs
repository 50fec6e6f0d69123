//! The epsilon-approximate regularisation path (Osokin et al. 2016, section 5): few breakpoints, weights that are
//! constant between them, and at every lambda of the range a primal value within `eps` of the optimum.
//!
//! At a breakpoint of gap g and score S, w stays good to eps while `g + (1 - rho) S <= eps`. There the next one
//! begins, from the same w, with planes and inner products kept, and is optimised to a gap of `kappa eps`.

use multiplane_core::oracle::MaxOracle;
use multiplane_core::run::{Point, Run, RunError, StopReason};
use multiplane_tasks::problem::MAX_DIM;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::path_model::PathModel;
use crate::path_summary::{Breakpoint, PathSummary};
use crate::train::{Hooks, Session};

/// What a path is to be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathSpec {
    /// How far the primal value may be from the optimum, anywhere on the path; absolute.
    pub eps: f64,
    /// The smallest lambda.
    pub lambda_min: f64,
    /// Breakpoints are optimised to a gap of `kappa eps`, 0 < kappa < 1. The nearer to 1, the more there are and the
    /// less work each is.
    pub kappa: f64,
}

impl Default for PathSpec {
    fn default() -> Self {
        PathSpec { eps: 0.1, lambda_min: 1e-5, kappa: 0.9 }
    }
}

impl PathSpec {
    /// The rule that these parameters break, if any.
    pub fn fault(&self) -> Option<String> {
        let positive = |name: &str, value: f64| {
            (!(value.is_finite() && value > 0.0)).then(|| format!("{name} = {value}: must be a number > 0"))
        };
        let inside = self.kappa > 0.0 && self.kappa < 1.0;
        let kappa = (!inside).then(|| format!("kappa = {}: must be greater than 0 and less than 1", self.kappa));
        positive("eps", self.eps).or_else(|| positive("lambda-min", self.lambda_min)).or(kappa)
    }

    /// The gap to which breakpoints are optimised.
    pub fn target(&self) -> f64 {
        self.kappa * self.eps
    }
}

/// Why a path or grid ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathEnd {
    /// It is complete.
    LambdaMin,
    /// The passes are spent.
    Passes,
    /// The oracle calls are spent.
    Calls,
    /// The seconds are spent.
    Seconds,
    /// Somebody asked.
    Interrupt,
    /// Further weights would not fit into a file.
    Size,
}

impl From<StopReason> for PathEnd {
    fn from(reason: StopReason) -> Self {
        match reason {
            StopReason::Gap => PathEnd::LambdaMin,
            StopReason::Passes => PathEnd::Passes,
            StopReason::Calls => PathEnd::Calls,
            StopReason::Seconds => PathEnd::Seconds,
            StopReason::Interrupt => PathEnd::Interrupt,
        }
    }
}

/// Where a path stands between two breakpoints: with the state of its run, all that is needed to go on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathState {
    /// Breakpoints so far.
    pub breakpoints: usize,
    /// Down to where the last of them serves: the lambda at which the run goes on. `None` before the first.
    pub next: Option<f64>,
}

impl PathState {
    /// Before the first breakpoint.
    pub fn new() -> Self {
        PathState { breakpoints: 0, next: None }
    }

    /// Takes note of a breakpoint; returns where the next one begins, if there is one.
    fn pass(&mut self, point: &Point, spec: &PathSpec) -> Option<f64> {
        let next = (point.lambda * point.reach(spec.eps)).max(spec.lambda_min);
        self.breakpoints += 1;
        self.next = Some(next);
        (next > spec.lambda_min).then_some(next)
    }
}

impl Default for PathState {
    fn default() -> Self {
        PathState::new()
    }
}

/// Who is handed the breakpoints, with the run that has just reached them.
pub type OnPoint<'a, O> = dyn FnMut(&Run<O>, Point) -> Result<(), Error> + 'a;

/// Follows the path with a run of any oracle, from where `state` stands, and hands every breakpoint over. The run's
/// own stops end it early; what was handed over is certified down to `state.next`.
///
/// Fails where the solver cannot change lambda, the oracle proves nothing, or the path has no lambda above
/// `lambda_min`.
pub fn follow<O: MaxOracle>(
    run: &mut Run<O>,
    spec: &PathSpec,
    state: &mut PathState,
    each: &mut OnPoint<'_, O>,
) -> Result<PathEnd, Error> {
    let unsupported = |error: RunError| match error {
        RunError::Unsupported(reason) => Error::input(reason),
        other => other.into(),
    };
    if state.next.is_none() {
        let start = match run.start_path(spec.target()).map_err(unsupported)? {
            Some(point) => point,
            // The best labellings at w = 0 balance out: w = 0 is optimal at every lambda.
            None => run.point_at(spec.lambda_min).map_err(unsupported)?,
        };
        if start.lambda < spec.lambda_min {
            return Err(Error::input(format!(
                "lambda-min = {}: the path begins at lambda = {:.6}, expected a number below that",
                spec.lambda_min, start.lambda
            )));
        }
        let more = state.pass(&start, spec);
        each(run, start)?;
        match more {
            Some(next) => run.continue_at(next, multiplane_core::rescale::WarmStart::KeepPrimal),
            None => return Ok(PathEnd::LambdaMin),
        };
    }
    let dim = run.dim();
    loop {
        if (state.breakpoints + 1).saturating_mul(dim) > MAX_DIM {
            return Ok(PathEnd::Size);
        }
        let point = match run.to_gap(spec.target()).map_err(unsupported)? {
            Ok(point) => point,
            Err(reason) => return Ok(reason.into()),
        };
        let more = state.pass(&point, spec);
        each(run, point)?;
        match more {
            Some(next) => run.continue_at(next, multiplane_core::rescale::WarmStart::KeepPrimal),
            None => return Ok(PathEnd::LambdaMin),
        };
    }
}

impl Session {
    /// Follows the regularisation path; lambda and gap of the specification play no part, its other stops end the
    /// path early.
    pub fn path(&self, spec: &PathSpec, hooks: Hooks) -> Result<(PathModel, PathSummary), Error> {
        if let Some(fault) = spec.fault() {
            return Err(Error::Input(fault));
        }
        let mut run = self.prepare(1.0, None, hooks)?;
        let mut state = PathState::new();
        let (mut points, mut w): (Vec<Breakpoint>, Vec<f64>) = (Vec::new(), Vec::new());
        let end = follow(&mut run, spec, &mut state, &mut |run, point| {
            points.push(Breakpoint::of_point(&point, self.losses(&point.w)?, &run.spending(), self.problem().blocks()));
            w.extend(self.problem().to_file_layout(&point.w));
            Ok(())
        })?;
        let lambda_end = state.next.unwrap_or(spec.lambda_min);
        let model = PathModel::of_path(self, spec, lambda_end, end, &points, w);
        let summary = PathSummary::new(self, &model, points, &run.spending());
        Ok((model, summary))
    }
}
