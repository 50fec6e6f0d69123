//! The epsilon-approximate regularisation path (Osokin et al. 2016, section 5): few breakpoints, weights that are
//! constant between them, and at every lambda of the range a primal value within `eps` of the optimum.
//!
//! At a breakpoint of gap g and score S, w stays good to eps while `g + (1 - rho) S <= eps`. There the next one
//! begins, from the same w, with planes and inner products kept, and is optimised to a gap of `kappa eps`.

use multiplane_core::observe::Certificate;
use multiplane_core::oracle::MaxOracle;
use multiplane_core::path::PathPoint;
use multiplane_core::run::Run;
use multiplane_core::state::{StateError, ensure};
use multiplane_solvers::{SOLVERS, SolverEntry};
use serde::{Deserialize, Serialize};

use super::position::{PathState, PathStep};
use super::summary::PathSummary;
use crate::error::Error;
use crate::file::{Breakpoint, PathModel};
use crate::session::{RunOptions, Session};
use crate::spec::{Outer, PathEnd, PathSpec};

/// Who is handed the breakpoints, with the run that has just reached them.
pub type OnPoint<'a, O> = dyn FnMut(&Run<O>, PathPoint) -> Result<(), Error> + 'a;

/// Follows the path with a run of any oracle, from where `state` stands, and hands every breakpoint over. The run's
/// own stops end it early; what was handed over is certified down to `state.next`.
///
/// # Errors
///
/// The solver cannot change lambda, the oracle proves nothing, or the path has no lambda above `lambda_min`.
pub fn follow<O: MaxOracle>(
    run: &mut Run<O>,
    spec: &PathSpec,
    state: &mut PathState,
    each: &mut OnPoint<'_, O>,
) -> Result<PathEnd, Error> {
    loop {
        match state.advance(run, spec)? {
            PathStep::Running => {}
            PathStep::Point(point) => each(run, point)?,
            PathStep::Ended(end) if state.next.is_none() => return Err(no_start(end)),
            PathStep::Ended(end) => return Ok(end),
        }
    }
}

/// Returns the error of a path that ended before it began.
pub(crate) fn no_start(end: PathEnd) -> Error {
    let reason = match end {
        PathEnd::Interrupt => "it was interrupted",
        _ => "the budget was spent",
    };
    Error::failed(format!("{reason} before the path had its first point"))
}

/// Lists the names of the solvers that can go on at another lambda.
pub(super) fn continuing() -> String {
    SOLVERS.iter().filter(|entry| entry.continues).map(|entry| entry.name).collect::<Vec<_>>().join(", ")
}

/// A path under way, as a checkpoint keeps it beside the run.
#[derive(Default, Serialize, Deserialize)]
struct PathPosition {
    state: PathState,
    points: Vec<Breakpoint>,
    /// The weights of the breakpoints, row after row.
    w: Vec<f64>,
    /// Their squared lengths, rounded down; with a kernel.
    squares: Vec<f64>,
    /// The part of F and the penalty at the first of them that rounding may hide; with a kernel.
    unsaid: f64,
}

impl PathPosition {
    /// Refuses one that was read and does not fit, for `dim` weights in points of `size` numbers, with a kernel or
    /// without.
    fn check(&self, (dim, size): (usize, usize), has_kernel: bool) -> Result<(), StateError> {
        let rows = self.points.len();
        let of_kernel = self.squares.len() == if has_kernel { rows } else { 0 };
        let fits = of_kernel && self.state.breakpoints == rows && self.w.len() == rows.saturating_mul(dim);
        let sound = self.state.lambda.is_finite() && self.state.lambda > 0.0;
        let falling = self.points.is_sorted_by(|a, b| a.lambda > b.lambda);
        let begun = self.state.next.is_some() == (rows > 0);
        self.state.check(size)?;
        ensure(fits && sound && falling && begun, "the position on the path")
    }
}

impl Session {
    /// Follows the regularisation path; lambda and gap of the specification play no part, its other stops end the
    /// path early.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] where `spec` breaks a rule, [`Error::Input`] where the solver cannot do it or the
    /// checkpoint is not of this path, [`Error::Failed`] where the run fails.
    pub fn path(&self, spec: &PathSpec, options: RunOptions) -> Result<(PathModel, PathSummary), Error> {
        spec.validate().map_err(|error| error.under("path"))?;
        self.refuse_single("a path")?;
        if self.spec().stop.estimated {
            return Err(Error::input("stop.estimated = true: the gap of every point of a path is proven"));
        }
        let (mut saver, options) = self.loop_checkpoints(Outer::Path(*spec), options)?;
        let mut run = self.prepare(1.0, None, options)?.with_latest(false); // a path begins at w = 0
        let SolverEntry { name, continues, .. } = *self.spec().solver.entry;
        if !continues {
            let known = continuing();
            return Err(Error::input(format!(
                "solver `{name}` cannot go on at another lambda, as a path has to: expected one of {known}"
            )));
        }
        let (dim, metric) = (self.problem().dim(), self.regularizer.metric());
        let has_kernel = metric.has_kernel();
        let lengths = (dim, metric.size(dim));
        let check = |at: &PathPosition| at.check(lengths, has_kernel);
        let resumed = self.restore_position(&mut saver, &mut run, check, |at| at.state.lambda)?;
        let mut at = resumed.unwrap_or_default();
        let end = loop {
            let step = at.state.advance(&mut run, spec).map_err(|error| saver.with_newest(error))?;
            match step {
                PathStep::Running => {}
                PathStep::Point(point) => {
                    let losses = self.losses(&point.w)?;
                    let certificate = Certificate::new(point.primal, Some(point.dual), true);
                    let (cost, planes) = (run.cost(), run.planes());
                    at.points.push(Breakpoint::new(point.lambda, certificate, &cost, planes, losses));
                    at.w.extend(self.problem().to_file_layout(&point.w));
                    at.squares.extend(has_kernel.then_some(point.square));
                    if at.points.len() == 1 {
                        at.unsaid = point.unsaid;
                    }
                }
                PathStep::Ended(end) => break end,
            }
            saver.look(&mut run, &at);
        };
        let checkpoints = saver.last(&mut run, &at, end);
        if at.points.is_empty() {
            return Err(saver.without_point(no_start(end)));
        }
        let lambda_end = at.state.next.unwrap_or(spec.lambda_min);
        let (w, provenance) = self.rows_of(at.w);
        let mut model = PathModel::of_path(provenance, spec, lambda_end, end, &at.points, w);
        model.squares = at.squares;
        // Above the first breakpoint P is bounded by F and the gap; what F leaves unsaid grows there as this gap does.
        model.info.gap_at_zero = at.state.gap_at_zero() + at.unsaid;
        let summary = PathSummary { checkpoints, ..PathSummary::new(self, &model, at.points, run.cost()) };
        Ok((model, summary))
    }
}
