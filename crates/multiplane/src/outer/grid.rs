//! Grid search over lambda: a certified model at every point, each started from the one before it or from nothing.
//!
//! The rival of the path (Osokin et al. 2016, section 5): it answers for its own points only.

use multiplane_core::oracle::BoxedOracle;
use multiplane_core::parameter::ParameterError;
use multiplane_core::path::{Beginning, LambdaSearch, PathRun, SearchStep};
use multiplane_core::run::{GapTarget, Outcome, Run, RunError, StopReason};
use multiplane_core::state::{StateError, ensure};
use multiplane_solvers::SolverEntry;
use multiplane_tasks::problem::MAX_DIM;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::path::{continuing, no_start};
use super::position::loose;
use super::summary::PathSummary;
use crate::error::Error;
use crate::file::{Breakpoint, PathKind, PathModel};
use crate::session::{RunOptions, Session};
use crate::spec::{GridPoints, GridSpec, Outer, PathEnd};

/// The smallest lambda that is looked at for the beginning of an even grid, as a multiple of its end.
const LOWEST: f64 = 2.0;

/// `count` numbers from `from` down to `to`, evenly in the logarithm; both ends exact.
fn even(count: usize, from: f64, to: f64) -> Vec<f64> {
    let step = |k: usize| match k {
        0 => from,
        _ if k + 1 == count => to,
        _ => from * (to / from).powf(k as f64 / (count - 1) as f64),
    };
    (0..count).map(step).collect()
}

/// A grid under way, as a checkpoint keeps it beside the run.
#[derive(Serialize, Deserialize)]
struct GridPosition {
    /// Its points in the order in which they are trained; none before they are known.
    lambdas: Vec<f64>,
    /// The search for the first of them, if that has to be sought.
    search: LambdaSearch,
    /// The points trained, and their weights.
    rows: Vec<(Breakpoint, Vec<f64>)>,
    /// If the run has moved on to the point after those.
    begun: bool,
    /// The lambda at which the run stands.
    lambda: f64,
}

impl GridPosition {
    fn new(spec: &GridSpec) -> Self {
        let lambdas = match &spec.points {
            GridPoints::List(list) => list.clone(),
            GridPoints::Even { count, from: Some(from), to } => even(*count, *from, *to),
            GridPoints::Even { from: None, .. } => Vec::new(),
        };
        GridPosition { lambdas, search: LambdaSearch::default(), rows: Vec::new(), begun: false, lambda: 1.0 }
    }

    /// Refuses one that was read and does not fit, for `dim` weights in points of `size` numbers.
    fn check(&self, dim: usize, size: usize) -> Result<(), StateError> {
        let positive = |lambda: &f64| lambda.is_finite() && *lambda > 0.0;
        let sound = self.lambdas.iter().chain([&self.lambda]).all(positive);
        self.search.check(size)?;
        let fits = self.rows.len() <= self.lambdas.len() && self.rows.iter().all(|(_, w)| w.len() == dim);
        ensure(sound && fits, "the position on the grid")
    }
}

impl Session {
    /// Trains at every point of a grid; lambda and gap of the specification play no part, its other stops hold for
    /// all points together. A point that they cut short is the last, with the gap that it reached.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] where `spec` breaks a rule, [`Error::Input`] where the solver cannot do it or the
    /// checkpoint is not of this grid, [`Error::Failed`] where the run fails.
    pub fn grid(&self, spec: &GridSpec, options: RunOptions) -> Result<(PathModel, PathSummary), Error> {
        spec.validate().map_err(|error| error.under("grid"))?;
        self.refuse_single("a grid")?;
        let (count, dim) = (spec.points.count(), self.problem().dim());
        if count.saturating_mul(dim) > MAX_DIM {
            return Err(Error::input(format!("a grid of {count} points with {dim} weights: too large")));
        }
        let (mut saver, options) = self.loop_checkpoints(Outer::Grid(spec.clone()), options)?;
        let SolverEntry { name, has_dual, continues, minimises, .. } = *self.spec().solver.entry;
        if !minimises {
            return Err(Error::input(format!("solver `{name}` ignores lambda, so there is nothing to choose")));
        }
        let mut run = self.prepare(1.0, Some(spec.gap).filter(|_| has_dual), options)?;
        if spec.warm_start.is_some() && !continues {
            let known = continuing();
            return Err(Error::input(format!(
                "solver `{name}` cannot start warm: expected warm_start none, or one of {known}"
            )));
        }
        let size = self.regularizer.metric().size(dim);
        let check = |at: &GridPosition| at.check(dim, size);
        let resumed = self.restore_position(&mut saver, &mut run, check, |at| at.lambda)?;
        let mut at = resumed.unwrap_or_else(|| GridPosition::new(spec));
        let cut = loop {
            let reason = match at.lambdas.len() {
                0 => self.seek(spec, &mut at, &mut run),
                all if at.rows.len() == all => break None,
                _ => self.step(spec, &mut at, &mut run),
            };
            at.lambda = run.lambda();
            match reason.map_err(|error| saver.with_newest(error))? {
                None => saver.look(&mut run, &at),
                reason => break reason,
            }
        };
        let end = cut.map_or(PathEnd::LambdaMin, PathEnd::from);
        // Before the outcome of a point that was cut short: its evaluation is none that a longer run would make.
        let checkpoints = saver.last(&mut run, &at, end);
        if at.lambdas.is_empty() {
            return Err(saver.without_point(no_start(end)));
        }
        if let Some(reason) = cut {
            self.end_point(&mut at, run.outcome(reason)?)?;
        }
        let (model, points) = self.grid_model(spec, at, end);
        let summary = PathSummary { checkpoints, ..PathSummary::new(self, &model, points, run.cost()) };
        Ok((model, summary))
    }

    /// Takes a step at the point in turn. Returns why that was cut short, if it was.
    fn step(
        &self,
        spec: &GridSpec,
        at: &mut GridPosition,
        run: &mut Run<BoxedOracle>,
    ) -> Result<Option<StopReason>, Error> {
        if !at.begun {
            let lambda = at.lambdas[at.rows.len()];
            match spec.warm_start.filter(|_| !at.rows.is_empty()) {
                Some(start) => {
                    PathRun::new(run).continue_at(lambda, start);
                }
                None => PathRun::new(run).continue_with(self.solver(lambda), lambda),
            }
            at.begun = true;
        }
        match run.advance()? {
            Some(StopReason::Gap) => {
                let outcome = run.outcome(StopReason::Gap)?;
                self.end_point(at, outcome)?;
                Ok(None)
            }
            reason => Ok(reason),
        }
    }

    /// Takes note of a point.
    fn end_point(&self, at: &mut GridPosition, outcome: Outcome) -> Result<(), Error> {
        let (losses, lambda) = (self.losses(&outcome.w)?, at.lambdas[at.rows.len()]);
        let Outcome { certificate, cost, progress, .. } = &outcome;
        let point = Breakpoint::new(lambda, *certificate, cost, progress.planes, losses);
        at.rows.push((point, self.problem().to_file_layout(&outcome.w)));
        at.begun = false;
        Ok(())
    }

    /// Takes the search for the beginning of an even grid one unit further. Returns why it was cut short, if it was.
    fn seek(
        &self,
        spec: &GridSpec,
        at: &mut GridPosition,
        run: &mut Run<BoxedOracle>,
    ) -> Result<Option<StopReason>, Error> {
        let GridPoints::Even { count, to, .. } = spec.points else { return Ok(None) };
        let gap = GapTarget::Absolute(spec.start_gap);
        let rule = Beginning { target: gap, eps: gap, lambda: None, floor: LOWEST * to };
        let sought = PathRun::new(run).search(&rule, &mut at.search).map_err(|error| match error {
            RunError::Unsupported(reason) => Error::input(format!("{reason}; or say where the grid begins")),
            other => other.into(),
        })?;
        let from = match sought {
            SearchStep::Running | SearchStep::AboveTarget(_) => return Ok(None),
            SearchStep::OutOfBudget(reason) => return Ok(Some(reason)),
            SearchStep::Zero => {
                return Err(Error::input("w = 0 is optimal at every lambda: there is nothing to search"));
            }
            SearchStep::Loose(gap) => {
                return Err(Error::input(format!("{}; or say where the grid begins", loose(gap, spec.start_gap))));
            }
            SearchStep::Start(point) => point.lambda,
        };
        if from <= to {
            let rule = format!("a path begins at lambda = {from:.6}, expected a number below that");
            return Err(ParameterError::new("path.lambda_min", to, rule).into());
        }
        at.lambdas = even(count, from, to);
        Ok(None)
    }

    /// The model and its points, lambda falling.
    fn grid_model(&self, spec: &GridSpec, at: GridPosition, end: PathEnd) -> (PathModel, Vec<Breakpoint>) {
        let GridPosition { lambdas, mut rows, .. } = at;
        rows.sort_by(|a, b| b.0.lambda.total_cmp(&a.0.lambda));
        let (points, w): (Vec<Breakpoint>, Vec<Vec<f64>>) = rows.into_iter().unzip();
        let outer = json!({
            "lambdas": lambdas,
            "gap": match spec.gap {
                GapTarget::Absolute(gap) => json!(gap),
                GapTarget::Percent(percent) => json!(format!("{percent}%")),
            },
            "warm_start": spec.warm_start,
        });
        let (w, provenance) = self.rows_of(w.concat());
        (PathModel::new(provenance, PathKind::Grid, outer, end, &points, w), points)
    }
}
