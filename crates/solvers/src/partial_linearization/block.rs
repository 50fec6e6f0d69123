//! Steps of one block after the other. A visit costs one call (with halved rates more), and O(stored coefficients of
//! the block and its expected plane).

use serde::{Deserialize, Serialize};

use super::config::{PartialLinearization, RateVerdict};
use super::kept::KeptMarginals;
use super::origin::StartValue;
use crate::average::Averaging;
use crate::certificate::DualCertificate;
use crate::context::Ctx;
use crate::dual::DualState;
use crate::gaps::GapTable;
use crate::oracle::{Capabilities, MaxOracle, OracleError};
use crate::order::{BlockOrder, Visiting};
use crate::plane::Plane;
use crate::regularizer::Regularizer;
use crate::rounding::{Rounded, Rounding};
use crate::solver::{Solver, SolverProgress, StepReport};
use crate::state::{SavedState, StateError, ensure};

/// w and F are made anew from the blocks after so many passes.
const REBUILD_PASSES: u64 = 10;

/// A block whose step was too long, and how often its rate was halved for it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Retry {
    block: usize,
    halvings: u32,
}

/// The state of a run of `bcpl` or `oeg`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BlockSolver {
    #[serde(with = "crate::state::json")]
    config: PartialLinearization,
    dual: DualState,
    origin: StartValue,
    kept: KeptMarginals,
    /// Temperatures by block.
    taus: Vec<f64>,
    order: BlockOrder,
    /// Slopes along the expected direction stand in for gaps, which they are at most.
    gaps: GapTable,
    /// Visits made of the pass in hand, and all that it makes; both 0 between passes.
    visited: usize,
    length: usize,
    retry: Option<Retry>,
    iterations: u64,
    #[serde(skip)]
    corner: Plane,
    #[serde(skip)]
    found: Vec<f64>,
}

impl BlockSolver {
    /// Returns a solver that has not begun, for `blocks` examples and `dim` weights.
    pub fn new(config: PartialLinearization, blocks: usize, dim: usize, regularizer: Regularizer) -> Self {
        let dual = DualState::new(blocks, dim, regularizer, Averaging::None);
        BlockSolver {
            config,
            origin: StartValue::of(&dual),
            dual,
            kept: KeptMarginals::default(),
            taus: vec![config.tau; blocks],
            order: BlockOrder::new(config.order, blocks),
            gaps: GapTable::new(blocks),
            visited: 0,
            length: 0,
            retry: None,
            iterations: 0,
            corner: Plane::new(),
            found: Vec::new(),
        }
    }

    /// The dual point.
    pub fn dual(&self) -> &DualState {
        &self.dual
    }

    fn begin<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) -> Result<(), OracleError> {
        let (mut dual, blocks) = (self.dual.clone(), self.gaps.blocks());
        let (w, regularizer) = (self.dual.weights(), self.dual.iterate().regularizer());
        self.kept.begin((blocks, self.config.start), w, regularizer, ctx, |block, plane| dual.place(block, plane))?;
        dual.rebuild();
        self.dual = dual;
        Ok(())
    }

    /// Returns the block in hand, of a pass that has begun.
    fn draw<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) -> Retry {
        if let Some(retry) = self.retry.take() {
            return retry;
        }
        if self.visited == 0 {
            self.iterations += 1;
            self.order.begin_pass(ctx.rng, &mut self.gaps, Visiting::Calls);
            self.length = self.order.length();
            ctx.charge_waiting(self.gaps.blocks() - self.length);
        }
        let block = self.order.next(ctx.rng);
        if let Some(&next) = self.order.settled().first() {
            self.dual.prefetch(next as usize);
            self.kept.prefetch(next as usize);
            ctx.prefetch(next as usize);
        }
        Retry { block, halvings: 0 }
    }
}

impl<O: MaxOracle + ?Sized> SavedState<O> for BlockSolver {
    fn check(&self, fresh: &Self, oracle: &mut O) -> Result<(), StateError> {
        let (n, dim) = (fresh.gaps.blocks(), fresh.dual.weights().len());
        ensure(self.config == fresh.config, "the parameters")?;
        self.dual.check(n, dim)?;
        ensure(self.dual.iterate().regularizer() == fresh.dual.iterate().regularizer(), "the regulariser")?;
        ensure(self.origin.is(fresh.origin), "the dual value of the origin")?;
        self.kept.check(n)?;
        self.gaps.check(n)?;
        self.order.check(n)?;
        let taus = self.taus.len() == n && self.taus.iter().all(|&tau| PartialLinearization::is_tau(tau));
        ensure(taus, "the rates")?;
        let visits = self.length <= n && (self.visited < self.length || self.visited == 0);
        let retry = self.retry.is_none_or(|retry| retry.block < n && self.kept.has_begun() && self.length > 0);
        ensure(visits && retry, "the pass")?;
        self.kept.check_lengths(oracle)
    }
}

impl<O: MaxOracle + ?Sized> Solver<O> for BlockSolver {
    fn step(&mut self, ctx: &mut Ctx<'_, O>) -> Result<StepReport, OracleError> {
        if !self.kept.has_begun() {
            self.begin(ctx)?;
        }
        let Retry { block, halvings } = self.draw(ctx);
        let (config, from) = (self.config, self.kept.of(block));
        self.found.resize(from.len(), 0.0);
        ctx.gibbs(block, self.dual.weights(), self.taus[block], from, &mut self.found, &mut self.corner)?;
        self.dual.iterate().regularizer().fold_frozen(&mut self.corner);
        let mut verdict = RateVerdict::Done;
        let step = self.dual.step_by(block, self.corner.view(), |slope, curvature| {
            let (gamma, found) = config.judge(slope, curvature, halvings);
            verdict = found;
            gamma
        });
        self.kept.mix(block, step.gamma, &self.found);
        self.taus[block] = config.next_tau(self.taus[block], step, verdict);
        if verdict == RateVerdict::TooLong {
            self.retry = Some(Retry { block, halvings: halvings + 1 });
            return Ok(StepReport::default());
        }
        self.gaps.learn(block, step.gap, self.corner.view().circ);
        self.gaps.visit(block, step.gap);
        if self.order.is_adaptive() {
            let curvature = self.dual.iterate().curvature(block, self.corner.view().star);
            self.order.observe(block, &self.gaps, curvature);
        }
        self.visited += 1;
        if self.visited < self.length {
            return Ok(StepReport::default());
        }
        (self.visited, self.length) = (0, 0);
        self.gaps.end_pass();
        if self.iterations.is_multiple_of(REBUILD_PASSES) {
            self.dual.rebuild();
        }
        Ok(StepReport { iteration_ended: true, ..StepReport::default() })
    }

    fn answer(&self, w: &mut Vec<f64>) -> Option<f64> {
        Some(self.dual.answer(w))
    }

    fn rebuild(&mut self, _ctx: &mut Ctx<'_, O>) {
        (self.visited, self.length, self.retry) = (0, 0, None);
        self.gaps.forget();
        self.dual.rebuild();
    }

    fn rounded_duals(&self, rounding: &Rounding, _: &mut dyn Capabilities, out: &mut Vec<Rounded>) {
        self.origin.rounded(&self.dual, rounding, self.kept.additions(), out);
    }

    fn progress(&self) -> SolverProgress {
        SolverProgress {
            iterations: self.iterations,
            dual: Some(self.origin.best(&self.dual)),
            gap_seen: self.gaps.seen(),
            ..SolverProgress::default()
        }
    }

    fn dual_points(&self) -> Vec<DualCertificate<'_>> {
        self.origin.points(&self.dual)
    }
}
