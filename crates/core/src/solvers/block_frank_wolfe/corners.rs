//! The source of a visit's corner: a call, an answer that an evaluation brought, a plane kept, or a recombined one.

use super::solver::BlockFrankWolfeSolver;
use crate::average::UpdateKind;
use crate::cache::Planes;
use crate::context::Ctx;
use crate::dual::{BlockDual, BlockVisit, StepRule};
use crate::oracle::{MaxOracle, OracleError, OracleResult};

impl<D: BlockDual> BlockFrankWolfeSolver<D> {
    /// Calls the oracle for `block`: at the present weights, or at those of the batch in hand.
    pub(super) fn call<O: MaxOracle + ?Sized>(&mut self, block: usize, ctx: &mut Ctx<'_, O>) -> OracleResult {
        let others = self.order.settled().iter().map(|&other| other as usize).take(self.length - self.visited - 1);
        let others = others.filter(|&other| !self.given.has(other, self.iterations));
        self.batch.call(block, others, self.dual.weights(), ctx, &mut self.corner)
    }

    /// Begins the next batch of the exact pass in hand, if it has one: its calls are made at the present weights, so
    /// that they can be answered while approximate passes move on from there.
    pub(super) fn begin_batch<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) {
        ctx.forget_ahead();
        let calls = self.calls_at_once(ctx).map_or(0, |calls| calls.min(self.calls_left));
        if calls > 0 {
            let blocks = self.order.settled().iter().map(|&block| block as usize).take(calls);
            let blocks = blocks.filter(|&block| !self.given.has(block, self.iterations));
            ctx.ask_ahead(blocks, self.dual.weights());
            self.batch.begin(calls, self.dual.weights());
        }
    }

    /// Returns the number of calls in a batch at one w, if approximate passes follow batches; the next blocks must be
    /// known.
    fn calls_at_once<O: MaxOracle + ?Sized>(&self, ctx: &Ctx<'_, O>) -> Option<usize> {
        match &self.config.planes {
            Planes::MultiPlane(planes) if planes.pass_limit() > 0 && !self.order.settled().is_empty() => {
                planes.interleave.calls_at_once(self.gaps.blocks(), self.dual.weights().len(), ctx.call_seconds())
            }
            _ => None,
        }
    }

    /// Steps toward the best plane kept instead of a call, if an evaluation has made the call; returns whether it has.
    pub(super) fn step_to_given<O: MaxOracle + ?Sized>(&mut self, block: usize, ctx: &mut Ctx<'_, O>) -> bool {
        let is_given = self.given.take(block, self.iterations);
        if is_given {
            ctx.charge_planes(self.dual.sets().len(block));
            let step = {
                let mut visit = self.dual.visit(block, ctx);
                visit.touch(self.iterations as u32);
                visit.step(self.config.step, self.gaps.mean_visited(), UpdateKind::Exact, ctx)
            };
            self.gaps.visit(block, step.gap);
            self.prune_idle(block);
        }
        is_given
    }

    /// Steps toward the best plane kept instead of a call, if its gap is large enough (Osokin et al. 2016, 3.2).
    pub(super) fn step_to_cached<O: MaxOracle + ?Sized>(&mut self, block: usize, ctx: &mut Ctx<'_, O>) -> bool {
        let Planes::GapCache(cache) = self.config.planes else { return false };
        if !self.gaps.exact(block).is_finite() {
            return false;
        }
        ctx.charge_planes(self.dual.sets().len(block));
        let mut visit = self.dual.visit(block, ctx);
        let hit = cache.is_hit(visit.gap(), self.gaps.exact(block), self.gaps.mean_exact());
        if hit {
            ctx.count_cached();
            visit.touch(self.iterations as u32);
            visit.step(self.config.step, self.gaps.mean_visited(), UpdateKind::Approximate, ctx);
        }
        hit
    }

    /// Returns the gap below which an approximate pass leaves a block out: its planes fit already.
    pub(super) fn wait_below(&self) -> f64 {
        match self.config.step {
            StepRule::Solve(solve) => solve.skip_below * self.gaps.mean_visited(),
            _ => f64::NEG_INFINITY,
        }
    }

    /// Returns true if labellings are recombined before the steps of the approximate pass in hand.
    pub(super) fn recombines(&self) -> bool {
        self.pace.recombines(self.config.recombine())
    }

    /// Has the oracle recombine the labellings kept, if that pays, and keeps the plane; returns whether it was tried.
    pub(super) fn recombine<O: MaxOracle + ?Sized>(
        &mut self,
        block: usize,
        ctx: &mut Ctx<'_, O>,
    ) -> Result<bool, OracleError> {
        if !self.recombines() || self.dual.sets().len(block) < 2 {
            return Ok(false);
        }
        if ctx.recombine(block, self.dual.weights(), self.dual.sets().codes(block), &mut self.corner)? {
            self.dual.iterate().regularizer().fold_frozen(&mut self.corner);
            self.dual.insert(block, &self.corner, self.iterations as u32, ctx);
        }
        Ok(true)
    }
}
