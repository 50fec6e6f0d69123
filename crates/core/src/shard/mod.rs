//! Training on examples that lie in several places ([ADR 0073](../../../../docs/adr/0073-sharded-training.md)).
//!
//! Every [`Shard`] has the planes and masses of its own examples, and solves a local model. The [`Coordinator`] has
//! the weights that the shards agree on, and the sums of planes that they send, by which it knows F. Between the two
//! only vectors of the size of w travel.
//!
//! The local model at damping sigma is the problem of this crate on the shard's examples, of strength lambda / sigma
//! and with a prior mean that the coordinator sends. A shard's planes carry 1/n of its own n; its *share* is its part
//! of the total weight, by which the coordinator multiplies them. In the units of the shard lambda is divided by it.

mod coordinator;
mod local;
mod master;
mod message;
#[cfg(test)]
mod tests;

pub use coordinator::{Coordinator, Demand, RoundReport, Sharding, ShardingError};
pub use local::Shard;
pub use master::ShardCut;
pub use message::{MOST_SHARDS, ShardAnswer, ShardError, ShardEvaluation, ShardFound, ShardOrder, ShardRequest};
