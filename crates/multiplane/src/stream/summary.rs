//! The reports of learning from a stream: records on the way, and the final report.

use multiplane_core::clock::ClockKind;
use multiplane_core::observe::{Certificate, Losses, Record, RunCost};
use multiplane_core::solver::Details;
use serde::Serialize;

use super::learner::{Learner, Window};
use crate::session::{RunMachine, RunSubject};

/// Why learning from a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StreamReason {
    /// The stream has ended.
    End,
    /// No stop was looked at: a learner that is given its windows by hand.
    Passes,
    /// The oracle calls are spent.
    Calls,
    /// The seconds are spent.
    Seconds,
    /// The loss on the test data has not fallen for as many looks as were to be waited for.
    Patience,
    /// It was asked to stop.
    Interrupt,
    /// The stream is faulty from there on.
    Fault,
}

/// A line of the record: one for each window. Bounds are null, as nothing is proven of a stream.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StreamRecord {
    /// The figures that records of runs have. The pass is null: a stream does not tell how much of it there is. Losses
    /// are those on the test data, where this window was one to look at them; what was learned is gone.
    #[serde(flatten)]
    pub common: Record,
    /// Examples so far.
    pub examples: u64,
    /// Windows so far.
    pub windows: u64,
    /// Weights now.
    pub d: usize,
    /// Mean loss of this window's predictions, made before it was learned.
    pub window_loss: f64,
    /// The same of all examples so far.
    pub progressive_loss: Option<f64>,
    /// The solver's report of its last step.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
}

impl StreamRecord {
    pub(super) fn new(learner: &Learner, window: Window, test: Option<f64>) -> Self {
        let counts = learner.counts();
        let common = Record {
            pass: f64::NAN,
            iterations: learner.steps(),
            approximate_passes: 0,
            oracle_calls: counts.oracle_calls,
            cached_steps: 0,
            seconds: learner.seconds(),
            oracle_seconds: counts.oracle_seconds,
            split: None,
            certificate: nothing_proven(),
            forecast: None,
            planes: None,
            losses: Losses { train: None, test },
            early_stopping: None,
            answer: None,
            details: None,
            examples_drawn: None,
            kernel: None,
        };
        StreamRecord {
            common,
            examples: learner.examples(),
            windows: learner.windows(),
            d: learner.dim(),
            window_loss: window.loss,
            progressive_loss: learner.progressive_loss(),
            details: learner.details().cloned(),
        }
    }
}

fn nothing_proven() -> Certificate {
    Certificate::new(f64::INFINITY, None, false)
}

/// The final report; names that `train --json` has mean what they mean there.
#[derive(Clone, Debug, Serialize)]
pub struct StreamSummary {
    /// Task, solver, examples learned from and weights of the model.
    #[serde(flatten)]
    pub subject: RunSubject,
    /// Strength of the regulariser; null where the solver does not go by it.
    pub lambda: Option<f64>,
    /// Null.
    #[serde(flatten)]
    pub certificate: Certificate,
    /// Its cost.
    #[serde(flatten)]
    pub cost: RunCost,
    /// Seconds from the start to the end, waiting for the stream included; under the work clock those of training.
    pub wall_seconds: f64,
    /// Why it ended.
    pub stop_reason: StreamReason,
    /// Mean loss of the model on the test data, where there are any; what was learned is gone.
    #[serde(flatten)]
    pub losses: Losses,
    /// Mean loss of predictions, each made before its example was learned.
    pub progressive_loss: Option<f64>,
    /// Windows.
    pub windows: u64,
    /// Examples per second of `wall_seconds`.
    pub rows_per_second: f64,
    /// Models written on the way, the last one included.
    pub snapshots: u64,
    /// Seed, threads that learn, and clock.
    #[serde(flatten)]
    pub machine: RunMachine,
    /// Null: no planes are kept.
    pub planes: Option<f64>,
    /// The file of the model, if it was saved.
    pub model: Option<String>,
    /// Version of the program.
    pub version: &'static str,
}

impl StreamSummary {
    /// Sums up what a learner has come to that is given its windows by hand.
    pub fn of(learner: &Learner) -> Self {
        StreamSummary::new(learner, learner.seconds(), StreamReason::Passes, None)
    }

    pub(super) fn new(learner: &Learner, wall: f64, stop_reason: StreamReason, test: Option<f64>) -> Self {
        let (spec, counts, n) = (learner.spec(), *learner.counts(), learner.examples());
        let wall_seconds = if spec.clock == ClockKind::Work { learner.seconds() } else { wall };
        StreamSummary {
            subject: RunSubject {
                task: spec.task.name.clone(),
                solver: spec.solver.entry.name.into(),
                n: n as usize,
                d: learner.dim(),
            },
            lambda: learner.lambda(),
            certificate: nothing_proven(),
            cost: RunCost {
                oracle_calls: counts.oracle_calls,
                passes: if n > 0 { 1.0 } else { 0.0 },
                iterations: Some(learner.steps()),
                train_seconds: learner.seconds(),
                oracle_seconds: counts.oracle_seconds,
                ..RunCost::default()
            },
            wall_seconds,
            stop_reason,
            losses: Losses { train: None, test },
            progressive_loss: learner.progressive_loss(),
            windows: learner.windows(),
            rows_per_second: n as f64 / wall_seconds.max(f64::MIN_POSITIVE),
            snapshots: 0,
            machine: RunMachine { seed: spec.seed, threads: 1, clock: spec.clock },
            planes: None,
            model: None,
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}
