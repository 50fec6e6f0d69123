//! Every pass visits, in a fresh random order, the blocks whose last seen gap is not small: the others' planes fit
//! already, and a call would return little. A gap that is left out grows at every pass, so no block is forgotten
//! (in the manner of the shrinking of SVM solvers, e.g. LIBLINEAR). O(n) a pass, O(1) a draw.

use super::block_visits::{BlockVisits, OrderConfig, Visiting};
use super::permutation::PermutationVisits;
use crate::gaps::GapTable;
use crate::parameter::{ParameterError, not_negative, require};
use crate::rng::Rng;

/// Parameters of shrinking.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Shrinking {
    /// A block is left out while its last seen gap is below this share of the mean.
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
        self.permutation.begin(rng, |block| gaps.waits_for_call(block, threshold, aging));
    }

    fn length(&self) -> Option<usize> {
        self.permutation.length()
    }

    fn next(&mut self, rng: &mut Rng, blocks: usize) -> usize {
        self.permutation.next(rng, blocks)
    }

    fn upcoming(&self, after: usize) -> Option<usize> {
        self.permutation.upcoming(after)
    }

    fn is_sound(&self, blocks: usize) -> bool {
        self.permutation.is_sound(blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
