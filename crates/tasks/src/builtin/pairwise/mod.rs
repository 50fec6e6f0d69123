//! What the tasks on nodes and edges have in common, whatever says what labels score: labellings with the costs of their
//! truth, the part of a graph that a question is about, engines, prices, losses, warnings, and plain code for `verify`.

mod engines;
mod labelling;
mod loss;
mod measure;
mod part;
mod plain;
mod planes;
mod prices;
mod reading;
mod way;

#[cfg(test)]
pub(super) mod testing;

pub(super) use engines::{Effort, Engines, Plan, quality};
pub(super) use labelling::Judge;
pub use labelling::{Labelling, UNLABELLED};
pub(super) use loss::NodeLoss;
pub(super) use measure::WeightedAccuracy;
pub(super) use part::{Part, PartEdge};
pub(super) use plain::{Plain, PlainScores};
pub(super) use planes::{add_errors, push_filled};
pub(super) use prices::{Sizes, of_planes, of_way};
pub(super) use reading::{Misfit, bare, check_use_of_weights, check_weights, misfit, repeated};
pub(super) use way::Way;
