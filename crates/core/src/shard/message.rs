//! The messages between a coordinator and its shards.

use serde::{Deserialize, Serialize};

use super::master::ShardCut;
use crate::rounding::{PhiError, Rounded};
use crate::run::RunError;

/// Most shards: bounds on rounding count so many additions.
pub const MOST_SHARDS: usize = 4096;

/// Why a shard cannot answer.
#[derive(Debug, thiserror::Error)]
pub enum ShardError {
    /// The oracle failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The request does not fit.
    #[error("{0}")]
    Misfit(String),
}

/// The task in a [`ShardRequest`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum ShardOrder {
    /// Improve the local model, whose prior mean comes with the request: by the calls of a part of an exact pass and
    /// passes over the planes kept, or by these alone if `parts` is 0.
    Work {
        /// The damping sigma, greater than 0.
        damping: f64,
        /// Parts that an exact pass is divided into.
        parts: u32,
    },
    /// Sum the largest scores of the planes kept, at the weights that come with the request.
    Floor,
    /// Call the oracle for every example, at the weights that come with the request.
    Evaluate,
}

/// A message of the coordinator to a shard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShardRequest {
    /// A prior mean, or weights (`[d]`).
    pub vector: Vec<f64>,
    /// The task.
    pub order: ShardOrder,
}

/// The hinges of a shard's examples at some weights.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShardEvaluation {
    /// The sum of the hinges.
    pub hinges: Rounded,
    /// If the oracle vouches for all of them.
    pub proven: bool,
    /// How far any sum of planes that the shard has sent may be from the exact one.
    pub error: PhiError,
}

/// The content of a [`ShardAnswer`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ShardFound {
    /// To [`ShardOrder::Work`]: the sum of the planes of the shard's examples.
    Cut(ShardCut),
    /// To [`ShardOrder::Floor`].
    Floor(f64),
    /// To [`ShardOrder::Evaluate`].
    Evaluation(ShardEvaluation),
}

/// A message of a shard to the coordinator. All sums are means over the shard's own examples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShardAnswer {
    /// The result.
    pub found: ShardFound,
    /// The gaps of the examples when the oracle was last asked, in sum; infinite before all were.
    pub gap: f64,
    /// Oracle calls of this answer.
    pub calls: u64,
}
