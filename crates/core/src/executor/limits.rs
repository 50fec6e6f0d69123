//! The numbers that steer worker pools. None of them changes a bit of a result.

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
