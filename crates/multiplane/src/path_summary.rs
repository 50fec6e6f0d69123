//! What a path or grid reports: its breakpoints and what they took.

use multiplane_core::clock::ClockKind;
use multiplane_core::run::{Losses, Outcome, Point, Spending};
use serde::{Deserialize, Serialize};

use crate::checkpointer::CheckpointReport;
use crate::cross_validation::CrossValidation;
use crate::path::PathEnd;
use crate::path_model::{PathKind, PathModel};
use crate::train::Session;

/// A breakpoint of a path, or a point of a grid. Counts and seconds are those of the whole run up to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Breakpoint {
    /// Strength of the regulariser.
    pub lambda: f64,
    /// `P(w)`.
    pub primal: f64,
    /// The dual value that goes with it.
    pub dual: Option<f64>,
    /// `primal - dual`.
    pub gap: Option<f64>,
    /// Whether the gap is proven.
    pub certified: bool,
    /// Oracle calls / n.
    pub passes: f64,
    /// Training calls of the oracle.
    pub oracle_calls: u64,
    /// Training seconds.
    pub seconds: f64,
    /// Planes kept, mean per example.
    pub planes: Option<f64>,
    /// Mean task loss on the training set.
    pub train_loss: Option<f64>,
    /// Mean task loss on the test set.
    pub test_loss: Option<f64>,
}

impl Breakpoint {
    /// Of a point of a path, for `blocks` examples.
    pub(crate) fn of_point(point: &Point, losses: Losses, spending: &Spending, blocks: usize) -> Self {
        Breakpoint {
            lambda: point.lambda,
            primal: point.primal,
            dual: Some(point.dual),
            gap: Some(point.gap()),
            certified: true,
            passes: spending.counts.oracle_calls as f64 / blocks as f64,
            oracle_calls: spending.counts.oracle_calls,
            seconds: spending.train_seconds,
            planes: spending.planes,
            train_loss: losses.train,
            test_loss: losses.test,
        }
    }

    /// Of the outcome of a run at one lambda.
    pub(crate) fn of_outcome(lambda: f64, outcome: &Outcome, losses: Losses, blocks: usize) -> Self {
        Breakpoint {
            lambda,
            primal: outcome.primal,
            dual: outcome.dual,
            gap: outcome.gap,
            certified: outcome.certified,
            passes: outcome.counts.oracle_calls as f64 / blocks as f64,
            oracle_calls: outcome.counts.oracle_calls,
            seconds: outcome.train_seconds,
            planes: outcome.progress.planes,
            train_loss: losses.train,
            test_loss: losses.test,
        }
    }
}

/// The final report of a path or grid; the names are those of `path --json`.
#[derive(Clone, Debug, Serialize)]
pub struct PathSummary {
    /// Path or grid.
    pub kind: PathKind,
    /// Name of the task.
    pub task: String,
    /// Name of the solver.
    pub solver: String,
    /// Training examples.
    pub n: usize,
    /// Weights.
    pub d: usize,
    /// How far the primal value may be from the optimum.
    pub eps: Option<f64>,
    /// Share of eps to which breakpoints are optimised.
    pub kappa: Option<f64>,
    /// The smallest lambda asked for.
    pub lambda_min: f64,
    /// The smallest lambda that is answered for.
    pub lambda_end: f64,
    /// The breakpoints, lambda falling.
    pub breakpoints: Vec<Breakpoint>,
    /// Whether every gap is proven.
    pub certified: bool,
    /// Training calls of the oracle, those of checks that led on among them.
    pub oracle_calls: u64,
    /// Calls of checks that said "not yet", and of evaluation.
    pub evaluation_calls: u64,
    /// Steps on cached planes.
    pub cached_steps: u64,
    /// Oracle calls / n.
    pub passes: f64,
    /// Time on the training clock.
    pub train_seconds: f64,
    /// Of these, inside the oracle.
    pub oracle_seconds: f64,
    /// Time from reading the data to the end; under the work clock, work.
    pub wall_seconds: f64,
    /// Why it ended.
    pub stop_reason: PathEnd,
    /// Cross-validated losses, where they were asked for.
    pub cross_validation: Option<CrossValidation>,
    /// Seed of all chance.
    pub seed: u64,
    /// Threads.
    pub threads: usize,
    /// The clock.
    pub clock: ClockKind,
    /// Where the model was saved.
    pub model: Option<String>,
    /// Version of the program.
    pub version: &'static str,
    /// What the checkpoints came to, where there were to be any.
    #[serde(skip)]
    pub checkpoints: Option<CheckpointReport>,
}

impl PathSummary {
    pub(crate) fn new(session: &Session, model: &PathModel, breakpoints: Vec<Breakpoint>, spending: &Spending) -> Self {
        let spec = session.spec();
        PathSummary {
            kind: model.info.kind,
            task: model.info.task.clone(),
            solver: spec.solver.name.clone(),
            n: model.info.n,
            d: model.dim(),
            eps: model.info.eps,
            kappa: model.info.kappa,
            lambda_min: model.info.lambda_min,
            lambda_end: model.info.lambda_end,
            certified: breakpoints.iter().all(|point| point.certified),
            breakpoints,
            oracle_calls: spending.counts.oracle_calls,
            evaluation_calls: spending.evaluation_calls,
            cached_steps: spending.counts.cached_steps,
            passes: spending.counts.oracle_calls as f64 / model.info.n as f64,
            train_seconds: spending.train_seconds,
            oracle_seconds: spending.counts.oracle_seconds,
            wall_seconds: match spec.clock {
                ClockKind::Wall => session.seconds(),
                ClockKind::Work => spending.train_seconds,
            },
            stop_reason: model.info.stop_reason,
            cross_validation: None,
            seed: spec.seed,
            threads: spec.threads,
            clock: spec.clock,
            model: None,
            version: env!("CARGO_PKG_VERSION"),
            checkpoints: None,
        }
    }
}
