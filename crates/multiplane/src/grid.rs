//! Grid search over lambda: a certified model at every point, each started from the one before it or from nothing.
//!
//! The rival of the path (Osokin et al. 2016, section 5): it answers for its own points only.

use multiplane_core::oracle::BoxedOracle;
use multiplane_core::rescale::WarmStart;
use multiplane_core::run::{GapTarget, Run, RunError, StopReason};
use multiplane_tasks::problem::MAX_DIM;
use serde_json::json;

use crate::error::Error;
use crate::path::PathEnd;
use crate::path_model::{PathKind, PathModel};
use crate::path_summary::{Breakpoint, PathSummary};
use crate::train::{Hooks, Session};

/// Which lambdas.
#[derive(Clone, Debug, PartialEq)]
pub enum GridPoints {
    /// These, in this order.
    List(Vec<f64>),
    /// So many, evenly in log(lambda), from `from` (where not given: from where a path would begin) down to `to`.
    Even {
        /// How many, at least 2.
        count: usize,
        /// The largest.
        from: Option<f64>,
        /// The smallest.
        to: f64,
    },
}

/// What a grid is to be.
#[derive(Clone, Debug, PartialEq)]
pub struct GridSpec {
    /// Which lambdas.
    pub points: GridPoints,
    /// The gap to which each is trained.
    pub gap: GapTarget,
    /// What of a point's state the next one starts from; `None` starts each from nothing.
    pub warm_start: Option<WarmStart>,
    /// The gap, absolute, to which w(phi) at the oracle's first answers is good where an even grid begins, as that of
    /// a path's first breakpoint.
    pub start_gap: f64,
}

impl GridSpec {
    /// The rule that these parameters break, if any.
    pub fn fault(&self) -> Option<String> {
        let unsound = |lambda: &f64| !(lambda.is_finite() && *lambda > 0.0);
        let sorted = match &self.points {
            GridPoints::List(list) if list.is_empty() => return Some("the grid has no points".into()),
            GridPoints::List(list) => list,
            GridPoints::Even { count, .. } if *count < 2 => {
                return Some(format!("a grid of {count} points: expected at least 2, or their lambdas"));
            }
            GridPoints::Even { from, to, .. } => &from.iter().chain([to]).copied().collect(),
        };
        if let Some(lambda) = sorted.iter().find(|lambda| unsound(lambda)) {
            return Some(format!("grid: lambda = {lambda}: must be a finite number > 0"));
        }
        let mut falling = sorted.clone();
        falling.sort_by(|a, b| b.total_cmp(a));
        if falling.windows(2).any(|pair| pair[0] == pair[1]) {
            return Some("grid: two points are the same".into());
        }
        let rises = falling != *sorted;
        if rises && matches!(self.points, GridPoints::Even { .. }) {
            return Some(format!("an even grid from {} down to {}: it would rise", sorted[0], sorted[1]));
        }
        (rises && self.warm_start == Some(WarmStart::KeepPrimal)).then(|| {
            "keep-primal: it needs a grid whose lambdas fall (masses would become negative); order them, or use \
             keep-dual"
                .into()
        })
    }
}

/// `count` numbers from `from` down to `to`, evenly in the logarithm; both ends exact.
fn even(count: usize, from: f64, to: f64) -> Vec<f64> {
    let step = |k: usize| match k {
        0 => from,
        _ if k + 1 == count => to,
        _ => from * (to / from).powf(k as f64 / (count - 1) as f64),
    };
    (0..count).map(step).collect()
}

impl Session {
    /// Trains at every point of a grid; lambda and gap of the specification play no part, its other stops hold for
    /// all points together. A point that they cut short is the last, with the gap that it reached.
    pub fn grid(&self, spec: &GridSpec, hooks: Hooks) -> Result<(PathModel, PathSummary), Error> {
        if let Some(fault) = spec.fault() {
            return Err(Error::Input(fault));
        }
        let target = Some(spec.gap).filter(|_| self.spec().solver_entry().is_ok_and(|entry| entry.has_dual));
        let mut run = self.prepare(1.0, target, hooks)?;
        if spec.warm_start.is_some() && !run.can_continue() {
            let name = &self.spec().solver.name;
            return Err(Error::input(format!("solver `{name}` cannot start warm: expected --warm-start none")));
        }
        let lambdas = match &spec.points {
            GridPoints::List(list) => list.clone(),
            GridPoints::Even { count, from, to } => even(*count, self.start(*from, *to, spec, &mut run)?, *to),
        };
        let dim = self.problem().dim();
        if lambdas.len().saturating_mul(dim) > MAX_DIM {
            return Err(Error::input(format!("a grid of {} points with {dim} weights: too large", lambdas.len())));
        }
        let mut end = PathEnd::LambdaMin;
        let mut rows: Vec<(Breakpoint, Vec<f64>)> = Vec::new();
        for (k, &lambda) in lambdas.iter().enumerate() {
            match spec.warm_start.filter(|_| k > 0) {
                Some(start) => {
                    run.continue_at(lambda, start);
                }
                None => run.continue_with(self.solver(lambda)?, lambda),
            }
            let outcome = run.to_end()?;
            let losses = self.losses(&outcome.w)?;
            rows.push((
                Breakpoint::of_outcome(lambda, &outcome, losses, self.problem().blocks()),
                self.problem().to_file_layout(&outcome.w),
            ));
            if outcome.stop_reason != StopReason::Gap {
                end = outcome.stop_reason.into();
                break;
            }
        }
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
        let model = PathModel::new(self, PathKind::Grid, outer, end, &points, w.concat());
        let summary = PathSummary::new(self, &model, points, &run.spending());
        Ok((model, summary))
    }

    /// Where an even grid begins.
    fn start(&self, from: Option<f64>, to: f64, spec: &GridSpec, run: &mut Run<BoxedOracle>) -> Result<f64, Error> {
        if let Some(from) = from {
            return Ok(from);
        }
        let start = run.start_path(spec.start_gap).map_err(|error| match error {
            RunError::Unsupported(reason) => Error::input(format!("{reason}; or give --lambda, where the grid begins")),
            other => other.into(),
        })?;
        match start {
            Some(point) if point.lambda > to => Ok(point.lambda),
            Some(point) => Err(Error::input(format!(
                "lambda-min = {to}: a path begins at lambda = {:.6}, expected a number below that",
                point.lambda
            ))),
            None => Err(Error::input("w = 0 is optimal at every lambda: there is nothing to search")),
        }
    }
}
