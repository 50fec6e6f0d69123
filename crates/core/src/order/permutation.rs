//! A fresh random permutation each pass (MP-BCFW, Alg. 3, lines 5-6). O(1) a draw, O(n) a pass.

use crate::rng::Rng;

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Permutation {
    blocks: Vec<u32>,
    /// How many of the blocks this pass visits.
    length: usize,
    cursor: usize,
}

impl Permutation {
    pub(super) fn new(blocks: usize) -> Self {
        Permutation { blocks: (0..blocks as u32).collect(), length: blocks, cursor: 0 }
    }

    pub(super) fn is_sound(&self, blocks: usize) -> bool {
        let length = (1..=blocks).contains(&self.length) && self.cursor <= self.length;
        length && self.blocks.len() == blocks && self.blocks.iter().all(|&block| (block as usize) < blocks)
    }

    pub(super) fn begin(&mut self, rng: &mut Rng) {
        rng.shuffle(&mut self.blocks);
        self.length = self.blocks.len();
        self.cursor = 0;
    }

    /// Leaves blocks out of the pass that has just begun; all, if none would stay.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(usize) -> bool) {
        let mut kept = 0;
        for at in 0..self.blocks.len() {
            if keep(self.blocks[at] as usize) {
                self.blocks.swap(kept, at);
                kept += 1;
            }
        }
        self.length = if kept == 0 { self.blocks.len() } else { kept };
    }

    /// Visits of this pass.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    pub(super) fn next(&mut self) -> usize {
        let block = self.blocks[self.cursor % self.length];
        self.cursor += 1;
        block as usize
    }

    pub(super) fn upcoming(&self) -> Option<usize> {
        self.blocks[..self.length].get(self.cursor).map(|&block| block as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pass visits every block exactly once, and two passes differ.
    #[test]
    fn a_pass_visits_each_block_once() {
        let mut rng = Rng::new(0, 0);
        let mut permutation = Permutation::new(50);
        let mut pass = || {
            permutation.begin(&mut rng);
            (0..50).map(|_| permutation.next()).collect::<Vec<_>>()
        };
        let (first, second) = (pass(), pass());
        assert_ne!(first, second);
        for mut order in [first, second] {
            order.sort_unstable();
            assert_eq!(order, (0..50).collect::<Vec<_>>());
        }
    }
}
