//! Dial 2: how a visit moves an example's plane.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// Parameters of block solves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Solve {
    /// A block is solved to this share of the mean block gap of the last pass.
    pub accuracy: f64,
    /// Approximate passes leave out blocks whose last gap over the planes kept was below this share of the mean.
    pub skip_below: f64,
}

impl Default for Solve {
    fn default() -> Self {
        Solve { accuracy: 0.3, skip_below: 0.3 }
    }
}
