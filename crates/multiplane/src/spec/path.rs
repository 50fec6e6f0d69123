//! A regularisation path, and the reasons why one ended.

use multiplane_core::parameter::{ParameterError, require};
use multiplane_core::path::Beginning;
use multiplane_core::run::{GapTarget, StopReason};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::lambda::Lambda;
use super::text;

/// What a path is to be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PathSpec {
    /// How far the primal value may be from the optimum, anywhere on the path: absolute, or in percent of the primal
    /// value there, as in `5%`.
    #[serde(with = "text::eps")]
    #[schemars(with = "Value")]
    pub eps: GapTarget,
    /// The smallest lambda.
    #[serde(deserialize_with = "text::number")]
    #[schemars(schema_with = "text::number_schema")]
    pub lambda_min: f64,
    /// Breakpoints are optimised to a gap of `kappa eps`, 0 < kappa < 1. The nearer to 1, the more there are and the
    /// less work each is.
    #[serde(deserialize_with = "text::number")]
    #[schemars(schema_with = "text::number_schema")]
    pub kappa: f64,
    /// Where the path begins: a number, `1/n` or `c:X`; where not given, where the answers begin to change. Above it
    /// the first weights serve, scaled.
    pub lambda_max: Option<Lambda>,
}

impl Default for PathSpec {
    fn default() -> Self {
        PathSpec { eps: GapTarget::Absolute(0.1), lambda_min: 1e-5, kappa: 0.9, lambda_max: None }
    }
}

impl PathSpec {
    /// Checks what the types cannot say.
    ///
    /// # Errors
    ///
    /// The first parameter that breaks a rule.
    pub fn validate(&self) -> Result<(), ParameterError> {
        match self.eps {
            GapTarget::Absolute(eps) => require(eps.is_finite() && eps > 0.0, "eps", eps, "must be a number > 0")?,
            GapTarget::Percent(share) => {
                let found = format!("{share}%");
                require(share > 0.0 && share < 100.0, "eps", found, "must be greater than 0% and less than 100%")?;
            }
        }
        if let Some(lambda) = self.lambda_max {
            lambda.number(1.0, "lambda_max")?;
        }
        let lambda_min = self.lambda_min;
        require(lambda_min.is_finite() && lambda_min > 0.0, "lambda_min", lambda_min, "must be a number > 0")?;
        let inside = self.kappa > 0.0 && self.kappa < 1.0;
        require(inside, "kappa", self.kappa, "must be greater than 0 and less than 1")
    }

    /// Returns the gap to which breakpoints are optimised.
    pub fn target(&self) -> GapTarget {
        match self.eps {
            GapTarget::Absolute(eps) => GapTarget::Absolute(self.kappa * eps),
            GapTarget::Percent(share) => GapTarget::Percent(self.kappa * share),
        }
    }

    /// Returns what its beginning is to be, for `n` examples.
    ///
    /// # Errors
    ///
    /// A `lambda_max` that takes more than `n` to know, or is not above `lambda_min`.
    pub fn beginning(&self, n: f64) -> Result<Beginning, ParameterError> {
        let lambda = self.lambda_max.map(|lambda| lambda.number(n, "lambda_max")).transpose()?;
        if let Some(lambda) = lambda {
            let rule = format!("must be greater than lambda_min = {}", self.lambda_min);
            require(lambda > self.lambda_min, "lambda_max", lambda, &rule)?;
        }
        Ok(Beginning { target: self.target(), eps: self.eps, lambda, floor: self.lambda_min })
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
            // A path has none of these stops.
            StopReason::Gap | StopReason::Patience | StopReason::Rule => PathEnd::LambdaMin,
            StopReason::Passes => PathEnd::Passes,
            StopReason::Calls => PathEnd::Calls,
            StopReason::Seconds => PathEnd::Seconds,
            StopReason::Interrupt => PathEnd::Interrupt,
        }
    }
}
