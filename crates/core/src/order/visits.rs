//! The state of an order, whichever it is.

use super::dial::{GapOrder, Order};
use super::largest::Largest;
use super::permutation::Permutation;
use super::shrinking::ShrinkingOrder;
use super::uniform;
use super::weighted::Weighted;
use crate::gaps::GapTable;
use crate::rng::Rng;

/// The state of an order: draws the blocks of one pass after the other.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct BlockOrder {
    blocks: usize,
    rule: Rule,
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
enum Rule {
    Uniform,
    Permutation(Permutation),
    Gap(Weighted, GapOrder),
    MaxGap(Largest),
    Lipschitz(Weighted),
    Shrinking(ShrinkingOrder),
}

impl BlockOrder {
    /// Returns an order of visits to `blocks` blocks.
    pub fn new(order: Order, blocks: usize) -> Self {
        let rule = match order {
            Order::Uniform => Rule::Uniform,
            Order::Permutation => Rule::Permutation(Permutation::new(blocks)),
            Order::Gap(config) => Rule::Gap(Weighted::new(blocks), config),
            Order::MaxGap => Rule::MaxGap(Largest::new(blocks)),
            Order::Lipschitz => Rule::Lipschitz(Weighted::new(blocks)),
            Order::Shrinking(config) => Rule::Shrinking(ShrinkingOrder::new(config, blocks)),
        };
        BlockOrder { blocks, rule }
    }

    /// What is wrong with an order that was restored, for `blocks` blocks.
    pub(crate) fn fault(&self, blocks: usize) -> Option<String> {
        let sound = match &self.rule {
            Rule::Uniform => true,
            Rule::Permutation(permutation) => permutation.is_sound(blocks),
            Rule::Gap(weighted, _) | Rule::Lipschitz(weighted) => weighted.is_sound(blocks),
            Rule::MaxGap(largest) => largest.is_sound(blocks),
            Rule::Shrinking(shrinking) => shrinking.is_sound(blocks),
        };
        crate::state::expect(sound && self.blocks == blocks, "the order of visits")
    }

    /// Starts a pass; `all` asks for one in which no block waits. Blocks that wait are booked in `gaps`.
    pub fn begin_pass(&mut self, rng: &mut Rng, gaps: &mut GapTable, all: bool) {
        match &mut self.rule {
            Rule::Permutation(permutation) => permutation.begin(rng),
            Rule::Gap(weighted, _) | Rule::Lipschitz(weighted) => weighted.begin(rng, self.blocks),
            Rule::Shrinking(shrinking) => shrinking.begin(rng, gaps, all),
            Rule::Uniform | Rule::MaxGap(_) => {}
        }
    }

    /// BlockOrder of the pass that has begun: n, or fewer where blocks wait.
    pub fn length(&self) -> usize {
        match &self.rule {
            Rule::Shrinking(shrinking) => shrinking.length(),
            _ => self.blocks,
        }
    }

    /// The next block of the pass; call it [`length`](BlockOrder::length) times after [`begin_pass`](BlockOrder::begin_pass).
    pub fn next(&mut self, rng: &mut Rng) -> usize {
        match &mut self.rule {
            Rule::Uniform => uniform::draw(self.blocks, rng),
            Rule::Permutation(permutation) => permutation.next(),
            Rule::Gap(weighted, _) | Rule::Lipschitz(weighted) => weighted.next(rng, self.blocks),
            Rule::MaxGap(largest) => largest.next(),
            Rule::Shrinking(shrinking) => shrinking.next(),
        }
    }

    /// Whether [`observe`](BlockOrder::observe) is to be told of calls.
    pub fn is_adaptive(&self) -> bool {
        matches!(self.rule, Rule::Gap(..) | Rule::MaxGap(_) | Rule::Lipschitz(_))
    }

    /// Learns that a call of the oracle has brought `gaps` up to date for `block`; `curvature` is that of its corner,
    /// `|corner|^2 / lambda`.
    pub fn observe(&mut self, block: usize, gaps: &GapTable, curvature: f64) {
        match &mut self.rule {
            Rule::Uniform | Rule::Permutation(_) | Rule::Shrinking(_) => {}
            Rule::Gap(weighted, config) if config.degree == 1.0 => weighted.observe(block, gaps.exact(block)),
            Rule::Gap(weighted, config) => weighted.observe(block, gaps.exact(block).max(0.0).powf(config.degree)),
            Rule::MaxGap(largest) => largest.observe(block, gaps),
            Rule::Lipschitz(weighted) => weighted.observe_at_least(block, curvature),
        }
    }

    /// The block that the next call of [`next`](BlockOrder::next) will return, where that is settled already.
    pub fn upcoming(&self) -> Option<usize> {
        match &self.rule {
            Rule::Permutation(permutation) => permutation.upcoming(),
            Rule::Shrinking(shrinking) => shrinking.upcoming(),
            _ => None,
        }
    }
}
