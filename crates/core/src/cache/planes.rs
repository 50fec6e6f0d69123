//! Dial 3 as a parameter: which planes are kept and how they are used.

use super::gap_cache::GapCache;
use super::multi_plane::MultiPlane;
use crate::parameter::{ParameterError, not_negative};

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

impl Planes {
    /// Checks the parameters that come with the choice.
    ///
    /// # Errors
    ///
    /// The parameter at fault.
    pub fn validate(self) -> Result<(), ParameterError> {
        let Planes::GapCache(cache) = self else { return Ok(()) };
        not_negative("factor", cache.factor)?;
        not_negative("nu", cache.nu)
    }
}
