//! The block-coordinate Frank-Wolfe family: one engine, four dials (order, step, planes kept, averaging).
//!
//! BCFW (Lacoste-Julien et al. 2013) moves one example's plane toward the oracle's answer per visit. MP-BCFW
//! (Shah, Kolmogorov, Lampert 2015, Alg. 3) adds, after each exact pass, passes in which the corner is the best
//! plane kept. A visit costs one oracle call, or the scores of the planes kept; then O(stored coefficients).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::average::{Averaging, UpdateKind};
use crate::cache::{MultiPlane, Planes, Slope, WorkingSets};
use crate::dual::DualState;
use crate::oracle::{MaxOracle, OracleError};
use crate::order::{Order, Visits};
use crate::plane::{Plane, PlaneView};
use crate::solver::{Ctx, Progress, Solver, StepReport};

/// Passes (exact and approximate) after which w and F are recomputed from the blocks.
const REBUILD_PASSES: u64 = 64;

/// Dial 2: the direction of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum StepRule {
    /// From the block's plane toward the corner.
    #[default]
    FrankWolfe,
}

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
        BlockFrankWolfeSolver {
            multi_plane,
            blocks,
            dual: DualState::new(blocks, dim, lambda, self.averaging == Averaging::Weighted),
            sets: WorkingSets::new(blocks),
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
    dual: DualState,
    sets: WorkingSets,
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
    /// The dual state, for inspection.
    pub fn dual(&self) -> &DualState {
        &self.dual
    }

    /// Calls the oracle for `block`, keeps the plane, steps toward it.
    fn exact_visit<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) -> Result<(), OracleError> {
        let block = self.visits.next(ctx.rng);
        if let Some(next) = self.visits.upcoming() {
            ctx.expect(next);
            self.dual.prefetch(next);
        }
        ctx.maximize(block, self.dual.weights(), &mut self.corner)?;
        let now = self.iterations as u32;
        if self.multi_plane.max_planes > 0 {
            self.sets.keep(block, self.corner.view(), now);
            let oldest = now.saturating_sub(self.multi_plane.max_idle);
            self.sets.prune(block, oldest, self.multi_plane.max_planes as usize);
        }
        let corner = self.corner.view();
        // A sub-optimal oracle may return a plane below the truth's; the truth's own is then the better corner.
        let corner = if corner.score(self.dual.weights()) < 0.0 { PlaneView::ZERO } else { corner };
        self.dual.step_toward(block, corner, UpdateKind::Exact);
        Ok(())
    }

    /// Steps toward the best plane kept of the next block.
    fn approximate_visit<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) {
        let block = self.visits.next(ctx.rng);
        ctx.count_cached(self.sets.len(block));
        if let Some(next) = self.visits.upcoming() {
            self.sets.prefetch(next);
            self.dual.prefetch(next);
        }
        let corner = match self.sets.best(block, self.dual.weights()) {
            Some(k) => {
                self.sets.touch(block, k, self.iterations as u32);
                self.sets.plane(block, k)
            }
            None => PlaneView::ZERO,
        };
        self.dual.step_toward(block, corner, UpdateKind::Approximate);
    }

    /// Whether a further approximate pass follows the pass that just ended.
    fn another_pass(&self, now: f64) -> bool {
        let limit = self.multi_plane.pass_limit();
        let by_slope = self.multi_plane.slope_rule;
        self.passes_of_iteration < limit
            && (self.pass == Pass::Exact || self.slope.go_on(now, self.dual.value(), by_slope))
    }

    /// Ends a pass; returns whether the outer iteration ends with it.
    fn end_pass<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) -> bool {
        if (self.iterations + self.approximate_passes).is_multiple_of(REBUILD_PASSES) {
            self.dual.rebuild();
        }
        if self.another_pass(ctx.now()) {
            self.pass = Pass::Approximate;
            self.passes_of_iteration += 1;
            self.approximate_passes += 1;
            self.slope.begin_pass(ctx.now(), self.dual.value());
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
            self.slope.begin_iteration(ctx.now(), self.dual.value());
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
        Some(self.dual.answer(w))
    }

    fn progress(&self) -> Progress {
        Progress {
            iterations: self.iterations,
            approximate_passes: self.approximate_passes,
            planes: Some(self.sets.planes() as f64 / self.blocks as f64),
            dual: Some(self.dual.value()),
        }
    }
}
