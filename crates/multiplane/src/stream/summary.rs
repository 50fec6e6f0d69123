//! What learning from a stream comes to: records on the way, and the final report.

use multiplane_core::clock::ClockKind;
use multiplane_core::observe::{Certificate, RunCost};
use multiplane_core::solver::Details;
use serde::Serialize;

use super::learner::{Learner, Window};

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
    /// Null: a stream does not tell how much of it there is.
    pub pass: Option<f64>,
    /// Steps made.
    pub iterations: u64,
    /// None are made.
    pub approximate_passes: u64,
    /// Calls of the oracle.
    pub oracle_calls: u64,
    /// None are made.
    pub cached_steps: u64,
    /// Seconds of predicting and learning; waiting for the stream is not in them.
    pub seconds: f64,
    /// Of these, inside the oracle.
    pub oracle_seconds: f64,
    /// Null.
    #[serde(flatten)]
    pub certificate: Certificate,
    /// Null: no planes are kept.
    pub planes: Option<f64>,
    /// Null: what was learned is gone.
    pub train_loss: Option<f64>,
    /// Mean loss on the test data, where this window was one to look at them.
    pub test_loss: Option<f64>,
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
    pub(super) fn new(learner: &Learner, window: Window, test_loss: Option<f64>) -> Self {
        let counts = learner.counts();
        StreamRecord {
            pass: None,
            iterations: learner.steps(),
            approximate_passes: 0,
            oracle_calls: counts.oracle_calls,
            cached_steps: 0,
            seconds: learner.seconds(),
            oracle_seconds: counts.oracle_seconds,
            certificate: nothing_proven(),
            planes: None,
            train_loss: None,
            test_loss,
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
    /// Name of the task.
    pub task: String,
    /// Name of the solver.
    pub solver: String,
    /// Examples learned from.
    pub n: u64,
    /// Weights, of the model.
    pub d: usize,
    /// Strength of the regulariser; null where the solver does not go by it.
    pub lambda: Option<f64>,
    /// Null.
    #[serde(flatten)]
    pub certificate: Certificate,
    /// What it took.
    #[serde(flatten)]
    pub cost: RunCost,
    /// Seconds from the start to the end, waiting for the stream included; under the work clock those of training.
    pub wall_seconds: f64,
    /// Why it ended.
    pub stop_reason: StreamReason,
    /// Null: what was learned is gone.
    pub train_loss: Option<f64>,
    /// Mean loss of the model on the test data, where there are any.
    pub test_loss: Option<f64>,
    /// Mean loss of predictions, each made before its example was learned.
    pub progressive_loss: Option<f64>,
    /// Windows.
    pub windows: u64,
    /// Examples per second of `wall_seconds`.
    pub rows_per_second: f64,
    /// Models written on the way, the last one included.
    pub snapshots: u64,
    /// Seed of all chance.
    pub seed: u64,
    /// Threads that learn.
    pub threads: usize,
    /// The clock.
    pub clock: ClockKind,
    /// Null: no planes are kept.
    pub planes: Option<f64>,
    /// Where the model was saved.
    pub model: Option<String>,
    /// Version of the program.
    pub version: &'static str,
}

impl StreamSummary {
    /// Sums up what a learner has come to that is given its windows by hand.
    pub fn of(learner: &Learner) -> Self {
        StreamSummary::new(learner, learner.seconds(), StreamReason::Passes, None)
    }

    pub(super) fn new(learner: &Learner, wall: f64, stop_reason: StreamReason, test_loss: Option<f64>) -> Self {
        let (spec, counts, n) = (learner.spec(), *learner.counts(), learner.examples());
        let wall_seconds = if spec.clock == ClockKind::Work { learner.seconds() } else { wall };
        let cost = RunCost {
            oracle_calls: counts.oracle_calls,
            evaluation_calls: 0,
            cached_steps: 0,
            passes: if n > 0 { 1.0 } else { 0.0 },
            iterations: Some(learner.steps()),
            train_seconds: learner.seconds(),
            oracle_seconds: counts.oracle_seconds,
            evaluation_seconds: 0.0,
        };
        StreamSummary {
            task: spec.task.name.clone(),
            solver: spec.solver.entry.name.into(),
            n,
            d: learner.dim(),
            lambda: learner.lambda(),
            certificate: nothing_proven(),
            cost,
            wall_seconds,
            stop_reason,
            train_loss: None,
            test_loss,
            progressive_loss: learner.progressive_loss(),
            windows: learner.windows(),
            rows_per_second: n as f64 / wall_seconds.max(f64::MIN_POSITIVE),
            snapshots: 0,
            seed: spec.seed,
            threads: 1,
            clock: spec.clock,
            planes: None,
            model: None,
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}
