//! A fresh random permutation each pass (MP-BCFW, Alg. 3, lines 5-6). O(1) a draw, O(n) a pass.

use crate::rng::Rng;

#[derive(Clone, Debug)]
pub(super) struct Permutation {
    blocks: Vec<u32>,
    cursor: usize,
}

impl Permutation {
    pub(super) fn new(blocks: usize) -> Self {
        Permutation { blocks: (0..blocks as u32).collect(), cursor: 0 }
    }

    pub(super) fn begin(&mut self, rng: &mut Rng) {
        rng.shuffle(&mut self.blocks);
        self.cursor = 0;
    }

    pub(super) fn next(&mut self) -> usize {
        let block = self.blocks[self.cursor % self.blocks.len()];
        self.cursor += 1;
        block as usize
    }
}

impl Permutation {
    pub(super) fn upcoming(&self) -> Option<usize> {
        self.blocks.get(self.cursor).map(|&block| block as usize)
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
