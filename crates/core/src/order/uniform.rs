//! Blocks drawn uniformly, with replacement. O(1) a draw.

use crate::rng::Rng;

/// One of `blocks` blocks.
pub(super) fn draw(blocks: usize, rng: &mut Rng) -> usize {
    rng.below(blocks as u64) as usize
}
