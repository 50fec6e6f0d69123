//! What a caller adds to a run.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use multiplane_core::observe::Observer;

use super::checkpointer::Checkpointer;
use crate::file::Checkpoint;

/// What a caller adds to a run; nothing here changes its result.
#[derive(Default)]
pub struct RunOptions {
    /// What watches the run.
    pub observers: Vec<Box<dyn Observer>>,
    /// Set it to stop the run.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// Set it to stop at once, without another call of the oracle: what the run has come to is what was evaluated
    /// last.
    pub abort: Option<Arc<AtomicBool>>,
    /// Whether task losses are measured for every record.
    pub losses: bool,
    /// Writes checkpoints.
    pub checkpointer: Option<Checkpointer>,
    /// Where to go on from; it must be this run's.
    pub resume: Option<Checkpoint>,
}
