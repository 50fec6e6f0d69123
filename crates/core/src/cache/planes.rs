//! Dial 3 as a parameter: which planes are kept and how they are used.

use super::gap_cache::GapCache;
use super::multi_plane::MultiPlane;

/// Dial 3.
#[derive(Clone, Copy, Debug, PartialEq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Planes {
    /// Every corner comes from the oracle: plain BCFW.
    #[default]
    None,
    /// Working sets with approximate passes between the exact ones (MP-BCFW, Alg. 3).
    MultiPlane(MultiPlane),
    /// A cached corner replaces the oracle's while its gap is large enough (Osokin et al. 2016, 3.2).
    GapCache(GapCache),
}
