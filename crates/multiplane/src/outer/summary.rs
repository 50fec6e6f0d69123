//! The report of a path or grid: its breakpoints and their cost.

use multiplane_core::observe::RunCost;
use serde::Serialize;

use super::cross_validation::CrossValidation;
use crate::file::{Breakpoint, PathKind, PathModel};
use crate::session::{CheckpointReport, KernelCost, RunMachine, RunSubject, Session};
use crate::spec::PathEnd;

/// The final report of a path or grid; the names are those of `path --json`.
#[derive(Clone, Debug, Serialize)]
pub struct PathSummary {
    /// Path or grid.
    pub kind: PathKind,
    /// Task, solver and sizes.
    #[serde(flatten)]
    pub subject: RunSubject,
    /// How far the primal value may be from the optimum; none where that is relative.
    pub eps: Option<f64>,
    /// The same as a share of the primal value; left out where it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relative_eps: Option<f64>,
    /// Share of eps to which breakpoints are optimised.
    pub kappa: Option<f64>,
    /// The smallest lambda asked for.
    pub lambda_min: f64,
    /// The smallest lambda that is answered for.
    pub lambda_end: f64,
    /// The breakpoints, lambda falling.
    pub breakpoints: Vec<Breakpoint>,
    /// If every gap is proven.
    pub certified: bool,
    /// The cost of all of it.
    #[serde(flatten)]
    pub cost: RunCost,
    /// Time from reading the data to the end; under the work clock, work.
    pub wall_seconds: f64,
    /// Why it ended.
    pub stop_reason: PathEnd,
    /// The cost of the kernel; left out if there is none.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelCost>,
    /// Cross-validated losses, where they were asked for.
    pub cross_validation: Option<CrossValidation>,
    /// Seed, threads and clock.
    #[serde(flatten)]
    pub machine: RunMachine,
    /// The file of the model, if it was saved.
    pub model: Option<String>,
    /// Version of the program.
    pub version: &'static str,
    /// The checkpoints written, if there were to be any.
    #[serde(skip)]
    pub checkpoints: Option<CheckpointReport>,
}

impl PathSummary {
    pub(crate) fn new(session: &Session, model: &PathModel, breakpoints: Vec<Breakpoint>, cost: RunCost) -> Self {
        PathSummary {
            kind: model.info.kind,
            subject: RunSubject {
                task: model.info.provenance.task.clone(),
                solver: session.spec().solver.entry.name.into(),
                n: model.info.provenance.n,
                d: session.problem().dim(),
            },
            eps: model.info.eps,
            relative_eps: model.info.relative_eps,
            kappa: model.info.kappa,
            lambda_min: model.info.lambda_min,
            lambda_end: model.info.lambda_end,
            certified: breakpoints.iter().all(|point| point.certified),
            breakpoints,
            cost: RunCost { iterations: None, ..cost },
            wall_seconds: session.wall_seconds(&cost),
            stop_reason: model.info.stop_reason,
            kernel: KernelCost::of(session, &model.info.provenance.vocabulary),
            cross_validation: None,
            machine: RunMachine::of(session),
            model: None,
            version: env!("CARGO_PKG_VERSION"),
            checkpoints: None,
        }
    }
}
