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
    /// The gaps that the tree was built of; 0 for blocks not seen yet.
    gaps: Vec<f64>,
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
        MaxGapVisits { winners, gaps: vec![0.0; blocks], leaves, unseen: blocks }
    }

    fn is_sound(&self, blocks: usize) -> bool {
        let leaves = blocks.next_power_of_two();
        let shape = self.gaps.len() == blocks && (self.leaves, self.winners.len()) == (leaves, 2 * leaves);
        shape
            && self.unseen <= blocks
            && (0..leaves).all(|leaf| self.winners[leaves + leaf] as usize == leaf)
            && (1..leaves).all(|node| self.winners[node] == self.winner(node))
    }

    fn next(&mut self, _: &mut Rng, _: usize) -> usize {
        if self.unseen > 0 {
            self.unseen -= 1;
            return self.gaps.len() - 1 - self.unseen;
        }
        if self.leaves == 1 { 0 } else { self.winners[1] as usize }
    }

    fn observe(&mut self, block: usize, gaps: &GapTable, _: f64) {
        let gap = gaps.exact(block);
        self.gaps[block] = if gap.is_finite() { gap } else { 0.0 };
        let mut node = (self.leaves + block) / 2;
        while node > 0 {
            self.winners[node] = self.winner(node);
            node /= 2;
        }
    }
}

impl MaxGapVisits {
    /// The winner below an inner node: the left one in a tie.
    fn winner(&self, node: usize) -> u32 {
        let (left, right) = (self.winners[2 * node], self.winners[2 * node + 1]);
        let gap = |block: u32| self.gaps.get(block as usize).copied().unwrap_or(f64::NEG_INFINITY);
        if gap(right) > gap(left) { right } else { left }
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
