//! The engine of the family: passes, and what a visit does in each kind of them.
//!
//! A visit costs one oracle call, or the scores of the planes kept; then O(stored coefficients).

mod rescaling;

use super::mechanics::Mechanics;
use super::{BlockFrankWolfe, StepRule};
use crate::cache::{GapCache, MultiPlane, Planes, Recombine, Slope, WorkingSets};
use crate::dual::DualState;
use crate::hull::{HullState, Move};
use crate::linalg;
use crate::oracle::{MaxOracle, OracleError};
use crate::order::{Seen, Visits};
use crate::plane::{Plane, PlaneView, Star};
use crate::point::DualPoint;
use crate::regularizer::Regularizer;
use crate::rescale::Rescale;
use crate::solver::{Ctx, Decisions, Progress, Solver, StepReport};
use crate::state::{self, StateError, expect};

/// Passes (exact and approximate) after which w and F are recomputed from the blocks.
const REBUILD_PASSES: u64 = 64;

/// Factor by which the remembered gap of a block grows each time that an approximate pass leaves it out.
const SKIP_AGING: f64 = 1.3;

/// Plain approximate steps that one with recombination costs, about.
const RECOMBINING: f64 = 3.0;

/// Where in an outer iteration the solver stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
enum Pass {
    /// The next step begins an outer iteration.
    Between,
    /// Corners come from the oracle, or from the gap-criterion cache where that is in use.
    Exact,
    /// Corners come from the planes kept.
    Approximate,
    /// Gaps are measured, nothing moves.
    Gap,
}

/// The state of a run of the family.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct BlockFrankWolfeSolver {
    #[serde(with = "crate::state::json")]
    config: BlockFrankWolfe,
    multi_plane: MultiPlane,
    gap_cache: Option<GapCache>,
    blocks: usize,
    mechanics: Mechanics,
    visits: Visits,
    slope: Slope,
    #[serde(skip)]
    corner: Plane,
    pass: Pass,
    visited: usize,
    /// Visits of the pass in hand.
    length: usize,
    iterations: u64,
    approximate_passes: u64,
    passes_of_iteration: u32,
    gaps: Gaps,
    decisions: Decisions,
    /// Approximate steps of the pass in hand, without blocks left out, and when the pass began.
    steps_of_pass: usize,
    pass_start: f64,
}

/// What is known of the block gaps.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Gaps {
    /// At the last oracle call, by block; infinite before the first.
    exact: Vec<f64>,
    /// Over the planes kept at the last visit, by block; ages while a block is left out.
    cached: Vec<f64>,
    /// Mean at the last gap pass; until then the largest loss seen, which bounds it.
    mean_exact: f64,
    measured: bool,
    /// Mean over the visits of the last pass.
    mean_visited: f64,
    sum: f64,
    visits: usize,
}

impl Gaps {
    fn new(blocks: usize) -> Self {
        let unknown = vec![f64::INFINITY; blocks];
        Gaps {
            exact: unknown.clone(),
            cached: unknown,
            mean_exact: 0.0,
            measured: false,
            mean_visited: 0.0,
            sum: 0.0,
            visits: 0,
        }
    }

    fn visit(&mut self, block: usize, gap: f64) {
        self.cached[block] = gap;
        self.sum += gap;
        self.visits += 1;
    }

    fn end_pass(&mut self) -> f64 {
        if self.visits == 0 {
            return self.mean_visited; // nothing was learned
        }
        let mean = self.sum / self.visits as f64;
        (self.sum, self.visits) = (0.0, 0);
        mean
    }
}

impl BlockFrankWolfeSolver {
    /// What does not fit in a state that is to take the place of `fresh`.
    fn fault(&self, fresh: &Self) -> Option<String> {
        let n = fresh.blocks;
        let gaps = self.gaps.exact.len() == n && self.gaps.cached.len() == n;
        let pass = self.visited < self.length && self.length <= n;
        expect(self.blocks == n && pass && gaps, "the number of examples")
            .or_else(|| self.config.fault())
            .or_else(|| self.mechanics.fault(&fresh.mechanics, n))
            .or_else(|| self.visits.fault(n))
    }

    pub(super) fn new(config: BlockFrankWolfe, blocks: usize, dim: usize, regularizer: Regularizer) -> Self {
        let multi_plane = match config.planes {
            Planes::MultiPlane(multi_plane) => multi_plane,
            _ => MultiPlane { max_planes: 0, ..MultiPlane::default() },
        };
        let averaging = config.averaging;
        let mechanics = match config.step {
            StepRule::FrankWolfe => Mechanics::Vectors {
                dual: Box::new(DualState::new(blocks, dim, regularizer, averaging)),
                sets: Box::new(WorkingSets::new(blocks)),
            },
            _ => Mechanics::Hull(Box::new(HullState::new(blocks, dim, regularizer, averaging))),
        };
        BlockFrankWolfeSolver {
            multi_plane,
            gap_cache: if let Planes::GapCache(cache) = config.planes { Some(cache) } else { None },
            blocks,
            mechanics,
            visits: Visits::new(config.order, blocks),
            slope: Slope::default(),
            corner: Plane::new(),
            pass: Pass::Between,
            visited: 0,
            length: blocks,
            iterations: 0,
            approximate_passes: 0,
            passes_of_iteration: 0,
            gaps: Gaps::new(blocks),
            decisions: Decisions { recombine: multi_plane.recombine == Recombine::Always, ..Decisions::default() },
            steps_of_pass: 0,
            pass_start: 0.0,
            config,
        }
    }

    /// The dual state, where blocks are kept as vectors (Frank-Wolfe steps). For inspection.
    pub fn dual(&self) -> Option<&DualState> {
        match &self.mechanics {
            Mechanics::Vectors { dual, .. } => Some(dual),
            Mechanics::Hull(_) => None,
        }
    }

    /// The dual state, where blocks are kept as masses over planes (all other steps). For inspection.
    pub fn hull(&self) -> Option<&HullState> {
        match &self.mechanics {
            Mechanics::Vectors { .. } => None,
            Mechanics::Hull(hull) => Some(hull),
        }
    }

    fn how(&self) -> Move {
        match self.config.step {
            StepRule::FrankWolfe => Move::FrankWolfe,
            StepRule::Pairwise => Move::Pairwise,
            StepRule::Away => Move::Away,
            StepRule::Best => Move::Best,
            StepRule::Solve(solve) => Move::Solve(solve.accuracy * self.gaps.mean_visited),
        }
    }

    /// Whether planes are kept beyond those with mass.
    fn keeps_planes(&self) -> bool {
        self.multi_plane.max_planes > 0 || self.gap_cache.is_some()
    }

    /// A visit of an exact pass: the cached corner where it is good enough, else the oracle's.
    fn exact_visit<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) -> Result<(), OracleError> {
        let block = self.visits.next(ctx.rng);
        if let Some(next) = self.visits.upcoming() {
            ctx.expect(next);
            self.mechanics.prefetch(next, self.gap_cache.is_some());
        }
        if let Some(cache) = self.gap_cache
            && self.gaps.exact[block].is_finite()
        {
            ctx.charge_planes(self.mechanics.sets().len(block));
            let gap = self.mechanics.cached_gap(block, ctx);
            if cache.is_hit(gap, self.gaps.exact[block], self.gaps.mean_exact) {
                ctx.count_cached();
                self.mechanics.cached(block, self.how(), self.iterations as u32, ctx);
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
        match self.gap_cache {
            Some(cache) => self.mechanics.prune_lowest(block, cache.max_planes as usize),
            None => {
                let full = self.mechanics.sets().bytes() >> 20 >= self.multi_plane.max_megabytes as usize;
                let oldest = if full { now } else { now.saturating_sub(self.multi_plane.max_idle) };
                self.mechanics.prune(block, oldest, self.multi_plane.max_planes as usize);
            }
        }
        Ok(())
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
    fn approximate_visit<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) -> Result<(), OracleError> {
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
                ctx.expect(next);
            }
        }
        self.steps_of_pass += 1;
        if self.decisions.recombine && self.mechanics.sets().len(block) > 1 {
            self.recombine(block, ctx)?;
        }
        let visit = self.mechanics.cached(block, self.how(), self.iterations as u32, ctx);
        self.gaps.visit(block, visit.gap);
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

    /// Measures the gap of the next block; nothing moves.
    fn gap_visit<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) -> Result<(), OracleError> {
        let block = self.visited;
        ctx.maximize_ahead(block..self.blocks, self.mechanics.weights(), &mut self.corner)?;
        self.mechanics.iterate().regularizer().fold_frozen(&mut self.corner);
        let corner = self.corner.view();
        let corner = if corner.score(self.mechanics.weights()) < 0.0 { PlaneView::ZERO } else { corner };
        let gap = self.mechanics.exact_gap(block, corner, ctx);
        self.learn(block, gap);
        self.gaps.visit(block, gap);
        Ok(())
    }

    /// Whether a gap pass is due.
    fn gap_pass_due(&self) -> bool {
        let by_gaps = self.visits.wants_gap_passes() || self.gap_cache.is_some();
        let every = u64::from(self.config.gap_check);
        by_gaps && every > 0 && self.iterations.is_multiple_of(every)
    }

    /// Whether a further approximate pass follows the pass that just ended.
    fn another_pass(&self, now: f64) -> bool {
        let limit = self.multi_plane.pass_limit();
        let by_slope = self.multi_plane.slope_rule;
        self.passes_of_iteration < limit
            && (self.pass == Pass::Exact || self.slope.go_on(now, self.mechanics.value(), by_slope))
    }

    /// Measures what calls and approximate steps cost, and decides by it.
    fn decide<O: MaxOracle + ?Sized>(&mut self, ctx: &Ctx<'_, O>) {
        let decisions = &mut self.decisions;
        decisions.call_seconds = ctx.call_seconds();
        if self.pass == Pass::Approximate && self.steps_of_pass > 0 {
            // A step that recombines costs several that do not; what is compared is the plain step.
            let share = if decisions.recombine { 1.0 / RECOMBINING } else { 1.0 };
            let mean = share * (ctx.now() - self.pass_start) / self.steps_of_pass as f64;
            let old = if decisions.step_seconds > 0.0 { decisions.step_seconds } else { mean };
            decisions.step_seconds = 0.9 * old + 0.1 * mean;
        }
        if self.pass == Pass::Exact {
            decisions.exact_visits = self.length;
        }
        decisions.kept_bytes = self.mechanics.sets().bytes();
        decisions.approximate_passes = self.passes_of_iteration;
        decisions.recombine = self.multi_plane.recombine.pays(decisions.call_seconds, decisions.step_seconds);
        self.steps_of_pass = 0;
        self.pass_start = ctx.now();
    }

    /// Ends a pass; returns whether the outer iteration ends with it.
    fn end_pass<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) -> bool {
        let mean = self.gaps.end_pass();
        if self.pass == Pass::Gap {
            self.gaps.mean_exact = mean;
            self.gaps.measured = true;
            return self.end_iteration();
        }
        self.gaps.mean_visited = mean;
        self.decide(ctx);
        if (self.iterations + self.approximate_passes).is_multiple_of(REBUILD_PASSES) {
            self.mechanics.rebuild(ctx);
        }
        if self.another_pass(ctx.now()) {
            self.pass = Pass::Approximate;
            self.passes_of_iteration += 1;
            self.approximate_passes += 1;
            self.slope.begin_pass(ctx.now(), self.mechanics.value());
            self.visits.begin_pass(ctx.rng, true);
            self.length = self.blocks;
            return false;
        }
        if self.gap_pass_due() {
            self.pass = Pass::Gap;
            self.length = self.blocks;
            return false;
        }
        self.end_iteration()
    }

    fn end_iteration(&mut self) -> bool {
        self.mechanics.end_iteration();
        self.pass = Pass::Between;
        true
    }
}

impl<O: MaxOracle + ?Sized> Solver<O> for BlockFrankWolfeSolver {
    fn step(&mut self, ctx: &mut Ctx<'_, O>) -> Result<StepReport, OracleError> {
        if self.pass == Pass::Between {
            self.pass = Pass::Exact;
            self.iterations += 1;
            self.passes_of_iteration = 0;
            self.slope.begin_iteration(ctx.now(), self.mechanics.value());
            self.visits.begin_pass(ctx.rng, false);
            self.length = self.visits.length();
        }
        match self.pass {
            Pass::Approximate => self.approximate_visit(ctx)?,
            Pass::Gap => self.gap_visit(ctx)?,
            Pass::Exact | Pass::Between => self.exact_visit(ctx)?,
        }
        self.visited += 1;
        if self.visited < self.length {
            return Ok(StepReport::default());
        }
        self.visited = 0;
        Ok(StepReport { iteration_ended: self.end_pass(ctx) })
    }

    fn answer(&self, w: &mut Vec<f64>) -> Option<f64> {
        Some(self.mechanics.answer(w))
    }

    fn alternative(&self, w: &mut Vec<f64>) -> Option<f64> {
        self.mechanics.iterate().alternative(w)
    }

    fn rescaling(&mut self) -> Option<&mut dyn Rescale<O>> {
        Some(self)
    }

    fn progress(&self) -> Progress {
        let chooses = self.multi_plane.recombine == Recombine::WhenCheap;
        Progress {
            decisions: chooses.then_some(self.decisions),
            iterations: self.iterations,
            approximate_passes: self.approximate_passes,
            planes: Some(self.mechanics.sets().planes() as f64 / self.blocks as f64),
            dual: Some(self.mechanics.value()),
        }
    }

    fn save(&self, out: &mut Vec<u8>) -> Result<(), StateError> {
        state::encode(self, out)
    }

    fn restore(&mut self, state: &[u8], oracle: &O) -> Result<(), StateError> {
        let known = |other: &Self| other.mechanics.sets().has_only(|block, code| oracle.is_code(block, code));
        *self = state::decode(state, |other: &Self| {
            other.fault(self).or_else(|| expect(known(other), "a labelling that the oracle does not know"))
        })?;
        Ok(())
    }

    fn dual_points(&self) -> Vec<DualPoint<'_>> {
        self.mechanics.points()
    }
}
