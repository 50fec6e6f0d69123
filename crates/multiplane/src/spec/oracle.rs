//! Wrappers around the oracle.

use multiplane_core::parameter::{ParameterError, require};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longest delay of an oracle call, in microseconds.
const MAX_DELAY_US: f64 = 3.6e9;

/// Wrappers around the oracle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OracleSpec {
    /// Makes every call of the oracle, those of evaluation too, cost that many microseconds more: slept on the wall clock, counted
    /// on the work clock.
    pub delay_us: f64,
}

impl OracleSpec {
    /// Checks what the types cannot say.
    pub(super) fn validate(&self) -> Result<(), ParameterError> {
        let holds = (0.0..=MAX_DELAY_US).contains(&self.delay_us);
        require(holds, "delay_us", self.delay_us, &format!("must be between 0 and {MAX_DELAY_US} (an hour)"))
    }
}
