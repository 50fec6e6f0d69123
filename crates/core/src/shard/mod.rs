//! Training on examples that lie in several places ([ADR 0073](../../../../docs/adr/0073-sharded-training.md)).
//!
//! Every [`Shard`] has the planes and masses of its own examples, and solves a local model of the dual. The
//! [`Coordinator`] has the sum of each shard's planes, and combines their moves by the largest rise of F over one step
//! length for each shard. Between the two only vectors of the size of w travel.
//!
//! With phi the sum of all planes and phi^k that of shard k, the local model at damping sigma is the problem of this
//! crate on the shard's examples, of strength lambda / sigma and with the prior mean `v + sigma phi^k / lambda`, v the
//! free weights: at phi^k its weights are those of the whole, and they move sigma times as far (Ma et al. 2015, CoCoA+,
//! Eq. 9). A shard's planes carry 1/n of its own n; its *share* is its part of the total weight, by which the
//! coordinator multiplies them. In the units of the shard lambda is divided by it.

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
