//! Dial 2: how a visit moves an example's plane.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parameter::{ParameterError, not_negative};

/// Dial 2: how a visit moves an example's plane.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum StepRule {
    /// From the block's plane toward the corner.
    #[default]
    FrankWolfe,
    /// From the active plane of lowest score to the corner: mass moves between two planes (Osokin et al. 2016).
    Pairwise,
    /// Toward the corner or away from the active plane of lowest score, whichever gains more.
    Away,
    /// The best of a Frank-Wolfe, an away and a pairwise step.
    Best,
    /// Solves the block over its planes by pairwise steps on cached inner products.
    Solve(Solve),
}

impl StepRule {
    /// Checks the parameters that come with the choice.
    ///
    /// # Errors
    ///
    /// The parameter at fault.
    pub fn validate(self) -> Result<(), ParameterError> {
        let StepRule::Solve(solve) = self else { return Ok(()) };
        not_negative("accuracy", solve.accuracy)?;
        not_negative("skip_below", solve.skip_below)
    }
}

/// Parameters of block solves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Solve {
    /// A block is solved to this share of the mean block gap of the last pass.
    pub accuracy: f64,
    /// Approximate passes leave out blocks whose last gap over the planes kept was below this share of the mean, in
    /// orders that visit a block at most once a pass.
    pub skip_below: f64,
}

impl Default for Solve {
    fn default() -> Self {
        Solve { accuracy: 0.3, skip_below: 0.3 }
    }
}
