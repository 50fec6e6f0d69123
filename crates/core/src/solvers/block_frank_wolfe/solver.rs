//! The engine of the family: Alg. 3 of the MP-BCFW paper with its dials, one visit at a time.
//!
//! A visit costs one oracle call, or the scores of the planes kept; then O(stored coefficients).

use super::batch_step::BatchStep;
use super::call_batch::CallBatch;
use super::config::{BlockFrankWolfe, GapStep};
use super::given::PrepaidCalls;
use super::pace::{GapsMet, PassBudget};
use crate::average::UpdateKind;
use crate::cache::{Joint, MultiPlane, Planes};
use crate::context::Ctx;
use crate::dual::{BlockDual, BlockVisit};
use crate::gaps::GapTable;
use crate::oracle::{MaxOracle, OracleError};
use crate::order::{BlockOrder, Visiting};
use crate::plane::{Plane, PlaneView};
use crate::regularizer::Regularizer;
use crate::state::{StateError, ensure};

/// Passes (exact and approximate) after which w and F are recomputed from the blocks.
const REBUILD_PASSES: u64 = 64;

/// Accuracy of joint solves, as a share of the gaps that the last approximate pass met.
const JOINT_ACCURACY: f64 = 1e-6;

/// A joint solve is skipped if the gap over the planes kept is below this share of the run's target gap.
const NEGLIGIBLE: f64 = 0.1;

/// A pass over the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) enum PassKind {
    /// Corners come from the oracle, or from the gap-criterion cache if that is in use.
    Exact,
    /// Corners come from the planes kept.
    Approximate,
    /// Gaps are measured; nothing moves before the last of them.
    Gap,
}

/// The state of a run of the family, on a dual point that its step rule can work with: [`VectorDual`] for Frank-Wolfe
/// steps, [`HullState`] for all others.
///
/// [`VectorDual`]: crate::dual::VectorDual
/// [`HullState`]: crate::hull::HullState
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(bound = "D: BlockDual")]
pub struct BlockFrankWolfeSolver<D> {
    #[serde(with = "crate::state::json")]
    pub(super) config: BlockFrankWolfe,
    pub(super) dual: D,
    pub(super) order: BlockOrder,
    pub(super) gaps: GapTable,
    pub(super) pace: PassBudget,
    batch_step: Option<BatchStep>,
    /// The pass in hand; `None` between outer iterations.
    pub(super) pass: Option<PassKind>,
    /// Visits made of the pass in hand, or of the batch of an exact one, and all that it makes.
    pub(super) visited: usize,
    pub(super) length: usize,
    /// Visits that the exact pass makes after its batch in hand.
    pub(super) calls_left: usize,
    /// Calls at one w.
    pub(super) batch: CallBatch,
    pub(super) iterations: u64,
    pub(super) approximate_passes: u64,
    /// Answers that an evaluation has brought.
    pub(super) given: PrepaidCalls,
    #[serde(skip)]
    pub(super) corner: Plane,
    /// The part of an outer iteration in hand, of a run that is asked to divide them.
    #[serde(skip)]
    pub(super) part: Part,
}

/// The part of an outer iteration in hand.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Part {
    /// Visits of an exact pass that it has; 0 where iterations are not divided.
    pub(super) length: usize,
    /// Those that were begun.
    pub(super) visits: usize,
}

impl Part {
    /// Returns whether the part has all of its visits.
    pub(super) fn is_long(self) -> bool {
        self.visits >= self.length
    }

    /// Returns the visits that may follow at once, of so many.
    fn at_most(self, visits: usize) -> usize {
        if self.length == 0 { visits } else { self.length.saturating_sub(self.visits).clamp(1, visits) }
    }
}

impl<D: BlockDual> BlockFrankWolfeSolver<D> {
    /// Returns a solver that has not begun, for `blocks` examples and `dim` weights.
    ///
    /// # Panics
    ///
    /// If the dual point cannot make steps by the rule of `config`; [`BlockFrankWolfe::solver`] chooses one that can.
    pub fn new(config: BlockFrankWolfe, blocks: usize, dim: usize, regularizer: Regularizer) -> Self {
        assert!(D::makes(config.step), "this dual point cannot make steps {:?}", config.step);
        BlockFrankWolfeSolver {
            dual: D::new(blocks, dim, regularizer, config.averaging),
            order: BlockOrder::new(config.order, blocks),
            gaps: GapTable::new(blocks),
            pace: PassBudget::new(config.recombine()),
            batch_step: (config.gap_step == GapStep::Batch).then(BatchStep::default),
            pass: None,
            visited: 0,
            length: blocks,
            calls_left: 0,
            batch: CallBatch::default(),
            iterations: 0,
            approximate_passes: 0,
            given: PrepaidCalls::default(),
            corner: Plane::new(),
            part: Part::default(),
            config,
        }
    }

    /// Returns the dual point. For inspection.
    pub fn dual(&self) -> &D {
        &self.dual
    }

    /// Makes one visit of Alg. 3 and what follows from it; returns whether an outer iteration ended, or a batch of one
    /// with what follows it. Lines are those of the paper (1 to 3, every block on its truth and empty working sets, are
    /// [`new`](BlockFrankWolfeSolver::new)). Not in the paper: further answers without a call, cached
    /// corners in the place of calls, blocks that wait, recombination, gap passes.
    pub(super) fn visit<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) -> Result<bool, OracleError> {
        let pass = match self.pass {
            Some(pass) => pass,
            None => self.begin_iteration(ctx), // line 4: repeat
        };
        let (rule, mean_gap, now) = (self.config.step, self.gaps.mean_visited(), self.iterations as u32);
        match pass {
            // Line 5: one pass in random order, BCFW updates with the term H_i itself. If planes are kept, the answer
            // joins W_i. N applies here, and so does T of line 6: ages change only by outer iteration.
            PassKind::Exact => {
                let block = self.order.next(ctx.rng);
                self.dual.iterate_mut().open(block);
                self.prefetch(pass, ctx);
                if !self.step_to_given(block, ctx) && !self.step_to_cached(block, ctx) {
                    self.call(block, ctx)?;
                    self.dual.iterate().regularizer().fold_frozen(&mut self.corner);
                    ctx.charge_planes(2 * self.dual.sets().len(block) + 1); // keeping its plane, and the step
                    let (keep, here) = (self.config.keeps_planes(), self.batch.calls().is_none());
                    let (step, further) = {
                        let mut visit = self.dual.visit_with(block, &self.corner, keep, now, ctx);
                        let made = match here {
                            true => visit.step_after_call(rule, mean_gap, now, ctx),
                            false => (visit.step(rule, mean_gap, UpdateKind::Exact, ctx), 0),
                        };
                        if let Planes::GapCache(cache) = self.config.planes {
                            visit.prune_lowest(cache.max_planes as usize, ctx);
                        }
                        made
                    };
                    if further > 0 {
                        ctx.charge_planes(2 * further); // the same for answers that took no call
                    }
                    self.learn(block, step.gap);
                    self.prune_idle(block);
                }
            }
            // Line 6: up to M passes (see `PassBudget`), BCFW updates with the term over the planes kept; the best is active.
            PassKind::Approximate => {
                let block = self.order.next(ctx.rng);
                self.dual.iterate_mut().open(block);
                self.prefetch(pass, ctx);
                self.count_cached(block, ctx);
                let recombined = self.recombine(block, ctx)?;
                let step = {
                    let mut visit = self.dual.visit(block, ctx);
                    visit.touch(now);
                    visit.step(rule, mean_gap, UpdateKind::Approximate, ctx)
                };
                self.gaps.visit(block, step.gap);
                if recombined {
                    self.prune_older(block, 0); // only now, so that the new plane had its chance to get mass
                }
            }
            PassKind::Gap => self.measure(self.visited, ctx)?,
        }
        self.visited += 1;
        self.dual.iterate_mut().close();
        if self.visited < self.length {
            return Ok(false);
        }
        self.dual.iterate_mut().catch_up();
        self.visited = 0;
        self.pass = self.pass_after(pass, ctx);
        if self.pass.is_none() && self.calls_left == 0 {
            self.dual.iterate_mut().end_pass();
        }
        Ok(self.pass.is_none()) // line 7: end repeat
    }

    /// Begins an exact pass, or goes on with its next batch of calls.
    fn begin_iteration<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) -> PassKind {
        self.pass = Some(PassKind::Exact);
        self.pace.begin_calls(ctx.now(), self.dual.value());
        if self.calls_left == 0 {
            self.iterations += 1;
            self.begin_pass(Visiting::Calls, ctx);
            self.calls_left = self.length;
            self.pace.begin_exact_pass(self.length);
            self.begin_batch(ctx);
        } else {
            self.order.resume_calls();
        }
        self.length = self.batch.calls().unwrap_or(self.part.at_most(self.calls_left));
        self.part.visits += self.length;
        self.pace.follow(self.batch.calls().map(|calls| calls as f64 / self.gaps.blocks() as f64));
        self.calls_left -= self.length;
        PassKind::Exact
    }

    /// Begins approximate passes that follow no calls, over all blocks first: w has moved.
    pub(super) fn begin_replay<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) {
        self.pass = Some(PassKind::Approximate);
        self.pace.begin_calls(ctx.now(), self.dual.value());
        self.approximate_passes += 1;
        self.pace.begin_pass(ctx.now(), self.dual.value());
        self.begin_pass(Visiting::Planes { wait_below: f64::NEG_INFINITY }, ctx);
    }

    fn begin_pass<O: MaxOracle + ?Sized>(&mut self, visiting: Visiting, ctx: &mut Ctx<'_, O>) {
        self.order.begin_pass(ctx.rng, &mut self.gaps, visiting);
        self.length = self.order.length();
        ctx.charge_waiting(self.gaps.blocks() - self.length);
    }

    /// Ends `pass` and returns the one that follows in the same outer iteration, begun.
    fn pass_after<O: MaxOracle + ?Sized>(&mut self, pass: PassKind, ctx: &mut Ctx<'_, O>) -> Option<PassKind> {
        if pass == PassKind::Gap {
            self.gaps.end_gap_pass();
            self.step_together(ctx);
            return None;
        }
        self.gaps.end_pass();
        let (exact, recombined) = (pass == PassKind::Exact, self.recombines());
        self.pace.end_pass(exact, self.dual.sets().bytes(), recombined, self.config.recombine(), ctx);
        let pass_ended = !exact || self.calls_left == 0;
        if pass_ended && (self.iterations + self.approximate_passes).is_multiple_of(REBUILD_PASSES) {
            self.dual.rebuild(ctx);
        }
        if exact {
            self.batch.end();
            self.begin_batch(ctx);
        }
        let solved = !exact && self.solve_jointly(ctx);
        let (by_calls, wanted) = (self.gaps.seen().unwrap_or(f64::INFINITY), ctx.gap_wanted(self.dual.value()));
        let met = GapsMet { in_pass: self.gap_met(), by_calls, wanted };
        if let Planes::MultiPlane(planes) = &self.config.planes
            && !solved
            && self.pace.another_pass(planes, exact, met, ctx.now(), self.dual.value())
        {
            self.approximate_passes += 1;
            self.pace.begin_pass(ctx.now(), self.dual.value());
            self.begin_pass(Visiting::Planes { wait_below: self.wait_below() }, ctx);
            return Some(PassKind::Approximate);
        }
        if self.calls_left > 0 || !self.gap_pass_due() {
            return None;
        }
        self.length = self.gaps.blocks();
        if let Some(batch) = &mut self.batch_step {
            batch.begin(self.dual.weights().len());
        }
        Some(PassKind::Gap)
    }

    /// Moves the masses of all blocks at once after an approximate pass, if that pays; returns whether it did.
    fn solve_jointly<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) -> bool {
        let Planes::MultiPlane(MultiPlane { joint: Joint::ByCost, .. }) = self.config.planes else { return false };
        let (met, before) = (self.gap_met(), self.dual.value());
        let Some(price) = self.dual.joint_price(ctx) else { return false };
        let wanted = ctx.gap_wanted(before);
        if met <= NEGLIGIBLE * wanted || !self.pace.joint_pays(price, met, ctx.now(), before) {
            return false;
        }
        let start = ctx.now();
        let seconds = self.dual.solve_jointly(JOINT_ACCURACY * met, self.iterations as u32, ctx);
        ctx.charge(seconds);
        let (seconds, value) = (ctx.now() - start, self.dual.value());
        self.pace.end_joint(seconds, value - before, met, ctx.now(), value);
        true
    }

    /// Returns the sum of the gaps that the pass just made met.
    fn gap_met(&self) -> f64 {
        self.gaps.mean_visited() * self.length as f64
    }

    /// Leaves the outer iteration in hand, and answers that were fetched for it.
    pub(super) fn leave_iteration<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) {
        ctx.forget_ahead();
        (self.pass, self.visited, self.calls_left) = (None, 0, 0);
        self.batch.end();
        self.given.clear();
        self.pace.forget_pass();
        self.batch_step.iter_mut().for_each(BatchStep::forget);
    }

    fn gap_pass_due(&self) -> bool {
        let every = u64::from(self.config.gap_check);
        let periodic = every > 0 && self.iterations.is_multiple_of(every);
        self.config.makes_gap_passes() && (periodic || self.gaps.fell_below(self.config.gap_check_below))
    }

    /// Prefetches the next blocks, if they are settled.
    fn prefetch<O: MaxOracle + ?Sized>(&self, pass: PassKind, ctx: &Ctx<'_, O>) {
        let mut settled = self.order.settled().iter().map(|&block| block as usize);
        let (next, soon) = (settled.next(), settled.next());
        if let Some(soon) = soon {
            self.dual.prefetch_early(soon);
            ctx.prefetch_early(soon);
        }
        if let Some(next) = next {
            let scored = pass == PassKind::Approximate || matches!(self.config.planes, Planes::GapCache(_));
            if self.dual.prefetch(next, scored) || pass == PassKind::Exact {
                ctx.prefetch(next);
            }
        }
    }

    fn count_cached<O: MaxOracle + ?Sized>(&mut self, block: usize, ctx: &mut Ctx<'_, O>) {
        ctx.charge_planes(self.dual.sets().len(block));
        ctx.count_cached();
        self.pace.count_step();
    }

    /// Learns the gap of a block from a call of the oracle, whose answer is the corner.
    pub(super) fn learn(&mut self, block: usize, gap: f64) {
        let corner = self.corner.view();
        self.gaps.learn(block, gap, corner.circ);
        self.gaps.visit(block, gap);
        if self.order.is_adaptive() {
            self.order.observe(block, &self.gaps, self.dual.iterate().curvature(block, corner.star));
        }
    }

    /// Measures the gap of a block, and remembers its corner if the pass ends with a step.
    fn measure<O: MaxOracle + ?Sized>(&mut self, block: usize, ctx: &mut Ctx<'_, O>) -> Result<(), OracleError> {
        ctx.maximize_ahead(block..self.gaps.blocks(), self.dual.weights(), &mut self.corner)?;
        self.dual.iterate().regularizer().fold_frozen(&mut self.corner);
        let corner = self.corner.view();
        let corner = if corner.score(self.dual.weights()) < 0.0 { PlaneView::ZERO } else { corner };
        let gap = self.dual.gap_at(block, corner, ctx);
        if let Some(batch) = &mut self.batch_step {
            let is_truth = corner == PlaneView::ZERO;
            let now = self.iterations as u32;
            let kept = if is_truth { None } else { self.dual.insert(block, &self.corner, now, ctx) };
            batch.add(corner, kept);
        }
        self.learn(block, gap);
        Ok(())
    }

    /// Ends a gap pass: steps toward its corners, and drops those that are not to be kept.
    fn step_together<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) {
        let Some(batch) = &mut self.batch_step else { return };
        batch.step(&mut self.dual);
        for block in 0..self.gaps.blocks() {
            ctx.charge_planes(1);
            match self.config.planes {
                Planes::GapCache(cache) if self.dual.sets().len(block) > cache.max_planes as usize => {
                    self.dual.visit(block, ctx).prune_lowest(cache.max_planes as usize, ctx);
                }
                _ => self.prune_idle(block),
            }
        }
    }

    /// Drops the planes of a block that were idle for too long; at the limit of memory, all idle ones.
    pub(super) fn prune_idle(&mut self, block: usize) {
        let now = self.iterations as u32;
        let oldest = match self.config.planes {
            Planes::MultiPlane(planes) if !self.is_full() => now.saturating_sub(planes.max_idle),
            _ => now,
        };
        self.prune_older(block, oldest);
    }

    /// Returns whether the planes kept have reached the limit of memory.
    pub(super) fn is_full(&self) -> bool {
        let limit = match self.config.planes {
            Planes::MultiPlane(planes) => planes.max_megabytes as usize,
            _ => return false,
        };
        self.dual.sets().bytes() >> 20 >= limit
    }

    /// Drops the planes of a block last active before `oldest`, then the oldest ones beyond the limit.
    pub(super) fn prune_older(&mut self, block: usize, oldest: u32) {
        let limit = match self.config.planes {
            Planes::None => 0,
            Planes::MultiPlane(planes) => planes.max_planes as usize,
            Planes::GapCache(_) => return,
        };
        self.dual.sets_mut().prune(block, oldest, limit);
    }

    /// Refuses a state that cannot take the place of `fresh`.
    pub(super) fn check_fields(&self, fresh: &Self) -> Result<(), StateError> {
        let (n, dim) = (fresh.gaps.blocks(), fresh.dual.weights().len());
        let same_regularizer = self.dual.iterate().regularizer() == fresh.dual.iterate().regularizer();
        let kept = |block: usize| self.dual.sets().len(block);
        let batch = match (&self.batch_step, &fresh.batch_step) {
            (Some(batch), Some(_)) if self.pass == Some(PassKind::Gap) => batch.is_sound(self.visited, dim, kept),
            (Some(batch), Some(_)) => batch.is_sound(0, 0, kept),
            (batch, wanted) => batch.is_some() == wanted.is_some(),
        };
        ensure(self.config == fresh.config, "the parameters")?;
        let exact = self.pass == Some(PassKind::Exact);
        let calls = if exact { self.length } else { 0 } + self.calls_left;
        let lengths = self.visited < self.length && self.length <= n && calls <= n;
        let of_batch =
            self.batch.calls().is_none_or(|calls| if exact { calls == self.length } else { calls <= self.calls_left });
        ensure(lengths, "the number of examples")?;
        self.gaps.check(n)?;
        self.dual.check(n, dim)?;
        ensure(same_regularizer, "the regulariser")?;
        self.order.check(n)?;
        ensure(batch, "the corners of a gap pass")?;
        ensure(of_batch && self.batch.is_sound(dim), "the calls at one w")?;
        ensure(self.given.is_sound(n), "the answers that an evaluation brought")
    }
}
