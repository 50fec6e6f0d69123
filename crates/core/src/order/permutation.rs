//! A fresh random permutation each pass (MP-BCFW, Alg. 3, lines 5-6). O(1) a draw, O(n) a pass.

use super::block_visits::{BlockVisits, OrderConfig, Visiting};
use crate::gaps::GapTable;
use crate::rng::Rng;

/// Parameters of the order by permutations: it has none.
#[derive(Clone, Copy, Debug, PartialEq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Permutation {}

impl OrderConfig for Permutation {}

/// The permutation of the pass in hand.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct PermutationVisits {
    blocks: Vec<u32>,
    /// How many of the blocks this pass visits.
    length: usize,
    cursor: usize,
}

impl PermutationVisits {
    /// Returns the identity; a pass begins with a shuffle.
    pub(super) fn of(blocks: usize) -> Self {
        PermutationVisits { blocks: (0..blocks as u32).collect(), length: blocks, cursor: 0 }
    }

    /// Begins a pass over the blocks that do not wait; over all, if all would.
    pub(super) fn begin(&mut self, rng: &mut Rng, mut waits: impl FnMut(usize) -> bool) {
        let mut kept = 0;
        for at in 0..self.blocks.len() {
            let block = self.blocks[at];
            self.blocks.swap(kept, at);
            kept += usize::from(!waits(block as usize)); // no branch: which blocks wait is as good as chance
        }
        self.length = if kept == 0 { self.blocks.len() } else { kept };
        rng.shuffle(&mut self.blocks[..self.length]);
        self.cursor = 0;
    }

    /// Begins a pass for steps over the planes kept.
    pub(super) fn begin_planes(&mut self, rng: &mut Rng, gaps: &mut GapTable, wait_below: f64) {
        self.begin(rng, |block| gaps.waits_for_step(block, wait_below));
    }
}

impl BlockVisits for PermutationVisits {
    type Config = Permutation;

    fn new(_: Permutation, blocks: usize) -> Self {
        PermutationVisits::of(blocks)
    }

    fn begin_pass(&mut self, rng: &mut Rng, gaps: &mut GapTable, visiting: Visiting) {
        match visiting {
            Visiting::Calls => self.begin(rng, |_| false),
            Visiting::Planes { wait_below } => self.begin_planes(rng, gaps, wait_below),
        }
    }

    fn length(&self) -> Option<usize> {
        Some(self.length)
    }

    fn next(&mut self, _: &mut Rng, _: usize) -> usize {
        let block = self.blocks[self.cursor % self.length];
        self.cursor += 1;
        block as usize
    }

    fn upcoming(&self, after: usize) -> Option<usize> {
        self.blocks[..self.length].get(self.cursor + after).map(|&block| block as usize)
    }

    fn is_sound(&self, blocks: usize) -> bool {
        let length = (1..=blocks).contains(&self.length) && self.cursor <= self.length;
        length && self.blocks.len() == blocks && self.blocks.iter().all(|&block| (block as usize) < blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pass visits every block exactly once, and two passes differ.
    #[test]
    fn a_pass_visits_each_block_once() {
        let mut rng = Rng::new(0, 0);
        let mut permutation = PermutationVisits::of(50);
        let mut pass = || {
            permutation.begin(&mut rng, |_| false);
            (0..50).map(|_| permutation.next(&mut rng, 50)).collect::<Vec<_>>()
        };
        let (first, second) = (pass(), pass());
        assert_ne!(first, second);
        for mut order in [first, second] {
            order.sort_unstable();
            assert_eq!(order, (0..50).collect::<Vec<_>>());
        }
    }
}
