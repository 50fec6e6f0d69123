//! Blocks drawn in proportion to their curvature, the largest squared length of a corner seen over lambda. O(log n) a
//! draw.

use super::block_visits::{BlockVisits, OrderConfig, Visiting};
use super::weighted::Weighted;
use crate::gaps::GapTable;
use crate::rng::Rng;

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
