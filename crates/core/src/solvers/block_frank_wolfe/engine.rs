//! The engine of the family: its state, and passes one after the other.
//!
//! A visit costs one oracle call, or the scores of the planes kept; then O(stored coefficients).

mod batch_step;
mod decisions;
mod gaps;
mod rescaling;
mod visits;

use super::mechanics::Mechanics;
use super::{BlockFrankWolfe, GapStep, StepRule};
use crate::cache::{GapCache, MultiPlane, Planes, Recombine, Slope, WorkingSets};
use crate::context::Ctx;
use crate::dual::DualState;
use crate::hull::HullState;
use crate::oracle::{MaxOracle, OracleError};
use crate::order::Visits;
use crate::plane::Plane;
use crate::point::DualPoint;
use crate::regularizer::Regularizer;
use crate::rescale::Rescale;
use crate::solver::{Decisions, Progress, Solver, StepReport};
use crate::solvers::entry::SolverConfig;
use crate::state::{self, StateError, expect};
use batch_step::BatchStep;
use gaps::Gaps;

/// Passes (exact and approximate) after which w and F are recomputed from the blocks.
const REBUILD_PASSES: u64 = 64;

/// Where in an outer iteration the solver stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
enum Pass {
    /// The next step begins an outer iteration.
    Between,
    /// Corners come from the oracle, or from the gap-criterion cache where that is in use.
    Exact,
    /// Corners come from the planes kept.
    Approximate,
    /// Gaps are measured; nothing moves before the last of them.
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
    batch_step: Option<BatchStep>,
    decisions: Decisions,
    /// Approximate steps of the pass in hand, without blocks left out, and when the pass began.
    steps_of_pass: usize,
    pass_start: f64,
}

impl BlockFrankWolfeSolver {
    /// What does not fit in a state that is to take the place of `fresh`.
    fn fault(&self, fresh: &Self) -> Option<String> {
        let n = fresh.blocks;
        let gaps = self.gaps.exact.len() == n && self.gaps.cached.len() == n;
        let pass = self.visited < self.length && self.length <= n;
        expect(self.blocks == n && pass && gaps, "the number of examples")
            .or_else(|| self.config.validate().err().map(|error| error.to_string()))
            .or_else(|| self.mechanics.fault(&fresh.mechanics, n))
            .or_else(|| self.visits.fault(n))
            .or_else(|| self.batch_step_fault())
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
            batch_step: (config.gap_step == GapStep::Batch).then(BatchStep::default),
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

    /// Whether planes are kept beyond those with mass.
    fn keeps_planes(&self) -> bool {
        self.multi_plane.max_planes > 0 || self.gap_cache.is_some()
    }

    /// Ends a pass; returns whether the outer iteration ends with it.
    fn end_pass<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) -> bool {
        let mean = self.gaps.end_pass();
        if self.pass == Pass::Gap {
            self.gaps.mean_exact = mean;
            self.gaps.measured = true;
            self.step_jointly(ctx);
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

    fn restore(&mut self, state: &[u8], oracle: &mut O) -> Result<(), StateError> {
        let codes = oracle.capabilities();
        let is_code = |block: usize, code: &[u32]| match &codes {
            Some(codes) => codes.is_code(block, code),
            None => code.is_empty(),
        };
        let known = |other: &Self| other.mechanics.sets().has_only(is_code);
        *self = state::decode(state, |other: &Self| {
            other.fault(self).or_else(|| expect(known(other), "a labelling that the oracle does not know"))
        })?;
        Ok(())
    }

    fn dual_points(&self) -> Vec<DualPoint<'_>> {
        self.mechanics.points()
    }
}
