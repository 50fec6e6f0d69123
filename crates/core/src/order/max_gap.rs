//! The block with the largest last seen gap (the deterministic rule of Osokin et al. 2016). A tournament tree:
//! O(1) a draw, O(log n) an update. Blocks not seen yet come first, in order.

use super::block_visits::{BlockVisits, OrderConfig};
use crate::gaps::GapTable;
use crate::rng::Rng;

/// Parameters of the order by largest gap: it has none.
#[derive(Clone, Copy, Debug, PartialEq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaxGap {}

impl OrderConfig for MaxGap {}

/// A tournament of the blocks' gaps.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct MaxGapVisits {
    /// A heap-shaped tree of winners, leaves at `leaves..`; entries are blocks.
    winners: Vec<u32>,
    blocks: usize,
    leaves: usize,
    unseen: usize,
}

impl BlockVisits for MaxGapVisits {
    type Config = MaxGap;

    const ADAPTS: bool = true;
    const WANTS_GAP_PASSES: bool = true;

    fn new(_: MaxGap, blocks: usize) -> Self {
        let leaves = blocks.next_power_of_two();
        let mut winners: Vec<u32> = (0..2 * leaves as u32).map(|k| k.saturating_sub(leaves as u32)).collect();
        for node in (1..leaves).rev() {
            winners[node] = winners[2 * node]; // places past the last block lose to every block
        }
        MaxGapVisits { winners, blocks, leaves, unseen: blocks }
    }

    fn is_sound(&self, blocks: usize) -> bool {
        let leaves = blocks.next_power_of_two();
        let winner = self.winners.get(1).is_some_and(|&block| (block as usize) < blocks);
        self.blocks == blocks
            && (self.leaves, self.winners.len()) == (leaves, 2 * leaves)
            && self.unseen <= blocks
            && (leaves == 1 || winner)
    }

    fn next(&mut self, _: &mut Rng, _: usize) -> usize {
        if self.unseen > 0 {
            self.unseen -= 1;
            return self.blocks - 1 - self.unseen;
        }
        if self.leaves == 1 { 0 } else { self.winners[1] as usize }
    }

    fn observe(&mut self, block: usize, gaps: &GapTable, _: f64) {
        let mut node = (self.leaves + block) / 2;
        while node > 0 {
            let (left, right) = (self.winners[2 * node], self.winners[2 * node + 1]);
            self.winners[node] = if self.gap(right, gaps) > self.gap(left, gaps) { right } else { left };
            node /= 2;
        }
    }
}

impl MaxGapVisits {
    fn gap(&self, block: u32, gaps: &GapTable) -> f64 {
        if (block as usize) < self.blocks { gaps.exact(block as usize) } else { f64::NEG_INFINITY }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After any updates the answer is a block of the largest gap.
    #[test]
    fn finds_the_largest() {
        for blocks in [1usize, 2, 3, 5, 8, 13] {
            let mut rng = Rng::new(blocks as u64, 0);
            let (mut largest, mut table) = (MaxGapVisits::new(MaxGap {}, blocks), GapTable::new(blocks));
            let mut gaps = Vec::new();
            for block in 0..blocks {
                assert_eq!(largest.next(&mut rng, blocks), block, "unseen blocks come first");
                gaps.push(rng.unit());
                table.learn(block, gaps[block], 0.0);
                largest.observe(block, &table, 0.0);
            }
            for _ in 0..200 {
                let block = rng.below(blocks as u64) as usize;
                gaps[block] = rng.unit();
                table.learn(block, gaps[block], 0.0);
                largest.observe(block, &table, 0.0);
                let best = gaps.iter().copied().fold(0.0, f64::max);
                let found = largest.next(&mut rng, blocks);
                assert_eq!(gaps[found], best);
            }
        }
    }
}
