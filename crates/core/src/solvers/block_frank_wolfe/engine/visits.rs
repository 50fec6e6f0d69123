//! What a visit does, in each kind of pass.

use super::super::StepRule;
use super::BlockFrankWolfeSolver;
use crate::context::Ctx;
use crate::hull::Move;
use crate::linalg;
use crate::oracle::{MaxOracle, OracleError};
use crate::order::Seen;
use crate::plane::{PlaneView, Star};

/// Factor by which the remembered gap of a block grows each time that an approximate pass leaves it out.
const SKIP_AGING: f64 = 1.3;

impl BlockFrankWolfeSolver {
    fn how(&self) -> Move {
        match self.config.step {
            StepRule::FrankWolfe => Move::FrankWolfe,
            StepRule::Pairwise => Move::Pairwise,
            StepRule::Away => Move::Away,
            StepRule::Best => Move::Best,
            StepRule::Solve(solve) => Move::Solve(solve.accuracy * self.gaps.mean_visited),
        }
    }

    /// A visit of an exact pass: the cached corner where it is good enough, else the oracle's.
    pub(super) fn exact_visit<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) -> Result<(), OracleError> {
        let block = self.visits.next(ctx.rng);
        if let Some(next) = self.visits.upcoming() {
            ctx.prefetch(next);
            self.mechanics.prefetch(next, self.gap_cache.is_some());
        }
        if let Some(cache) = self.gap_cache
            && self.gaps.exact[block].is_finite()
        {
            ctx.charge_planes(self.mechanics.sets().len(block));
            let best = self.mechanics.best(block, ctx);
            let gap = self.mechanics.gap_at(block, best);
            if cache.is_hit(gap, self.gaps.exact[block], self.gaps.mean_exact) {
                ctx.count_cached();
                self.mechanics.cached(block, best, self.how(), self.iterations as u32, ctx);
                return Ok(());
            }
        }
        self.oracle_visit(block, ctx)
    }

    /// Calls the oracle for `block`, keeps the plane, steps toward it.
    fn oracle_visit<O: MaxOracle + ?Sized>(&mut self, block: usize, ctx: &mut Ctx<'_, O>) -> Result<(), OracleError> {
        ctx.maximize(block, self.mechanics.weights(), &mut self.corner)?;
        self.mechanics.iterate().regularizer().fold_frozen(&mut self.corner);
        let now = self.iterations as u32;
        let how = self.how();
        let visit = self.mechanics.exact(block, &self.corner, how, self.keeps_planes(), now, ctx);
        self.learn(block, visit.gap);
        self.gaps.visit(block, visit.gap);
        self.prune(block);
        Ok(())
    }

    /// Drops what is idle or too many of a block's planes, which were just scored if they go by score.
    pub(super) fn prune(&mut self, block: usize) {
        let now = self.iterations as u32;
        match self.gap_cache {
            Some(cache) => self.mechanics.prune_lowest(block, cache.max_planes as usize),
            None => {
                let full = self.mechanics.sets().bytes() >> 20 >= self.multi_plane.max_megabytes as usize;
                let oldest = if full { now } else { now.saturating_sub(self.multi_plane.max_idle) };
                self.mechanics.prune(block, oldest, self.multi_plane.max_planes as usize);
            }
        }
    }

    /// Remembers what a call of the oracle taught about a block.
    fn learn(&mut self, block: usize, gap: f64) {
        self.gaps.exact[block] = gap;
        if !self.gaps.measured {
            self.gaps.mean_exact = self.gaps.mean_exact.max(self.corner.view().circ);
        }
        if self.visits.is_adaptive() {
            let (Star::Sparse { values, .. } | Star::Dense(values)) = self.corner.view().star;
            let curvature = linalg::sum_squares(values) / self.mechanics.iterate().lambda();
            self.visits.observe(block, Seen { gap, curvature });
        }
    }

    /// Steps toward the best plane kept of the next block.
    pub(super) fn approximate_visit<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) -> Result<(), OracleError> {
        let block = self.visits.next(ctx.rng);
        if let StepRule::Solve(solve) = self.config.step
            && self.gaps.cached[block] < solve.skip_below * self.gaps.mean_visited
        {
            self.gaps.cached[block] *= SKIP_AGING;
            return Ok(());
        }
        ctx.charge_planes(self.mechanics.sets().len(block));
        ctx.count_cached();
        if let Some(next) = self.visits.upcoming() {
            self.mechanics.prefetch(next, true);
            if self.mechanics.sets().by_code() {
                ctx.prefetch(next);
            }
        }
        self.steps_of_pass += 1;
        let recombines = self.decisions.recombine && self.mechanics.sets().len(block) > 1;
        if recombines {
            self.recombine(block, ctx)?;
        }
        let best = self.mechanics.best(block, ctx);
        let visit = self.mechanics.cached(block, best, self.how(), self.iterations as u32, ctx);
        self.gaps.visit(block, visit.gap);
        if recombines {
            // After the step, so that the new plane had its chance to get mass.
            self.mechanics.prune(block, 0, self.multi_plane.max_planes as usize);
        }
        Ok(())
    }

    /// Has the oracle put a plane together from parts of those kept, and keeps it.
    fn recombine<O: MaxOracle + ?Sized>(&mut self, block: usize, ctx: &mut Ctx<'_, O>) -> Result<(), OracleError> {
        let codes = self.mechanics.sets().codes(block);
        if ctx.recombine(block, self.mechanics.weights(), codes, &mut self.corner)? {
            self.mechanics.iterate().regularizer().fold_frozen(&mut self.corner);
            self.mechanics.keep(block, &self.corner, self.iterations as u32, ctx);
        }
        Ok(())
    }

    /// Measures the gap of the next block, and remembers its corner where the pass ends with a step.
    pub(super) fn gap_visit<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) -> Result<(), OracleError> {
        let block = self.visited;
        ctx.maximize_ahead(block..self.blocks, self.mechanics.weights(), &mut self.corner)?;
        self.mechanics.iterate().regularizer().fold_frozen(&mut self.corner);
        let corner = self.corner.view();
        let corner = if corner.score(self.mechanics.weights()) < 0.0 { PlaneView::ZERO } else { corner };
        let gap = self.mechanics.exact_gap(block, corner, ctx);
        if let Some(batch) = &mut self.batch_step {
            let is_truth = corner == PlaneView::ZERO;
            let now = self.iterations as u32;
            let kept = if is_truth { None } else { self.mechanics.keep(block, &self.corner, now, ctx) };
            batch.add(block, self.mechanics.weights().len(), corner, kept);
        }
        self.learn(block, gap);
        self.gaps.visit(block, gap);
        Ok(())
    }
}
