//! Dial 1 as a parameter: which block is visited next.

use super::shrinking::Shrinking;

/// Dial 1. A pass is n visits.
#[derive(Clone, Copy, Debug, PartialEq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Order {
    /// Every visit draws any block with equal probability (Lacoste-Julien et al. 2013).
    Uniform,
    /// Every pass visits each block once, in a fresh random order (MP-BCFW, Alg. 3).
    #[default]
    Permutation,
    /// Draws blocks in proportion to a power of their last seen gap (Osokin et al. 2016, 3.1).
    Gap(GapOrder),
    /// Always the block of the largest last seen gap.
    MaxGap,
    /// Draws blocks in proportion to their curvature, the largest squared length of a corner seen.
    Lipschitz,
    /// Like a permutation, but blocks whose last seen gap was small wait for some passes.
    Shrinking(Shrinking),
}

impl Order {
    /// Whether blocks can go unseen for so long that a pass that only measures gaps pays.
    pub fn wants_gap_passes(self) -> bool {
        matches!(self, Order::Gap(_) | Order::MaxGap | Order::Lipschitz)
    }
}

/// Parameters of gap sampling.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GapOrder {
    /// The power.
    pub degree: f64,
}

impl Default for GapOrder {
    fn default() -> Self {
        GapOrder { degree: 1.0 }
    }
}
