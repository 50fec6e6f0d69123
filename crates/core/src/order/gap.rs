//! Blocks drawn in proportion to a power of their last seen gap (Osokin et al. 2016, 3.1). O(log n) a draw.

use super::block_visits::{BlockVisits, OrderConfig, Visiting};
use super::weighted::Weighted;
use crate::gaps::GapTable;
use crate::parameter::{ParameterError, not_negative};
use crate::rng::Rng;

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
