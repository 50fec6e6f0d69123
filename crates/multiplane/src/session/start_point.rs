//! Where a run on changed data begins, and what has changed.

use multiplane_core::block_point::BlockPoint;
use multiplane_core::observe::Certificate;
use multiplane_core::run::EvaluatedWeights;
use serde::Serialize;

/// The changes of the data, and where the run begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Changes {
    /// Examples that were there before and were not relabelled.
    pub kept: usize,
    /// Of these, those that count for more or less than the others do now.
    pub reweighted: usize,
    /// Examples that begin at their truths: new ones, or ones whose truth has changed.
    pub added: usize,
    /// Examples of before without a counterpart.
    pub removed: usize,
}

/// The bounds of a changed problem before the first step, with the changes that led there.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct UpdateStart {
    /// The changes.
    #[serde(flatten)]
    pub changes: Changes,
    /// The bounds. The primal value is infinite if it took a call for every example.
    #[serde(flatten)]
    pub certificate: Certificate,
}

/// The point at which a run on changed data begins.
pub struct StartPoint {
    pub(crate) changes: Changes,
    pub(crate) blocks: Box<dyn FnMut(usize) -> BlockPoint>,
    pub(crate) best: Option<EvaluatedWeights>,
}
