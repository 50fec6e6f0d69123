//! The interface of a pool's workers, and the numbers that steer pools. None of these changes a bit of a result.

use super::item::{BatchItem, Reply, Version};
use crate::oracle::OracleError;

/// Weights as they were published.
#[derive(Clone, Debug, Default)]
pub struct PublishedWeights {
    /// Their number.
    pub version: Version,
    /// The weights, `[d]`.
    pub w: Vec<f64>,
}

/// A question in the hands of a worker.
#[derive(Clone, Debug)]
pub struct Job {
    /// The question, and the place for its answer.
    pub item: BatchItem,
    /// The outcome, once it is known. An oracle's refusal is final; a worker that breaks down leaves `None`.
    pub result: Option<Result<(), OracleError>>,
    pub(super) slot: usize,
    /// Number of workers that were lost on it.
    pub(super) losses: u32,
}

/// How a worker breaks down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The reason in words.
    pub reason: String,
    /// The worker was lost before these questions: they are not to blame, and the loss is counted elsewhere.
    pub before: bool,
    /// The one question that it was lost on, if that is known.
    pub block: Option<usize>,
}

impl Lost {
    /// Lost with these questions in hand.
    pub fn now(reason: impl Into<String>) -> Self {
        Lost { reason: reason.into(), before: false, block: None }
    }
}

/// How many questions a worker wants, and which.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HandOut {
    /// Most questions of a batch.
    pub most: usize,
    /// Seconds of work in a batch, if it is made no larger than that.
    pub seconds: Option<f64>,
    /// Most batches at a time; more than one keep a worker elsewhere busy while its answers travel.
    pub batches: usize,
    /// The worker may be given a question on which another one was lost.
    pub suspects: bool,
}

impl HandOut {
    /// One batch of so many questions at a time.
    pub fn of(most: usize) -> Self {
        HandOut { most, seconds: None, batches: 1, suspects: true }
    }

    /// One batch of so many seconds at a time.
    pub fn lasting(seconds: f64) -> Self {
        HandOut { seconds: Some(seconds), ..HandOut::of(LARGEST_BATCH) }
    }

    /// Returns the number of questions in a batch if a call takes `call` seconds, as far as that is known.
    pub(super) fn size(&self, call: Option<f64>) -> usize {
        let Some(seconds) = self.seconds else { return self.most.max(1) };
        call.map_or(1, |call| ((seconds / call.max(1e-9)) as usize).clamp(1, self.most.max(1)))
    }
}

/// A worker of a pool: an oracle in this process, or a hold on one elsewhere.
pub trait Worker: Send + 'static {
    /// Returns what the worker wants.
    fn hand_out(&self) -> HandOut;

    /// Takes a batch on before [`answer`](Worker::answer) is called with it. A worker that wants several batches sends
    /// it out and does not wait; what goes wrong is said by `answer`.
    fn begin(&mut self, _weights: &PublishedWeights, _jobs: &[Job]) {}

    /// Answers a batch, in the order in which batches were begun, and returns the version of the weights of the
    /// answers.
    ///
    /// # Errors
    ///
    /// The worker died, hangs or talks nonsense. Questions without a result are asked again.
    fn answer(&mut self, weights: &PublishedWeights, wanted: Reply, jobs: &mut [Job]) -> Result<Version, Lost>;

    /// Starts a lost worker again.
    ///
    /// # Errors
    ///
    /// The worker cannot be started again, which is the default.
    fn restart(&mut self, lost: Lost) -> Result<(), Lost> {
        Err(lost)
    }

    /// Returns if the asking thread, whose worker this is, should go on waiting for others. Called several times a
    /// second.
    fn goes_on_waiting(&mut self) -> bool {
        true
    }
}

/// A question is given up once this many workers were lost on it: it is likely to be the reason.
pub(super) const MOST_LOSSES: u32 = 3;

/// Weight of the newest call in the running mean of call times.
pub(super) const NEWEST_SHARE: f64 = 0.2;

/// Number of times a worker may be started again in a row, if the user does not say.
pub const RESTARTS: usize = 3;

/// Number of answers after which a worker has earned all its restarts back.
pub(super) const PROVEN: usize = 100;

/// Shortest call, in seconds, that is worth another worker.
pub const WORTH_A_WORKER: f64 = 1e-4;

/// Seconds that every worker must have worked before another one is spawned.
pub(super) const PROBATION_SECONDS: f64 = 0.1;

/// Most questions in a batch whose size depends on the time of calls.
pub(super) const LARGEST_BATCH: usize = 64;

/// Seconds of work in a batch for a worker on a thread: much more than a lock takes, and short enough to be fair.
pub(super) const THREAD_SECONDS: f64 = 2e-4;

/// Seconds of work in a batch for a worker in another process: much more than a message takes.
pub const MESSAGE_SECONDS: f64 = 2e-3;
