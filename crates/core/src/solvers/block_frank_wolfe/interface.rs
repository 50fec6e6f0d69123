//! The engine as a [`Solver`], and as one that can go on at another lambda.

use super::config::BlockFrankWolfe;
use super::solver::BlockFrankWolfeSolver;
use crate::block_point::{BlockPoint, BlockSource, MassPlane, taken_apart};
use crate::cache::{Planes, Recombine};
use crate::certificate::DualCertificate;
use crate::context::Ctx;
use crate::dual::{BlockDual, BlockVisit, StepRule, VectorDual};
use crate::hull::HullState;
use crate::oracle::{Capabilities, MaxOracle, OracleError};
use crate::order::{BlockOrder, Order, Shrinking};
use crate::plane::{Plane, PlaneView};
use crate::regularizer::Regularizer;
use crate::rounding::{Rounded, Rounding, TermSizes};
use crate::solver::{
    Details, Handover, PlaneKeeper, Rescale, ShardSolver, Solver, SolverProgress, StepReport, WarmStart,
};
use crate::state::{SavedState, StateError, ensure};

/// After an update, passes that leave out blocks of small gap leave out those below this share of the mean: most
/// blocks are as good as before, and few need many calls.
const SKIP_BELOW_AFTER_UPDATE: f64 = 1.0;

impl BlockFrankWolfe {
    /// Builds a solver with these parameters for `blocks` examples and `dim` weights, on the dual point that the step
    /// rule needs.
    pub fn solver<O: MaxOracle + ?Sized>(
        self,
        blocks: usize,
        dim: usize,
        regularizer: impl Into<Regularizer>,
    ) -> Box<dyn Solver<O>> {
        let regularizer = regularizer.into();
        match self.step {
            StepRule::FrankWolfe => Box::new(BlockFrankWolfeSolver::<VectorDual>::new(self, blocks, dim, regularizer)),
            _ => Box::new(BlockFrankWolfeSolver::<HullState>::new(self, blocks, dim, regularizer)),
        }
    }
}

impl<O: MaxOracle + ?Sized, D: BlockDual> SavedState<O> for BlockFrankWolfeSolver<D> {
    fn complete(&mut self, fresh: &Self) {
        self.dual.attach(fresh.dual.iterate().metric());
    }

    fn check_settled(&self) -> Result<(), StateError> {
        ensure(self.dual.iterate().is_up_to_date(), "the rows that wait")
    }

    fn check(&self, fresh: &Self, oracle: &mut O) -> Result<(), StateError> {
        self.check_fields(fresh)?;
        self.dual.sets().check_codes(oracle.capabilities())
    }
}

impl<O: MaxOracle + ?Sized, D: BlockDual> Solver<O> for BlockFrankWolfeSolver<D> {
    fn step(&mut self, ctx: &mut Ctx<'_, O>) -> Result<StepReport, OracleError> {
        let ended = self.visit(ctx)?;
        let all = self.calls_left == 0;
        let ended = ended && (all || self.part.is_long());
        if ended {
            self.part.visits = 0;
        }
        Ok(StepReport { iteration_ended: ended && all, part_ended: ended && !all, is_last: false })
    }

    fn catch_up(&mut self) {
        self.dual.iterate_mut().catch_up();
    }

    fn answer(&self, w: &mut Vec<f64>) -> Option<f64> {
        Some(self.dual.iterate().answer(w))
    }

    fn alternative(&self, w: &mut Vec<f64>) -> Option<f64> {
        self.dual.iterate().alternative(w)
    }

    fn rounded_duals(&self, rounding: &Rounding, mut source: &mut dyn Capabilities, out: &mut Vec<Rounded>) {
        self.dual.rounded(rounding, &mut source, out);
    }

    fn keeper(&mut self) -> Option<&mut dyn PlaneKeeper<O>> {
        Some(self)
    }

    fn rescaling(&mut self) -> Option<&mut dyn Rescale<O>> {
        Some(self)
    }

    fn rebuild(&mut self, ctx: &mut Ctx<'_, O>) {
        let lambda = self.dual.iterate().lambda();
        self.rescale(lambda, WarmStart::KeepDual, ctx);
    }

    fn progress(&self) -> SolverProgress {
        SolverProgress {
            iterations: self.iterations,
            approximate_passes: self.approximate_passes,
            planes: Some(self.dual.sets().planes() as f64 / self.gaps.blocks() as f64),
            dual: Some(self.dual.value()),
            gap_seen: self.gaps.seen(),
            ..SolverProgress::default()
        }
    }

    fn details(&self) -> Option<Details> {
        let chooses = self.config.recombine() == Recombine::WhenCheap;
        chooses.then(|| self.pace.details())
    }

    fn dual_points(&self) -> Vec<DualCertificate<'_>> {
        [self.dual.point()].into_iter().chain(self.dual.iterate().averaged_points()).collect()
    }
}

/// The blocks are scaled, the planes kept stay, and so do estimates of gaps where they can be brought along.
impl<O: MaxOracle + ?Sized, D: BlockDual> Rescale<O> for BlockFrankWolfeSolver<D> {
    fn rescale(&mut self, lambda: f64, start: WarmStart, ctx: &mut Ctx<'_, O>) {
        let before = self.dual.iterate().lambda();
        let scale = match start {
            WarmStart::KeepPrimal => {
                debug_assert!(lambda <= before, "masses would be negative");
                let scale = start.scale(before, lambda);
                // Every gap g_i becomes g_i + (1 - scale) score(phi^i; w): exact for one that was, an estimate for others.
                let dual = &mut self.dual;
                self.gaps.raise(|block| -(1.0 - scale) * dual.gap_at(block, PlaneView::ZERO, ctx));
                scale
            }
            WarmStart::KeepDual => {
                self.gaps.forget();
                1.0
            }
        };
        self.dual.rescale(lambda, scale, ctx);
        self.order = BlockOrder::new(self.config.order, self.gaps.blocks()); // all are seen before any is favoured
        self.leave_iteration(ctx);
    }

    fn place(&mut self, block: usize, corner: &mut Plane, ctx: &mut Ctx<'_, O>) {
        self.dual.iterate().regularizer().fold_frozen(corner);
        let corner = MassPlane::all(corner, self.config.keeps_planes());
        self.dual.place(block, &[corner], self.iterations as u32, ctx);
    }

    fn point(&self, w: &mut Vec<f64>) -> f64 {
        w.clear();
        w.extend_from_slice(self.dual.iterate().point());
        self.dual.value()
    }

    fn handover(&mut self) -> Option<&mut dyn Handover<O>> {
        Some(self)
    }

    fn shard(&mut self) -> Option<&mut dyn ShardSolver<O>> {
        Some(self)
    }
}

impl<O: MaxOracle + ?Sized, D: BlockDual> Handover<O> for BlockFrankWolfeSolver<D> {
    fn hand_over(&self) -> Vec<BlockPoint> {
        taken_apart(self.dual.point(), self.dual.sets(), |block| self.gaps.exact(block))
    }

    fn take_over(&mut self, blocks: &mut BlockSource<'_>, ctx: &mut Ctx<'_, O>) {
        let mut gaps = vec![f64::INFINITY; self.gaps.blocks()];
        for (block, gap) in gaps.iter_mut().enumerate() {
            let mut point = blocks(block);
            for part in &mut point.planes {
                self.dual.iterate().regularizer().fold_frozen(&mut part.plane);
            }
            self.dual.place(block, &point.planes, 0, ctx);
            *gap = point.gap;
        }
        Solver::rebuild(self, ctx);
        for (block, gap) in gaps.into_iter().enumerate().filter(|(_, gap)| gap.is_finite()) {
            self.gaps.learn(block, gap, 0.0);
        }
        if let Order::Shrinking(shrinking) = self.config.order {
            let skip_below = shrinking.skip_below.max(SKIP_BELOW_AFTER_UPDATE);
            self.order = BlockOrder::new(Order::Shrinking(Shrinking { skip_below, ..shrinking }), self.gaps.blocks());
        }
        if matches!(self.config.planes, Planes::MultiPlane(planes) if planes.pass_limit() > 0) {
            self.pace.follow_update();
            self.begin_replay(ctx); // what is known of the examples may be enough
        }
    }
}

impl<O: MaxOracle + ?Sized, D: BlockDual> ShardSolver<O> for BlockFrankWolfeSolver<D> {
    fn relocate(&mut self, lambda: f64, prior: &[f64], ctx: &mut Ctx<'_, O>) {
        self.dual.iterate_mut().relocate(lambda, prior);
        self.dual.rebuild(ctx);
        if self.calls_left > 0 {
            self.batch.end();
            self.begin_batch(ctx); // at these weights
        }
    }

    fn divide(&mut self, calls: usize) {
        self.part.length = calls;
    }

    fn replay(&mut self, ctx: &mut Ctx<'_, O>) {
        self.begin_replay(ctx);
    }

    fn add_phi(&self, sum: &mut [f64], ctx: &mut Ctx<'_, O>) -> Option<(f64, f64)> {
        self.dual.add_phi(ctx, sum)
    }

    fn seen(&self, w: &[f64]) -> TermSizes {
        self.dual.sets().seen(w)
    }
}

/// Every plane of a working set bounds the hinge; what an evaluation brings goes into the sets.
impl<O: MaxOracle + ?Sized, D: BlockDual> PlaneKeeper<O> for BlockFrankWolfeSolver<D> {
    fn hinge_kept(&mut self, block: usize, w: &[f64], ctx: &mut Ctx<'_, O>) -> f64 {
        ctx.charge_planes(self.dual.sets().len(block));
        self.dual.hinge_kept(block, w, ctx)
    }

    fn gap_seen(&self, block: usize) -> f64 {
        self.gaps.exact(block)
    }

    fn takes(&self) -> bool {
        self.config.keep_evaluations
    }

    fn take(&mut self, block: usize, answer: &mut Plane, ctx: &mut Ctx<'_, O>) {
        std::mem::swap(&mut self.corner, answer);
        self.dual.iterate().regularizer().fold_frozen(&mut self.corner);
        self.dual.insert(block, &self.corner, self.iterations as u32, ctx);
        let gap = {
            let mut visit = self.dual.visit(block, ctx);
            let gap = visit.gap(); // at the present w, and the best of all kept: w may be another one
            if let Planes::GapCache(cache) = self.config.planes {
                visit.prune_lowest(cache.max_planes as usize, ctx);
            }
            gap
        };
        self.learn(block, gap);
        if self.is_full() {
            self.prune_idle(block); // the block may not be visited soon
        }
        self.given.book(block, self.gaps.blocks(), self.iterations);
    }
}
