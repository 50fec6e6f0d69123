//! Orders without weights: a fresh random permutation each pass (MP-BCFW, Alg. 3, lines 5-6; O(1) a draw, O(n) a pass),
//! and blocks drawn uniformly with replacement.
//!
//! Shrinking visits the blocks of a permutation whose last seen gap is not small: the others' planes fit already. A gap
//! that is left out grows at every pass, so no block is forgotten (as in LIBLINEAR).

use super::block_visits::{BlockVisits, OrderConfig, Visiting};
use crate::gaps::GapTable;
use crate::parameter::{ParameterError, not_negative, require};
use crate::rng::Rng;

/// Parameters of the order by permutations: it has none.
#[derive(Clone, Copy, Debug, PartialEq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Permutation {}

impl OrderConfig for Permutation {}

/// The permutation of the pass in hand, and of a pass of calls that passes over the planes kept interrupt.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct PermutationVisits {
    pass: PermutationPass,
    interrupted: Option<PermutationPass>,
}

/// A permutation, as far as a pass visits it.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct PermutationPass {
    blocks: Vec<u32>,
    /// How many of the blocks this pass visits.
    length: usize,
    cursor: usize,
}

impl PermutationPass {
    /// Begins anew with the blocks that do not wait; with all, if all would.
    fn begin(&mut self, rng: &mut Rng, mut waits: impl FnMut(usize) -> bool) {
        let mut kept = 0;
        for at in 0..self.blocks.len() {
            let block = self.blocks[at];
            self.blocks.swap(kept, at);
            kept += usize::from(!waits(block as usize)); // no branch: which blocks wait is as good as chance
        }
        self.length = if kept == 0 { self.blocks.len() } else { kept };
        rng.shuffle(&mut self.blocks[..self.length]);
        self.cursor = 0;
    }

    fn is_sound(&self, blocks: usize) -> bool {
        let length = (1..=blocks).contains(&self.length) && self.cursor <= self.length;
        length && self.blocks.len() == blocks && self.blocks.iter().all(|&block| (block as usize) < blocks)
    }
}

impl PermutationVisits {
    /// Returns the identity; a pass begins with a shuffle.
    pub(super) fn of(blocks: usize) -> Self {
        let pass = PermutationPass { blocks: (0..blocks as u32).collect(), length: blocks, cursor: blocks };
        PermutationVisits { pass, interrupted: None }
    }

    /// Begins a pass of calls, over the blocks that do not wait; over all, if all would.
    pub(super) fn begin_calls(&mut self, rng: &mut Rng, waits: impl FnMut(usize) -> bool) {
        self.interrupted = None;
        self.pass.begin(rng, waits);
    }

    /// Begins a pass for steps over the planes kept. A pass of calls that has not ended can be gone on with after it.
    pub(super) fn begin_planes(&mut self, rng: &mut Rng, gaps: &mut GapTable, wait_below: f64) {
        if self.pass.cursor < self.pass.length {
            self.interrupted = Some(self.pass.clone());
        }
        self.pass.begin(rng, |block| gaps.waits_for_step(block, wait_below));
    }
}

impl BlockVisits for PermutationVisits {
    type Config = Permutation;

    fn new(_: Permutation, blocks: usize) -> Self {
        PermutationVisits::of(blocks)
    }

    fn begin_pass(&mut self, rng: &mut Rng, gaps: &mut GapTable, visiting: Visiting) {
        match visiting {
            Visiting::Calls => self.begin_calls(rng, |_| false),
            Visiting::Planes { wait_below } => self.begin_planes(rng, gaps, wait_below),
        }
    }

    fn resume_calls(&mut self) {
        if let Some(pass) = self.interrupted.take() {
            self.pass = pass;
        }
    }

    fn length(&self) -> Option<usize> {
        Some(self.pass.length)
    }

    fn next(&mut self, _: &mut Rng, _: usize) -> usize {
        let block = self.pass.blocks[self.pass.cursor % self.pass.length];
        self.pass.cursor += 1;
        block as usize
    }

    fn settled(&self) -> &[u32] {
        self.pass.blocks[..self.pass.length].get(self.pass.cursor..).unwrap_or_default()
    }

    fn is_sound(&self, blocks: usize) -> bool {
        self.pass.is_sound(blocks) && self.interrupted.as_ref().is_none_or(|pass| pass.is_sound(blocks))
    }
}

/// Parameters of shrinking.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Shrinking {
    /// A block is left out while its last seen gap is below this share of the mean; after an update, below the mean.
    pub skip_below: f64,
    /// Factor by which the gap of a block grows at every pass that leaves it out.
    pub aging: f64,
}

impl Default for Shrinking {
    fn default() -> Self {
        Shrinking { skip_below: 0.1, aging: 2.0 }
    }
}

impl OrderConfig for Shrinking {
    fn validate(self) -> Result<(), ParameterError> {
        not_negative("skip_below", self.skip_below)?;
        let grows = self.aging.is_finite() && self.aging > 1.0;
        require(grows, "aging", self.aging, "must be a finite number greater than 1")
    }
}

/// The permutation of the pass in hand, without the blocks that wait.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct ShrinkingVisits {
    config: Shrinking,
    permutation: PermutationVisits,
}

impl BlockVisits for ShrinkingVisits {
    type Config = Shrinking;

    fn new(config: Shrinking, blocks: usize) -> Self {
        ShrinkingVisits { config, permutation: PermutationVisits::of(blocks) }
    }

    fn begin_pass(&mut self, rng: &mut Rng, gaps: &mut GapTable, visiting: Visiting) {
        if let Visiting::Planes { wait_below } = visiting {
            return self.permutation.begin_planes(rng, gaps, wait_below);
        }
        let threshold = gaps.share_of_mean(self.config.skip_below);
        let aging = self.config.aging;
        self.permutation.begin_calls(rng, |block| gaps.waits_for_call(block, threshold, aging));
    }

    fn resume_calls(&mut self) {
        self.permutation.resume_calls();
    }

    fn length(&self) -> Option<usize> {
        self.permutation.length()
    }

    fn next(&mut self, rng: &mut Rng, blocks: usize) -> usize {
        self.permutation.next(rng, blocks)
    }

    fn settled(&self) -> &[u32] {
        self.permutation.settled()
    }

    fn is_sound(&self, blocks: usize) -> bool {
        self.permutation.is_sound(blocks)
    }
}

/// Parameters of the uniform order: it has none.
#[derive(Clone, Copy, Debug, PartialEq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Uniform {}

impl OrderConfig for Uniform {}

/// Nothing to remember.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct UniformVisits;

impl BlockVisits for UniformVisits {
    type Config = Uniform;

    fn new(_: Uniform, _: usize) -> Self {
        UniformVisits
    }

    fn next(&mut self, rng: &mut Rng, blocks: usize) -> usize {
        rng.below(blocks as u64) as usize
    }

    fn is_sound(&self, _: usize) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pass visits every block exactly once, and two passes differ.
    #[test]
    fn a_pass_visits_each_block_once() {
        let mut rng = Rng::new(0, 0);
        let mut permutation = PermutationVisits::of(50);
        let mut pass = || {
            permutation.begin_calls(&mut rng, |_| false);
            (0..50).map(|_| permutation.next(&mut rng, 50)).collect::<Vec<_>>()
        };
        let (first, second) = (pass(), pass());
        assert_ne!(first, second);
        for mut order in [first, second] {
            order.sort_unstable();
            assert_eq!(order, (0..50).collect::<Vec<_>>());
        }
    }

    /// A pass of calls that passes over the planes kept interrupt is gone on with where it stood.
    #[test]
    fn interrupted_calls_go_on() {
        let mut rng = Rng::new(1, 0);
        let mut gaps = GapTable::new(30);
        let mut order = PermutationVisits::of(30);
        order.begin_pass(&mut rng, &mut gaps, Visiting::Calls);
        let promised = order.settled().to_vec();
        let mut made = Vec::new();
        for _ in 0..3 {
            made.extend((0..10).map(|_| order.next(&mut rng, 30) as u32));
            for _ in 0..2 {
                order.begin_pass(&mut rng, &mut gaps, Visiting::Planes { wait_below: 0.0 });
                (0..order.length().unwrap()).for_each(|_| _ = order.next(&mut rng, 30));
            }
            order.resume_calls();
        }
        assert_eq!(made, promised);
    }

    /// Blocks of small gap are left out, but come back; a pass over all visits all.
    #[test]
    fn small_gaps_wait_and_come_back() {
        let mut rng = Rng::new(0, 0);
        let mut order = ShrinkingVisits::new(Shrinking::default(), 20);
        let mut gaps = GapTable::new(20);
        let mut waited = 0;
        for pass in 0..12 {
            order.begin_pass(&mut rng, &mut gaps, Visiting::Calls);
            let visited: Vec<usize> = (0..order.length().unwrap()).map(|_| order.next(&mut rng, 20)).collect();
            let small = visited.iter().filter(|&&block| block >= 5).count();
            assert!(pass > 0 || small == 15, "the first pass visits all");
            assert!((0..5).all(|block| visited.contains(&block)), "large gaps are visited in every pass");
            waited += usize::from(small == 0);
            visited.iter().for_each(|&block| gaps.learn(block, if block < 5 { 1.0 } else { 0.0 }, 0.0));
        }
        assert!((6..12).contains(&waited), "small gaps waited {waited} passes of 11");
        order.begin_pass(&mut rng, &mut gaps, Visiting::Planes { wait_below: 0.0 });
        assert_eq!(order.length(), Some(20));
    }
}
