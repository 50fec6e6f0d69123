//! Planes kept per example, from which cutting planes are made without a call: the approximate oracle of Joachims et
//! al. 2009 (section 3.4).

use serde::{Deserialize, Serialize};

use crate::cache::WorkingSets;
use crate::context::Ctx;
use crate::oracle::{Capabilities, MaxOracle};
use crate::plane::Plane;
use crate::plane_sum::PlaneSum;
use crate::regularizer::Constraint;
use crate::state::StateError;

/// The planes of every example that were answered last.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ExampleCache {
    sets: WorkingSets,
    limit: usize,
    #[serde(skip)]
    scores: Vec<f64>,
}

impl ExampleCache {
    /// Returns an empty cache of at most `limit` planes for each of `blocks` examples.
    pub(super) fn new(blocks: usize, limit: usize) -> Self {
        ExampleCache { sets: WorkingSets::by_codes(blocks), limit, scores: Vec::new() }
    }

    /// Keeps an answer, and lets go what was best the longest time ago.
    ///
    /// Under `constraints` planes are kept by their numbers: those of frozen weights are folded into the constant part.
    pub(super) fn keep(
        &mut self,
        block: usize,
        answer: &Plane,
        now: u32,
        constraints: Option<&[Constraint]>,
        source: &mut impl Capabilities,
    ) {
        self.sets.insert(block, answer, now, constraints, source);
        self.sets.prune(block, 0, self.limit);
    }

    /// Adds the best of each example's planes at `w` to `sum`, and returns the sum of their scores, the truths' 0
    /// included.
    pub(super) fn add_best<O: MaxOracle + ?Sized>(
        &mut self,
        blocks: usize,
        w: &[f64],
        now: u32,
        sum: &mut PlaneSum,
        ctx: &mut Ctx<'_, O>,
    ) -> f64 {
        let mut hinges = 0.0;
        for block in 0..blocks {
            ctx.charge_planes(self.sets.len(block));
            self.sets.scores(block, w, ctx, &mut self.scores);
            let mut best = (None, 0.0);
            for (k, &score) in self.scores.iter().enumerate() {
                if score > best.1 {
                    best = (Some(k), score);
                }
            }
            if let Some(k) = best.0 {
                self.sets.add_plane(block, k, ctx, sum);
                self.sets.touch(block, k, now);
            }
            hinges += best.1;
        }
        hinges
    }

    /// Returns the number of planes kept.
    pub(super) fn planes(&self) -> usize {
        self.sets.planes()
    }

    /// Refuses a cache that was restored and holds what its oracle does not know.
    pub(super) fn check_codes(&self, source: Option<&mut dyn Capabilities>) -> Result<(), StateError> {
        self.sets.check_codes(source)
    }

    /// Refuses a cache that was restored and does not fit.
    pub(super) fn check(&self, fresh: &Self, blocks: usize, dim: usize) -> Result<(), StateError> {
        crate::state::ensure(self.limit == fresh.limit, "the planes kept per example")?;
        self.sets.check(blocks, dim, false)
    }
}
