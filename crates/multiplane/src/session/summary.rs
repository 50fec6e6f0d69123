//! The final report of a run.

use multiplane_core::clock::ClockKind;
use multiplane_core::executor::WorkerFailures;
use multiplane_core::kernel::KernelCounts;
use multiplane_core::observe::{Certificate, EarlyStopping, Losses, RunCost};
use multiplane_core::oracle::SlackCount;
use multiplane_core::run::{Outcome, StopReason};
use multiplane_tasks::problem::Vocabulary;
use serde::Serialize;

use super::checkpointer::CheckpointReport;
use super::open::Session;
use super::start_point::UpdateStart;
use crate::file::LambdaChoice;

/// The final report of a run; the names are those of `train --json`.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Task, solver and sizes.
    #[serde(flatten)]
    pub subject: RunSubject,
    /// Strength of the regulariser.
    pub lambda: f64,
    /// How lambda was chosen, where it was; left out where it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lambda_choice: Option<LambdaChoice>,
    /// The bounds at the weights of the model.
    #[serde(flatten)]
    pub certificate: Certificate,
    /// The rounds that lowered the objective, if truths were completed; left out elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<Vec<Round>>,
    /// Where an update began; left out elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update: Option<UpdateStart>,
    /// The cost of the run.
    #[serde(flatten)]
    pub cost: RunCost,
    /// Time from reading the data to the end; under the work clock, the work of training and evaluation.
    pub wall_seconds: f64,
    /// Why the run ended.
    pub stop_reason: StopReason,
    /// The report of held-out data, if the run had patience: the weights are those with the lowest loss there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub early_stopping: Option<EarlyStopping>,
    /// Mean task losses on the training set and the test set.
    #[serde(flatten)]
    pub losses: Losses,
    /// Seed, threads and clock.
    #[serde(flatten)]
    pub machine: RunMachine,
    /// Planes kept, mean per example.
    pub planes: Option<f64>,
    /// The cost of the kernel; left out if there is none.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelCost>,
    /// The gap of the run, where the model was reduced to a budget of rows since and has another; left out elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap_before_reduction: Option<f64>,
    /// The cost of slack rescaling; left out if margins are rescaled.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub slack: Option<SlackCost>,
    /// The file of the model, if it was saved.
    pub model: Option<String>,
    /// The failures of workers that were made good; left out if there were none.
    #[serde(skip_serializing_if = "WorkerFailures::is_empty")]
    pub mishaps: WorkerFailures,
    /// Version of the program.
    pub version: &'static str,
    /// Figures that no report prints as they are.
    #[serde(skip)]
    pub aside: SummaryAside,
    /// The checkpoints that were written, if any were to be.
    #[serde(skip)]
    pub checkpoints: Option<CheckpointReport>,
}

/// A round that lowered the objective.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Round {
    /// The objective at its weights, with the truths completed there.
    pub objective: f64,
    /// The bounds of its convex problem.
    #[serde(flatten)]
    pub certificate: Certificate,
    /// Examples whose truth is another one at its weights.
    pub changed: usize,
}

/// The task, the solver and the sizes of a problem; the names are those of all reports.
#[derive(Clone, Debug, Serialize)]
pub struct RunSubject {
    /// Name of the task.
    pub task: String,
    /// Name of the solver.
    pub solver: String,
    /// Training examples.
    pub n: usize,
    /// Weights.
    pub d: usize,
}

/// Facts that a run's results may depend on besides data and parameters; the names are those of all reports.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RunMachine {
    /// Seed of all chance.
    pub seed: u64,
    /// Threads that training passes at one w, evaluation and prediction were divided among.
    pub threads: usize,
    /// The clock.
    pub clock: ClockKind,
}

impl RunMachine {
    /// Of a session.
    pub(crate) fn of(session: &Session) -> Self {
        RunMachine { seed: session.spec().seed, threads: session.threads(), clock: session.spec().clock }
    }
}

/// Figures by which hints are given.
#[derive(Clone, Copy, Debug)]
pub struct SummaryAside {
    /// The primal value of w = 0, if it is known without a call.
    pub primal_at_zero: Option<f64>,
    /// The factor of weights that are a multiple of the best iterate, as nothing was better than w = 0.
    pub multiple: Option<f64>,
    /// If all weights are 0, and no prior draws them elsewhere.
    pub is_zero: bool,
    /// How much of the gap may be rounding, if that is most of it.
    pub rounding: Option<f64>,
    /// The pass since which neither dual value nor gap have moved by more than a little, if that is long.
    pub still_since: Option<f64>,
    /// Seconds that task losses took, for records and at the end; no other figure holds them.
    pub loss_seconds: f64,
}

/// The cost of a kernel in a run, and the size of the model.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct KernelCost {
    /// Values of the kernel computed.
    pub kernel_evaluations: u64,
    /// Values read again from the rows kept.
    pub kernel_reread: u64,
    /// Rows that carry weight.
    pub support_vectors: usize,
    /// Rows of training: of the examples, or of their parts.
    pub kernel_rows: usize,
}

/// The cost of the slack-rescaled answers that a run has taken, those of evaluation among them. `oracle_calls` counts
/// answers.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SlackCost {
    /// Calls of the margin oracle; a list of labellings counts as one.
    pub margin_calls: u64,
    /// Answers that these made.
    pub slack_answers: u64,
    /// Answers proven to be the best.
    pub slack_exact: u64,
}

impl From<SlackCount> for SlackCost {
    fn from(SlackCount { answers, exact, margin_calls }: SlackCount) -> Self {
        SlackCost { margin_calls, slack_answers: answers, slack_exact: exact }
    }
}

impl KernelCost {
    /// Returns the cost of a model with this vocabulary.
    pub(crate) fn of(session: &Session, vocabulary: &Vocabulary) -> Option<Self> {
        let KernelCounts { evaluations: kernel_evaluations, reread } = session.regularizer.metric().counts()?;
        let support_vectors = vocabulary.support.as_ref()?.len();
        let kernel_rows = session.regularizer.metric().rows()?;
        Some(KernelCost { kernel_evaluations, kernel_reread: reread, support_vectors, kernel_rows })
    }
}

/// A primal value is above another if it is by more than this, relative: what rounding does is less.
const ABOVE: f64 = 1e-9;

impl Summary {
    /// Returns the primal value of w = 0, where that of the model is above it: of solvers that answer with the latest
    /// weights, and of models that were reduced.
    pub fn lower_at_zero(&self) -> Option<f64> {
        let primal = self.certificate.primal;
        self.aside.primal_at_zero.filter(|zero| primal.is_finite() && primal - zero > ABOVE * zero.abs().max(1.0))
    }

    /// Returns all oracle calls, those of evaluation among them, / n: what model and certificate cost.
    pub fn all_passes(&self) -> f64 {
        self.cost.all_calls() as f64 / self.subject.n as f64
    }

    /// Sums up what a run of `session` came to, but for the kernel's part.
    pub(super) fn new(session: &Session, outcome: &Outcome, losses: Losses, loss_seconds: f64) -> Summary {
        Summary {
            subject: RunSubject {
                task: session.problem().task().into(),
                solver: session.spec().solver.entry.name.into(),
                n: session.problem().blocks(),
                d: session.problem().dim(),
            },
            lambda: session.lambda(),
            lambda_choice: session.choice.clone(),
            certificate: outcome.certificate,
            rounds: None,
            update: None,
            cost: outcome.cost,
            wall_seconds: session.wall_seconds(&outcome.cost),
            stop_reason: outcome.stop_reason,
            early_stopping: outcome.early_stopping,
            losses,
            machine: RunMachine::of(session),
            planes: outcome.progress.planes,
            kernel: None,
            gap_before_reduction: None,
            slack: session.problem().oracles().is_slack_rescaled().then(|| SlackCost::from(outcome.slack)),
            model: None,
            mishaps: session.pool_stats.failures(),
            version: env!("CARGO_PKG_VERSION"),
            aside: SummaryAside {
                primal_at_zero: outcome.primal_at_zero,
                multiple: outcome.multiple,
                is_zero: session.regularizer.prior().is_none() && outcome.w.iter().all(|weight| *weight == 0.0),
                rounding: outcome.rounding,
                still_since: outcome.still_since,
                loss_seconds,
            },
            checkpoints: None,
        }
    }
}
