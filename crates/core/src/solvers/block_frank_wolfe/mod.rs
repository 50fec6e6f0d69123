//! The block-coordinate Frank-Wolfe family: one engine, four dials (order, step, planes kept, averaging).
//!
//! BCFW (Lacoste-Julien et al. 2013) moves one example's plane toward the oracle's answer per visit. MP-BCFW
//! (Shah, Kolmogorov, Lampert 2015, Alg. 3) adds, after each exact pass, passes in which the corner is the best
//! plane kept. A visit costs one oracle call, or the scores of the planes kept; then O(stored coefficients).

mod mechanics;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::average::Averaging;
use crate::cache::{MultiPlane, Planes, Slope, WorkingSets};
use crate::dual::DualState;
use crate::hull::{HullState, Move};
use crate::oracle::{MaxOracle, OracleError};
use crate::order::{Order, Visits};
use crate::plane::Plane;
use mechanics::Mechanics;
use crate::solver::{Ctx, Progress, Solver, StepReport};

/// Passes (exact and approximate) after which w and F are recomputed from the blocks.
const REBUILD_PASSES: u64 = 64;

/// Dial 2: the direction of a step.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum StepRule {
    /// From the block's plane toward the corner.
    #[default]
    FrankWolfe,
    /// From the active plane of lowest score to the corner: mass moves between two planes (Osokin et al. 2016).
    Pairwise,
    /// Toward the corner or away from the active plane of lowest score, whichever gains more.
    Away,
    /// The best of a Frank-Wolfe, an away and a pairwise step.
    Best,
    /// Solves the block over its planes by pairwise steps on cached inner products.
    Solve(Solve),
}

/// Parameters of block solves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Solve {
    /// A block is solved to this share of the mean block gap of the last pass.
    pub accuracy: f64,
    /// Approximate passes leave out blocks whose last gap over the planes kept was below this share of the mean.
    pub skip_below: f64,
}

impl Default for Solve {
    fn default() -> Self {
        Solve { accuracy: 0.3, skip_below: 0.3 }
    }
}

/// Factor by which the remembered gap of a block grows each time that it is left out.
const SKIP_AGING: f64 = 1.3;

/// Parameters of the family.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BlockFrankWolfe {
    /// Which example is visited next.
    pub order: Order,
    /// The direction of a step.
    pub step: StepRule,
    /// Which planes are kept and how they are used.
    pub planes: Planes,
    /// What the answer is: the last iterate or an average.
    pub averaging: Averaging,
}

impl BlockFrankWolfe {
    /// Preset `bcfw`: permutation order, Frank-Wolfe steps, no planes kept, the last iterate.
    pub fn bcfw() -> Self {
        BlockFrankWolfe::default()
    }

    /// Preset `bcfw-avg`: `bcfw` with weighted averaging.
    pub fn bcfw_avg() -> Self {
        BlockFrankWolfe { averaging: Averaging::Weighted, ..BlockFrankWolfe::bcfw() }
    }

    /// Preset `mp-bcfw`: `bcfw` with working sets and approximate passes.
    pub fn mp_bcfw() -> Self {
        BlockFrankWolfe { planes: Planes::MultiPlane(MultiPlane::default()), ..BlockFrankWolfe::bcfw() }
    }

    /// Preset `mp-bcfw-avg`: `mp-bcfw` with weighted averaging.
    pub fn mp_bcfw_avg() -> Self {
        BlockFrankWolfe { averaging: Averaging::Weighted, ..BlockFrankWolfe::mp_bcfw() }
    }

    /// A solver with these parameters for `blocks` examples and `dim` weights.
    pub fn solver(self, blocks: usize, dim: usize, lambda: f64) -> BlockFrankWolfeSolver {
        let multi_plane = match self.planes {
            Planes::None => MultiPlane { max_planes: 0, ..MultiPlane::default() },
            Planes::MultiPlane(config) => config,
        };
        let averaged = self.averaging == Averaging::Weighted;
        BlockFrankWolfeSolver {
            multi_plane,
            blocks,
            step: self.step,
            mechanics: match self.step {
                StepRule::FrankWolfe => {
                    Mechanics::Vectors { dual: DualState::new(blocks, dim, lambda, averaged), sets: WorkingSets::new(blocks) }
                }
                _ => Mechanics::Hull(HullState::new(blocks, dim, lambda, averaged)),
            },
            cached_gaps: vec![f64::INFINITY; blocks],
            pass_gap: 0.0,
            pass_visits: 0,
            mean_gap: 0.0,
            visits: Visits::new(self.order, blocks),
            slope: Slope::default(),
            corner: Plane::new(),
            pass: Pass::Between,
            visited: 0,
            iterations: 0,
            approximate_passes: 0,
            passes_of_iteration: 0,
        }
    }
}

/// Where in an outer iteration the solver stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    /// The next step begins an outer iteration.
    Between,
    Exact,
    Approximate,
}

/// The state of a run of the family.
#[derive(Clone, Debug)]
pub struct BlockFrankWolfeSolver {
    multi_plane: MultiPlane,
    blocks: usize,
    step: StepRule,
    mechanics: Mechanics,
    /// Last gap over the planes kept, by block; ages while a block is left out.
    cached_gaps: Vec<f64>,
    pass_gap: f64,
    pass_visits: usize,
    /// Mean block gap of the last pass.
    mean_gap: f64,
    visits: Visits,
    slope: Slope,
    corner: Plane,
    pass: Pass,
    visited: usize,
    iterations: u64,
    approximate_passes: u64,
    passes_of_iteration: u32,
}

impl BlockFrankWolfeSolver {
    fn how(&self) -> Move {
        match self.step {
            StepRule::FrankWolfe => Move::FrankWolfe,
            StepRule::Pairwise => Move::Pairwise,
            StepRule::Away => Move::Away,
            StepRule::Best => Move::Best,
            StepRule::Solve(solve) => Move::Solve(solve.accuracy * self.mean_gap),
        }
    }

    /// Calls the oracle for `block`, keeps the plane, steps toward it.
    fn exact_visit<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) -> Result<(), OracleError> {
        let block = self.visits.next(ctx.rng);
        if let Some(next) = self.visits.upcoming() {
            ctx.expect(next);
            self.mechanics.prefetch(next, false);
        }
        ctx.maximize(block, self.mechanics.weights(), &mut self.corner)?;
        let now = self.iterations as u32;
        let keep = self.multi_plane.max_planes > 0;
        let visit = self.mechanics.exact(block, self.corner.view(), self.how(), keep, now);
        self.pass_gap += visit.gap;
        self.pass_visits += 1;
        self.cached_gaps[block] = visit.gap;
        let oldest = now.saturating_sub(self.multi_plane.max_idle);
        self.mechanics.prune(block, oldest, self.multi_plane.max_planes as usize);
        Ok(())
    }

    /// Steps toward the best plane kept of the next block.
    fn approximate_visit<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) {
        let block = self.visits.next(ctx.rng);
        if let StepRule::Solve(solve) = self.step {
            if self.cached_gaps[block] < solve.skip_below * self.mean_gap {
                self.cached_gaps[block] *= SKIP_AGING;
                return;
            }
        }
        ctx.count_cached(self.mechanics.sets().len(block));
        if let Some(next) = self.visits.upcoming() {
            self.mechanics.prefetch(next, true);
        }
        let visit = self.mechanics.cached(block, self.how(), self.iterations as u32);
        self.cached_gaps[block] = visit.gap;
        self.pass_gap += visit.gap;
        self.pass_visits += 1;
    }

    /// Whether a further approximate pass follows the pass that just ended.
    fn another_pass(&self, now: f64) -> bool {
        let limit = self.multi_plane.pass_limit();
        let by_slope = self.multi_plane.slope_rule;
        self.passes_of_iteration < limit
            && (self.pass == Pass::Exact || self.slope.go_on(now, self.mechanics.value(), by_slope))
    }

    /// Ends a pass; returns whether the outer iteration ends with it.
    fn end_pass<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) -> bool {
        if (self.iterations + self.approximate_passes).is_multiple_of(REBUILD_PASSES) {
            self.mechanics.rebuild();
        }
        self.mean_gap = self.pass_gap / self.pass_visits.max(1) as f64;
        (self.pass_gap, self.pass_visits) = (0.0, 0);
        if self.another_pass(ctx.now()) {
            self.pass = Pass::Approximate;
            self.passes_of_iteration += 1;
            self.approximate_passes += 1;
            self.slope.begin_pass(ctx.now(), self.mechanics.value());
            self.visits.begin_pass(ctx.rng);
            return false;
        }
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
            self.visits.begin_pass(ctx.rng);
        }
        match self.pass {
            Pass::Approximate => self.approximate_visit(ctx),
            _ => self.exact_visit(ctx)?,
        }
        self.visited += 1;
        if self.visited < self.blocks {
            return Ok(StepReport::default());
        }
        self.visited = 0;
        Ok(StepReport { iteration_ended: self.end_pass(ctx) })
    }

    fn answer(&self, w: &mut Vec<f64>) -> Option<f64> {
        Some(self.mechanics.answer(w))
    }

    fn progress(&self) -> Progress {
        Progress {
            iterations: self.iterations,
            approximate_passes: self.approximate_passes,
            planes: Some(self.mechanics.sets().planes() as f64 / self.blocks as f64),
            dual: Some(self.mechanics.value()),
        }
    }
}
