//! Orders: parameters, and a state that draws block after block.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::gaps::GapTable;
use crate::parameter::ParameterError;
use crate::rng::Rng;

/// Parameters of an order.
pub trait OrderConfig: Copy {
    /// Checks what the types cannot say.
    ///
    /// # Errors
    ///
    /// The first parameter that breaks a rule.
    fn validate(self) -> Result<(), ParameterError> {
        Ok(())
    }
}

/// The purpose of the visits of a pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Visiting {
    /// Calls of the oracle.
    Calls,
    /// Steps over the planes kept. A block can wait whose gap over them was below the threshold at its last visit.
    Planes {
        /// The threshold.
        wait_below: f64,
    },
}

/// The state of an order on n blocks: draws the blocks of one pass after the other. All draws come from the run's
/// generator, and a state that is saved and restored goes on with the same.
pub trait BlockVisits: Clone + Serialize + DeserializeOwned {
    /// The order's parameters.
    type Config: OrderConfig;

    /// If [`observe`](BlockVisits::observe) is to be told of calls.
    const ADAPTS: bool = false;

    /// If blocks can go unseen for so long that a pass that only measures gaps pays.
    const WANTS_GAP_PASSES: bool = false;

    /// Returns the state before the first pass over `blocks` blocks.
    fn new(config: Self::Config, blocks: usize) -> Self;

    /// Starts a pass. Blocks that wait are booked in `gaps`; an order that draws any block at any visit makes none
    /// wait.
    fn begin_pass(&mut self, _rng: &mut Rng, _gaps: &mut GapTable, _visiting: Visiting) {}

    /// Goes on with a pass of calls that passes over the planes kept have interrupted.
    fn resume_calls(&mut self) {}

    /// Returns the visits of the pass that has begun, where they are not n.
    fn length(&self) -> Option<usize> {
        None
    }

    /// Returns the next block of the pass, of `blocks`.
    fn next(&mut self, rng: &mut Rng, blocks: usize) -> usize;

    /// Returns the blocks that [`next`](BlockVisits::next) will return in the rest of the pass, as far as that is
    /// settled.
    fn settled(&self) -> &[u32] {
        &[]
    }

    /// Learns that a call of the oracle has brought `gaps` up to date for `block`; `curvature` is that of its corner,
    /// `|corner|^2 / lambda`.
    fn observe(&mut self, _block: usize, _gaps: &GapTable, _curvature: f64) {}

    /// Returns whether a restored state holds together, for `blocks` blocks.
    fn is_sound(&self, blocks: usize) -> bool;
}
