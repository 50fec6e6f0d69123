//! Parameters of LaSVM.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parameter::{ParameterError, require};

/// Parameters of LaSVM.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LaSvm {
    /// Examples that are asked about before each PROCESS step, drawn among those that the epoch has not processed yet; the
    /// one that violates most is processed. A call each. 1 is a random order.
    pub candidates: u32,
    /// REPROCESS steps after each PROCESS step that moved.
    pub reprocess: u32,
    /// Violations up to this are none, in units of the loss (tau). Halved after an epoch in which no example that was
    /// processed violated by more.
    pub tau: f64,
    /// Whether epochs end with REPROCESS steps until no example with weight violates by more than `tau`.
    pub finish: bool,
}

impl Default for LaSvm {
    fn default() -> Self {
        LaSvm { candidates: 50, reprocess: 1, tau: 0.001, finish: true }
    }
}

impl LaSvm {
    pub(super) fn check(&self) -> Result<(), ParameterError> {
        require(self.candidates >= 1, "candidates", self.candidates, "must be at least 1")?;
        require(self.tau.is_finite() && self.tau > 0.0, "tau", self.tau, "must be a finite number greater than 0")
    }
}
