//! Blocks drawn uniformly, with replacement. O(1) a draw.

use super::block_visits::{BlockVisits, OrderConfig};
use crate::rng::Rng;

/// Parameters of the uniform order: it has none.
#[derive(Clone, Copy, Debug, PartialEq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Uniform {}

impl OrderConfig for Uniform {}

/// Nothing to remember.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct UniformVisits;

impl BlockVisits for UniformVisits {
    type Config = Uniform;

    fn new(_: Uniform, _: usize) -> Self {
        UniformVisits
    }

    fn next(&mut self, rng: &mut Rng, blocks: usize) -> usize {
        rng.below(blocks as u64) as usize
    }

    fn is_sound(&self, _: usize) -> bool {
        true
    }
}
