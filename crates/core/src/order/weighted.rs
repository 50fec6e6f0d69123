//! Blocks drawn in proportion to a weight that visits refresh: a power of the last seen gap (Osokin et al. 2016, 3.1),
//! or the curvature, the largest squared length of a corner seen over lambda. O(log n) a draw. Blocks not seen yet come
//! first, in random order.

use super::block_visits::{BlockVisits, OrderConfig, Visiting};
use super::fenwick::Fenwick;
use crate::gaps::GapTable;
use crate::parameter::{ParameterError, not_negative};
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

/// Parameters of gap sampling.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GapSampling {
    /// The power.
    pub degree: f64,
}

impl Default for GapSampling {
    fn default() -> Self {
        GapSampling { degree: 1.0 }
    }
}

impl OrderConfig for GapSampling {
    fn validate(self) -> Result<(), ParameterError> {
        not_negative("degree", self.degree)
    }
}

/// Powers of gaps to draw by.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct GapVisits {
    weighted: Weighted,
    degree: f64,
}

impl BlockVisits for GapVisits {
    type Config = GapSampling;

    const ADAPTS: bool = true;
    const WANTS_GAP_PASSES: bool = true;

    fn new(config: GapSampling, blocks: usize) -> Self {
        GapVisits { weighted: Weighted::new(blocks), degree: config.degree }
    }

    fn begin_pass(&mut self, rng: &mut Rng, gaps: &mut GapTable, _: Visiting) {
        self.weighted.begin(rng, gaps.blocks());
    }

    fn next(&mut self, rng: &mut Rng, blocks: usize) -> usize {
        self.weighted.next(rng, blocks)
    }

    fn observe(&mut self, block: usize, gaps: &GapTable, _: f64) {
        let gap = gaps.exact(block);
        self.weighted.observe(block, if self.degree == 1.0 { gap } else { gap.max(0.0).powf(self.degree) });
    }

    fn is_sound(&self, blocks: usize) -> bool {
        self.weighted.is_sound(blocks)
    }
}

/// Parameters of the order by curvature: it has none.
#[derive(Clone, Copy, Debug, PartialEq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lipschitz {}

impl OrderConfig for Lipschitz {}

/// Curvatures to draw by.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct LipschitzVisits(Weighted);

impl BlockVisits for LipschitzVisits {
    type Config = Lipschitz;

    const ADAPTS: bool = true;
    const WANTS_GAP_PASSES: bool = true;

    fn new(_: Lipschitz, blocks: usize) -> Self {
        LipschitzVisits(Weighted::new(blocks))
    }

    fn begin_pass(&mut self, rng: &mut Rng, gaps: &mut GapTable, _: Visiting) {
        self.0.begin(rng, gaps.blocks());
    }

    fn next(&mut self, rng: &mut Rng, blocks: usize) -> usize {
        self.0.next(rng, blocks)
    }

    fn observe(&mut self, block: usize, _: &GapTable, curvature: f64) {
        self.0.observe_at_least(block, curvature);
    }

    fn is_sound(&self, blocks: usize) -> bool {
        self.0.is_sound(blocks)
    }
}
