//! PROCESS and REPROCESS, epoch after epoch; at another lambda too.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::selection::Selection;
use super::support::Support;
use crate::average::{Averaging, UpdateKind};
use crate::block_point::MassPlane;
use crate::certificate::DualCertificate;
use crate::context::Ctx;
use crate::dual::{BlockDual, BlockVisit, DualPoint, StepRule};
use crate::hull::HullState;
use crate::oracle::{Capabilities, MaxOracle, OracleError};
use crate::plane::Plane;
use crate::regularizer::Regularizer;
use crate::rounding::{Rounded, Rounding};
use crate::solver::{Details, Rescale, Solver, SolverProgress, StepReport, WarmStart};
use crate::state::{SavedState, StateError, ensure};

/// Epochs after which w and F are recomputed from the planes.
const REBUILD_EPOCHS: u64 = 64;

/// REPROCESS steps that finish an epoch at most, for each example: what is not reached then is left.
const MOST_FINISHING: u64 = 10;

/// Tau is not halved below this: further down there is rounding.
const LEAST_TAU: f64 = 1e-12;

/// The state of a run of LaSVM.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LaSvmSolver {
    #[serde(with = "crate::state::json")]
    pub(super) config: LaSvm,
    pub(super) dual: HullState,
    pub(super) selection: Selection,
    pub(super) support: Support,
    /// Violations up to this are none, in units of the loss.
    pub(super) tau: f64,
    /// REPROCESS steps made.
    pub(super) reprocessed: u64,
    /// True if a PROCESS step of the epoch has moved.
    moved: bool,
    /// REPROCESS steps of the finishing in hand; `None` before it.
    finishing: Option<u64>,
    /// Examples processed, the last of an epoch when that has ended; epochs ended.
    pub(super) processed: u64,
    pub(super) epochs: u64,
    #[serde(skip)]
    corner: Plane,
}

impl LaSvmSolver {
    /// Returns a solver that has not begun, for `blocks` examples and `dim` weights.
    pub fn new(config: LaSvm, blocks: usize, dim: usize, regularizer: Regularizer) -> Self {
        LaSvmSolver {
            dual: <HullState as DualPoint>::new(blocks, dim, regularizer, Averaging::None),
            selection: Selection::new(blocks),
            support: Support::new(blocks),
            tau: config.tau,
            reprocessed: 0,
            moved: false,
            finishing: None,
            processed: 0,
            epochs: 0,
            corner: Plane::new(),
            config,
        }
    }

    /// Returns the dual point. For inspection.
    pub fn dual(&self) -> &HullState {
        &self.dual
    }

    /// Returns the examples that have planes kept. For inspection.
    pub fn support(&self) -> usize {
        self.support.len()
    }

    /// Tau in units of planes, which carry 1/n.
    fn tolerance(&self) -> f64 {
        self.tau / self.dual.blocks() as f64
    }

    /// Asks about one candidate, or makes one REPROCESS step that finishes the epoch. After the last candidate the
    /// example is processed. Returns whether an epoch ended.
    pub(super) fn advance<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) -> Result<bool, OracleError> {
        if let Some(steps) = self.finishing {
            let left = steps < MOST_FINISHING.saturating_mul(self.dual.blocks() as u64);
            if left && self.reprocess(ctx) {
                self.finishing = Some(steps + 1);
                return Ok(false);
            }
            self.end_epoch(ctx);
            return Ok(true);
        }
        self.selection.draw(self.config.candidates as usize, ctx.rng);
        if !self.ask(ctx)? {
            return Ok(false);
        }
        if self.process(ctx) {
            self.moved = true;
            for _ in 0..self.config.reprocess {
                if !self.reprocess(ctx) {
                    break;
                }
            }
        }
        if !self.selection.is_done() {
            self.processed += 1;
        } else if self.config.finish {
            self.finishing = Some(0);
        } else {
            self.end_epoch(ctx);
            return Ok(true);
        }
        Ok(false)
    }

    /// Asks about the next candidate; returns whether it was the last.
    fn ask<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) -> Result<bool, OracleError> {
        let Some(block) = self.selection.to_ask().next() else { return Ok(true) };
        ctx.maximize_ahead(self.selection.to_ask(), self.dual.weights(), &mut self.corner)?;
        self.dual.iterate().regularizer().fold_frozen(&mut self.corner);
        ctx.charge_planes(self.dual.sets().len(block));
        let score = self.corner.view().score(self.dual.weights());
        let violation = self.dual.violation(block, score, ctx);
        Ok(self.selection.learn(violation, &mut self.corner))
    }

    /// PROCESS: the step of the example chosen, toward the oracle's answer; returns whether it moved.
    fn process<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) -> bool {
        let tolerance = self.tolerance();
        let (block, violation, answer) = self.selection.take();
        if violation <= tolerance {
            return false;
        }
        ctx.charge_planes(2 * self.dual.sets().len(block) + 1); // keeping its plane, and the step
        let now = self.epochs as u32;
        let mut visit = self.dual.visit_with(block, answer, true, now, ctx);
        let step = visit.step(StepRule::Pairwise, 0.0, UpdateKind::Exact, ctx);
        self.support.learn(block, &self.dual, ctx);
        step.gain > 0.0
    }

    /// REPROCESS: the step of the example that violates most of those with weight; returns whether it moved.
    fn reprocess<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) -> bool {
        ctx.charge_planes(self.dual.sets().planes());
        let tolerance = self.tolerance();
        let Some(block) = self.support.most_violating(&mut self.dual, tolerance, ctx) else { return false };
        ctx.count_cached();
        self.reprocessed += 1;
        let step = self.dual.visit(block, ctx).step(StepRule::Pairwise, 0.0, UpdateKind::Approximate, ctx);
        self.support.learn(block, &self.dual, ctx);
        step.gain > 0.0
    }

    fn end_epoch<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) {
        self.selection.begin_epoch();
        self.finishing = None;
        self.processed += 1;
        self.epochs += 1;
        if !std::mem::take(&mut self.moved) {
            self.tau = (0.5 * self.tau).max(LEAST_TAU.min(self.config.tau));
        }
        if self.epochs.is_multiple_of(REBUILD_EPOCHS) {
            self.dual.rebuild(ctx);
        }
    }

    /// Goes on with the epoch after weights have moved otherwise.
    pub(super) fn begin_anew<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) {
        ctx.forget_ahead();
        self.support.learn_all(&self.dual);
        self.selection.leave();
        (self.tau, self.moved) = (self.config.tau, true);
        self.finishing = self.finishing.map(|_| 0);
    }

    /// Refuses a state that cannot take the place of `fresh`.
    pub(super) fn check_fields(&self, fresh: &Self) -> Result<(), StateError> {
        let (n, dim) = (fresh.dual.blocks(), fresh.dual.weights().len());
        ensure(self.config == fresh.config, "the parameters")?;
        self.dual.check(n, dim)?;
        ensure(self.dual.iterate().regularizer() == fresh.dual.iterate().regularizer(), "the regulariser")?;
        self.selection.check(n, dim)?;
        self.support.check(&self.dual)?;
        ensure(self.tau > 0.0 && self.tau <= self.config.tau, "tau")?;
        ensure(self.finishing.is_some() == self.selection.is_done(), "the place in the epoch")?;
        ensure(self.processed.max(self.epochs).max(self.reprocessed) <= u64::MAX / 2, "the number of epochs")
    }
}

impl<O: MaxOracle + ?Sized> SavedState<O> for LaSvmSolver {
    fn complete(&mut self, fresh: &Self) {
        self.dual.attach(fresh.dual.iterate().metric());
    }

    fn check(&self, fresh: &Self, oracle: &mut O) -> Result<(), StateError> {
        self.check_fields(fresh)?;
        self.dual.sets().check_codes(oracle.capabilities())?;
        check_code(&self.selection, oracle)
    }
}

impl<O: MaxOracle + ?Sized> Solver<O> for LaSvmSolver {
    fn drawn(&self) -> Option<u64> {
        Some(self.processed)
    }

    fn step(&mut self, ctx: &mut Ctx<'_, O>) -> Result<StepReport, OracleError> {
        let iteration_ended = self.advance(ctx)?;
        Ok(StepReport { iteration_ended, ..StepReport::default() })
    }

    fn answer(&self, w: &mut Vec<f64>) -> Option<f64> {
        Some(self.dual.iterate().answer(w))
    }

    fn rounded_duals(&self, rounding: &Rounding, mut source: &mut dyn Capabilities, out: &mut Vec<Rounded>) {
        self.dual.rounded(rounding, &mut source, out);
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
            iterations: self.epochs.saturating_add(u64::from(!self.selection.is_fresh())),
            planes: Some(self.dual.sets().planes() as f64 / self.dual.blocks() as f64),
            dual: Some(self.dual.value()),
            ..SolverProgress::default()
        }
    }

    fn details(&self) -> Option<Details> {
        let (tau, steps, support) = (self.tau, self.reprocessed, self.support.len());
        let figures = [("tau", tau.into()), ("reprocess_steps", steps.into()), ("support", support.into())];
        Some(Details::new("ascent", figures))
    }

    fn dual_points(&self) -> Vec<DualCertificate<'_>> {
        vec![self.dual.point()]
    }
}

/// Refuses a choice whose answer is no labelling that the oracle knows.
fn check_code<O: MaxOracle + ?Sized>(selection: &Selection, oracle: &mut O) -> Result<(), StateError> {
    let Some((block, answer)) = selection.chosen() else { return Ok(()) };
    let known = match oracle.capabilities() {
        Some(source) => source.is_code(block, answer.code()),
        None => answer.code().is_empty(),
    };
    ensure(known, "a labelling that the oracle does not know")
}

/// The masses are scaled and the planes kept stay; the epoch goes on.
impl<O: MaxOracle + ?Sized> Rescale<O> for LaSvmSolver {
    fn rescale(&mut self, lambda: f64, start: WarmStart, ctx: &mut Ctx<'_, O>) {
        let before = self.dual.iterate().lambda();
        self.dual.rescale(lambda, start.scale(before, lambda), ctx);
        self.begin_anew(ctx);
    }

    fn place(&mut self, block: usize, corner: &mut Plane, ctx: &mut Ctx<'_, O>) {
        self.dual.iterate().regularizer().fold_frozen(corner);
        self.dual.place(block, &[MassPlane::all(corner, true)], self.epochs as u32, ctx);
        self.support.learn(block, &self.dual, ctx);
    }

    fn point(&self, w: &mut Vec<f64>) -> f64 {
        w.clear();
        w.extend_from_slice(self.dual.iterate().point());
        self.dual.value()
    }
}

/// Parameters of LaSVM.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LaSvm {
    /// Examples that are asked about before each PROCESS step, drawn among those that the epoch has not processed yet;
    /// the one that violates most is processed. A call each. 1 is a random order.
    pub candidates: u32,
    /// REPROCESS steps after each PROCESS step that moved.
    pub reprocess: u32,
    /// Violations up to this are none, in units of the loss (tau). Halved after an epoch in which no example that was
    /// processed violated by more.
    pub tau: f64,
    /// Whether epochs end with REPROCESS steps until no example with weight violates by more than `tau`.
    pub finish: bool,
}

impl Default for LaSvm {
    fn default() -> Self {
        LaSvm { candidates: 50, reprocess: 1, tau: 0.001, finish: true }
    }
}
