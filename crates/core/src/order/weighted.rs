//! Blocks drawn in proportion to a weight that visits refresh: the last seen gap to a power (Osokin et al. 2016,
//! 3.1), or the block's curvature. O(log n) a draw. Blocks not seen yet come first, in random order.

use super::fenwick::Fenwick;
use crate::rng::Rng;

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Weighted {
    weights: Fenwick,
    /// Blocks not visited yet, in reverse order of their turn.
    unseen: Vec<u32>,
}

impl Weighted {
    pub(super) fn new(blocks: usize) -> Self {
        Weighted { weights: Fenwick::new(blocks), unseen: (0..blocks as u32).collect() }
    }

    pub(super) fn is_sound(&self, blocks: usize) -> bool {
        let in_range = self.unseen.iter().all(|&block| (block as usize) < blocks);
        self.weights.is_sound(blocks) && self.unseen.len() <= blocks && in_range
    }

    /// Puts the blocks not seen yet in random order, before the first visit.
    pub(super) fn begin(&mut self, rng: &mut Rng, blocks: usize) {
        if self.unseen.len() == blocks {
            rng.shuffle(&mut self.unseen);
        }
    }

    pub(super) fn next(&mut self, rng: &mut Rng, blocks: usize) -> usize {
        match self.unseen.pop() {
            Some(block) => block as usize,
            None => self.weights.draw(rng).unwrap_or_else(|| rng.below(blocks as u64) as usize),
        }
    }

    pub(super) fn observe(&mut self, block: usize, weight: f64) {
        let weight = if weight.is_finite() { weight.max(0.0) } else { 0.0 };
        self.weights.set(block, weight);
    }

    /// A weight that never falls.
    pub(super) fn observe_at_least(&mut self, block: usize, weight: f64) {
        self.observe(block, weight.max(self.weights.weight(block)));
    }
}
