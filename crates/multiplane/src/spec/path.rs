//! What a regularisation path is to be, and why one ended.

use multiplane_core::parameter::{ParameterError, require};
use multiplane_core::run::StopReason;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text;

/// What a path is to be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PathSpec {
    /// How far the primal value may be from the optimum, anywhere on the path; absolute.
    #[serde(deserialize_with = "text::number")]
    #[schemars(schema_with = "text::number_schema")]
    pub eps: f64,
    /// The smallest lambda.
    #[serde(deserialize_with = "text::number")]
    #[schemars(schema_with = "text::number_schema")]
    pub lambda_min: f64,
    /// Breakpoints are optimised to a gap of `kappa eps`, 0 < kappa < 1. The nearer to 1, the more there are and the
    /// less work each is.
    #[serde(deserialize_with = "text::number")]
    #[schemars(schema_with = "text::number_schema")]
    pub kappa: f64,
}

impl Default for PathSpec {
    fn default() -> Self {
        PathSpec { eps: 0.1, lambda_min: 1e-5, kappa: 0.9 }
    }
}

impl PathSpec {
    /// Checks what the types cannot say.
    ///
    /// # Errors
    ///
    /// The first parameter that breaks a rule.
    pub fn validate(&self) -> Result<(), ParameterError> {
        for (name, value) in [("eps", self.eps), ("lambda_min", self.lambda_min)] {
            require(value.is_finite() && value > 0.0, name, value, "must be a number > 0")?;
        }
        let inside = self.kappa > 0.0 && self.kappa < 1.0;
        require(inside, "kappa", self.kappa, "must be greater than 0 and less than 1")
    }

    /// Returns the gap to which breakpoints are optimised.
    pub fn target(&self) -> f64 {
        self.kappa * self.eps
    }
}

/// Why a path or grid ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathEnd {
    /// It is complete.
    LambdaMin,
    /// The passes are spent.
    Passes,
    /// The oracle calls are spent.
    Calls,
    /// The seconds are spent.
    Seconds,
    /// It was asked to.
    Interrupt,
    /// Further weights would not fit into a file.
    Size,
}

impl From<StopReason> for PathEnd {
    fn from(reason: StopReason) -> Self {
        match reason {
            StopReason::Gap => PathEnd::LambdaMin,
            StopReason::Passes => PathEnd::Passes,
            StopReason::Calls => PathEnd::Calls,
            StopReason::Seconds => PathEnd::Seconds,
            StopReason::Interrupt => PathEnd::Interrupt,
        }
    }
}
