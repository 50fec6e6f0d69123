//! Dial 1: which block is visited next.
//!
//! An order is an enum variant with its state in a file of its own; all draws come from the run's generator.

mod fenwick;
mod largest;
mod permutation;
mod shrinking;
mod uniform;
mod weighted;

use crate::parameter::{ParameterError, not_negative};
use crate::rng::Rng;
use largest::Largest;
use permutation::Permutation;
pub use shrinking::Shrinking;
use shrinking::ShrinkingOrder;
use weighted::Weighted;

/// Dial 1. A pass is n visits.
#[derive(Clone, Copy, Debug, PartialEq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Order {
    /// Every visit draws any block with equal probability (Lacoste-Julien et al. 2013).
    Uniform,
    /// Every pass visits each block once, in a fresh random order (MP-BCFW, Alg. 3).
    #[default]
    Permutation,
    /// Draws blocks in proportion to a power of their last seen gap (Osokin et al. 2016, 3.1).
    Gap(GapOrder),
    /// Always the block of the largest last seen gap.
    MaxGap,
    /// Draws blocks in proportion to their curvature, the largest squared length of a corner seen.
    Lipschitz,
    /// Like a permutation, but blocks whose last seen gap was small wait for some passes.
    Shrinking(Shrinking),
}

impl Order {
    /// Whether blocks can go unseen for so long that a pass that only measures gaps pays.
    pub fn wants_gap_passes(self) -> bool {
        matches!(self, Order::Gap(_) | Order::MaxGap | Order::Lipschitz)
    }

    /// Checks the order's own parameters.
    pub(crate) fn validate(self) -> Result<(), ParameterError> {
        match self {
            Order::Gap(gap) => not_negative("degree", gap.degree),
            Order::Shrinking(shrinking) => shrinking.validate(),
            _ => Ok(()),
        }
    }
}

/// Parameters of gap sampling.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GapOrder {
    /// The power.
    pub degree: f64,
}

impl Default for GapOrder {
    fn default() -> Self {
        GapOrder { degree: 1.0 }
    }
}

/// What a call of the oracle taught about its block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// The block gap before the step.
    pub gap: f64,
    /// `|corner|^2 / lambda`.
    pub curvature: f64,
}

/// The state of an order: draws the blocks of one pass after the other.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Visits {
    blocks: usize,
    kind: Kind,
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
enum Kind {
    Uniform,
    Permutation(Permutation),
    Gap(Weighted, GapOrder),
    MaxGap(Largest),
    Lipschitz(Weighted),
    Shrinking(ShrinkingOrder),
}

impl Visits {
    /// Visits to `blocks` blocks in the given order.
    pub fn new(order: Order, blocks: usize) -> Self {
        let kind = match order {
            Order::Uniform => Kind::Uniform,
            Order::Permutation => Kind::Permutation(Permutation::new(blocks)),
            Order::Gap(config) => Kind::Gap(Weighted::new(blocks), config),
            Order::MaxGap => Kind::MaxGap(Largest::new(blocks)),
            Order::Lipschitz => Kind::Lipschitz(Weighted::new(blocks)),
            Order::Shrinking(config) => Kind::Shrinking(ShrinkingOrder::new(config, blocks)),
        };
        Visits { blocks, kind }
    }

    /// What is wrong with an order that was restored, for `blocks` blocks.
    pub(crate) fn fault(&self, blocks: usize) -> Option<String> {
        let sound = match &self.kind {
            Kind::Uniform => true,
            Kind::Permutation(permutation) => permutation.is_sound(blocks),
            Kind::Gap(weighted, _) | Kind::Lipschitz(weighted) => weighted.is_sound(blocks),
            Kind::MaxGap(largest) => largest.is_sound(blocks),
            Kind::Shrinking(shrinking) => shrinking.is_sound(blocks),
        };
        crate::state::expect(sound && self.blocks == blocks, "the order of visits")
    }

    /// Starts a pass; `all` asks for one in which no block waits.
    pub fn begin_pass(&mut self, rng: &mut Rng, all: bool) {
        match &mut self.kind {
            Kind::Permutation(permutation) => permutation.begin(rng),
            Kind::Gap(weighted, _) | Kind::Lipschitz(weighted) => weighted.begin(rng, self.blocks),
            Kind::Shrinking(shrinking) => shrinking.begin(rng, all),
            Kind::Uniform | Kind::MaxGap(_) => {}
        }
    }

    /// Visits of the pass that has begun: n, or fewer where blocks wait.
    pub fn length(&self) -> usize {
        match &self.kind {
            Kind::Shrinking(shrinking) => shrinking.length(),
            _ => self.blocks,
        }
    }

    /// The next block of the pass; call it [`length`](Visits::length) times after [`begin_pass`](Visits::begin_pass).
    pub fn next(&mut self, rng: &mut Rng) -> usize {
        match &mut self.kind {
            Kind::Uniform => uniform::draw(self.blocks, rng),
            Kind::Permutation(permutation) => permutation.next(),
            Kind::Gap(weighted, _) | Kind::Lipschitz(weighted) => weighted.next(rng, self.blocks),
            Kind::MaxGap(largest) => largest.next(),
            Kind::Shrinking(shrinking) => shrinking.next(),
        }
    }

    /// Whether draws depend on what [`observe`](Visits::observe) was told.
    pub fn is_adaptive(&self) -> bool {
        matches!(self.kind, Kind::Gap(..) | Kind::MaxGap(_) | Kind::Lipschitz(_) | Kind::Shrinking(_))
    }

    /// Learns from a call of the oracle.
    pub fn observe(&mut self, block: usize, seen: Seen) {
        match &mut self.kind {
            Kind::Uniform | Kind::Permutation(_) => {}
            Kind::Gap(weighted, config) if config.degree == 1.0 => weighted.observe(block, seen.gap),
            Kind::Gap(weighted, config) => weighted.observe(block, seen.gap.max(0.0).powf(config.degree)),
            Kind::MaxGap(largest) => largest.observe(block, seen.gap),
            Kind::Shrinking(shrinking) => shrinking.observe(block, seen.gap),
            Kind::Lipschitz(weighted) => weighted.observe_at_least(block, seen.curvature),
        }
    }

    /// The block that the next call of [`next`](Visits::next) will return, where that is settled already.
    pub fn upcoming(&self) -> Option<usize> {
        match &self.kind {
            Kind::Permutation(permutation) => permutation.upcoming(),
            Kind::Shrinking(shrinking) => shrinking.upcoming(),
            _ => None,
        }
    }
}
