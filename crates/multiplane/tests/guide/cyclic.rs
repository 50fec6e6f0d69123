//! Every pass visits the blocks in the order of the data, every `stride`-th first. O(1) a draw.

use multiplane_core::gaps::GapTable;
use multiplane_core::order::{BlockVisits, OrderConfig, Visiting};
use multiplane_core::parameter::{ParameterError, require};
use multiplane_core::rng::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of the cyclic order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cyclic {
    /// Blocks from one visit to the next, at least 1.
    pub stride: u32,
}

impl Default for Cyclic {
    fn default() -> Self {
        Cyclic { stride: 1 }
    }
}

impl OrderConfig for Cyclic {
    fn validate(self) -> Result<(), ParameterError> {
        require(self.stride >= 1, "stride", self.stride, "must be at least 1")
    }
}

/// Where the pass stands.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CyclicVisits {
    stride: usize,
    first: usize,
    next: usize,
}

impl BlockVisits for CyclicVisits {
    type Config = Cyclic;

    fn new(config: Cyclic, _: usize) -> Self {
        CyclicVisits { stride: config.stride as usize, first: 0, next: 0 }
    }

    fn begin_pass(&mut self, _: &mut Rng, _: &mut GapTable, _: Visiting) {
        (self.first, self.next) = (0, 0);
    }

    fn next(&mut self, _: &mut Rng, blocks: usize) -> usize {
        if self.next >= blocks {
            self.first += 1;
            self.next = self.first;
        }
        self.next += self.stride;
        self.next - self.stride
    }

    fn is_sound(&self, blocks: usize) -> bool {
        self.stride >= 1 && self.first < blocks.max(1) && self.next <= blocks + self.stride
    }
}
