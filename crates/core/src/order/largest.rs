//! The block with the largest last seen gap (the deterministic rule of Osokin et al. 2016). A tournament tree:
//! O(1) a draw, O(log n) an update. Blocks not seen yet come first, in order.

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Largest {
    /// A heap-shaped tree of winners, leaves at `leaves..`; entries are blocks.
    winners: Vec<u32>,
    gaps: Vec<f64>,
    leaves: usize,
    unseen: usize,
}

impl Largest {
    pub(super) fn new(blocks: usize) -> Self {
        let leaves = blocks.next_power_of_two();
        let mut winners: Vec<u32> = (0..2 * leaves as u32).map(|k| k.saturating_sub(leaves as u32)).collect();
        for node in (1..leaves).rev() {
            winners[node] = winners[2 * node]; // places past the last block lose to every block
        }
        Largest { winners, gaps: vec![0.0; blocks], leaves, unseen: blocks }
    }

    pub(super) fn is_sound(&self, blocks: usize) -> bool {
        let leaves = blocks.next_power_of_two();
        let winner = self.winners.get(1).is_some_and(|&block| (block as usize) < blocks);
        self.gaps.len() == blocks
            && (self.leaves, self.winners.len()) == (leaves, 2 * leaves)
            && self.unseen <= blocks
            && (leaves == 1 || winner)
    }

    pub(super) fn next(&mut self) -> usize {
        if self.unseen > 0 {
            self.unseen -= 1;
            return self.gaps.len() - 1 - self.unseen;
        }
        if self.leaves == 1 { 0 } else { self.winners[1] as usize }
    }

    pub(super) fn observe(&mut self, block: usize, gap: f64) {
        self.gaps[block] = if gap.is_finite() { gap } else { 0.0 };
        let mut node = (self.leaves + block) / 2;
        while node > 0 {
            let (left, right) = (self.winners[2 * node], self.winners[2 * node + 1]);
            self.winners[node] = if self.gap(right) > self.gap(left) { right } else { left };
            node /= 2;
        }
    }

    fn gap(&self, block: u32) -> f64 {
        self.gaps.get(block as usize).copied().unwrap_or(f64::NEG_INFINITY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// After any updates the answer is a block of the largest gap.
    #[test]
    fn finds_the_largest() {
        for blocks in [1usize, 2, 3, 5, 8, 13] {
            let mut rng = Rng::new(blocks as u64, 0);
            let mut largest = Largest::new(blocks);
            for block in 0..blocks {
                assert_eq!(largest.next(), block, "unseen blocks come first");
                largest.observe(block, rng.unit());
            }
            for _ in 0..200 {
                largest.observe(rng.below(blocks as u64) as usize, rng.unit());
                let best = largest.gaps.iter().copied().fold(0.0, f64::max);
                let found = largest.next();
                assert_eq!(largest.gaps[found], best);
            }
        }
    }
}
