//! Oracle calls at one w in batches, answered by an [`Executor`]: for passes, batch steps and evaluation.
//!
//! Weights are published, blocks submitted, and planes or their scores come back, each with its place. So threads can
//! answer, or processes, or machines. Results are computed from the answers in the order of the blocks, so their bits
//! do not depend on who answered. A [`WorkerPool`] of [`Worker`]s is the executor of threads and processes: it hands
//! jobs out, asks again what a lost worker held, and starts the worker again. A worker elsewhere is a [`Connection`]
//! over a [`Transport`].

mod item;
mod pool;
mod queue;
mod sequential;
mod stats;
mod threads;
mod transport;
mod worker;

pub use item::{
    BatchItem, BatchQuestion, Completed, Executor, Hinges, Reply, Unanswered, Version, hinge, hinge_of,
    score_and_terms, sum_of_hinges,
};
pub use pool::{PoolSize, Spawn, WorkerPool};
pub use sequential::Sequential;
pub use stats::{PoolStats, WorkerFailures};
pub use threads::{OracleWorker, Threads};
pub use transport::{Connection, Patience, Start, Transport};
pub use worker::{HandOut, Job, Lost, MESSAGE_SECONDS, PublishedWeights, RESTARTS, WORTH_A_WORKER, Worker};
