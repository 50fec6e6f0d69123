//! Going on at another lambda: the blocks are scaled, the planes kept stay, and so do estimates of gaps where they
//! can be brought along.

use super::{BlockFrankWolfeSolver, Gaps, Pass};
use crate::context::Ctx;
use crate::oracle::MaxOracle;
use crate::order::Visits;
use crate::plane::{Plane, PlaneView};
use crate::rescale::{Rescale, WarmStart};

impl<O: MaxOracle + ?Sized> Rescale<O> for BlockFrankWolfeSolver {
    fn rescale(&mut self, lambda: f64, start: WarmStart, ctx: &mut Ctx<'_, O>) {
        let before = self.mechanics.iterate().lambda();
        let scale = match start {
            WarmStart::KeepPrimal => {
                debug_assert!(lambda <= before, "masses would be negative");
                (lambda / before).min(1.0)
            }
            WarmStart::KeepDual => 1.0,
        };
        match start {
            WarmStart::KeepPrimal => self.raise_gaps(1.0 - scale, ctx),
            WarmStart::KeepDual => self.gaps = Gaps { mean_exact: self.gaps.mean_exact, ..Gaps::new(self.blocks) },
        }
        self.mechanics.rescale(lambda, scale, ctx);
        self.visits = Visits::new(self.config.order, self.blocks); // every block is seen again before any is favoured
        self.pass = Pass::Between;
        (self.visited, self.steps_of_pass) = (0, 0);
    }

    fn place(&mut self, block: usize, corner: &mut Plane, ctx: &mut Ctx<'_, O>) {
        self.mechanics.iterate().regularizer().fold_frozen(corner);
        self.mechanics.place(block, corner, self.keeps_planes(), self.iterations as u32, ctx);
    }

    fn point(&self, w: &mut Vec<f64>) -> f64 {
        w.clear();
        w.extend_from_slice(self.mechanics.weights());
        self.mechanics.value()
    }
}

impl BlockFrankWolfeSolver {
    /// Every gap g_i becomes `g_i + share * score(phi^i; w)`: exact for a gap that was, an estimate for others.
    fn raise_gaps<O: MaxOracle + ?Sized>(&mut self, share: f64, ctx: &mut Ctx<'_, O>) {
        let mut sum = 0.0;
        for block in 0..self.blocks {
            let rise = -share * self.mechanics.exact_gap(block, PlaneView::ZERO, ctx);
            self.gaps.exact[block] += rise;
            self.gaps.cached[block] += rise;
            sum += rise;
        }
        let mean = sum / self.blocks as f64;
        self.gaps.mean_exact = (self.gaps.mean_exact + mean).max(0.0);
        self.gaps.mean_visited = (self.gaps.mean_visited + mean).max(0.0);
    }
}
