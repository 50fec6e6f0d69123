//! The n-slack cutting-plane method (Tsochantaridis et al. 2005): a working set per example, and a master problem over
//! a product of simplices, solved block by block in cycles, or at once where these take long.
//!
//! An outer iteration is a pass of n calls at one w, whose hinges are P(w), and the solution of the master over all
//! planes kept.

use serde::{Deserialize, Serialize};

use super::config::NSlack;
use super::master::{MasterState, NO_GAIN};
use super::sweep::Sweep;
use crate::average::{Averaging, UpdateKind};
use crate::block_point::MassPlane;
use crate::certificate::DualCertificate;
use crate::context::Ctx;
use crate::dual::{BlockDual, BlockVisit, DualPoint, Solve, StepRule};
use crate::gaps::GapTable;
use crate::hull::HullState;
use crate::oracle::{Capabilities, MaxOracle, OracleError};
use crate::plane::Plane;
use crate::regularizer::Regularizer;
use crate::rounding::{Rounded, Rounding};
use crate::solver::{PassValue, Rescale, Solver, SolverFacts, SolverProgress, StepReport, WarmStart};
use crate::state::{SavedState, StateError, ensure};

/// A block of the master is solved to this share of the mean gap that is aimed at.
const BLOCK_ACCURACY: f64 = 0.3;

/// A cycle leaves out blocks whose last gap was below this share of the mean.
const WAIT_BELOW: f64 = 0.3;

/// Solved for all masses at once, the master goes to this share of what is asked for: that costs some iterations more.
const JOINT_ACCURACY: f64 = 1e-4;

/// Cycles of a master at most: what is not solved then is left to the next pass.
const MOST_CYCLES: u64 = 400;

/// One cycle in so many visits all blocks.
const ALL_EVERY: u64 = 10;

/// The state of a run of the n-slack method.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NSlackSolver {
    #[serde(with = "crate::state::json")]
    config: NSlack,
    blocks: usize,
    dual: HullState,
    sweep: Sweep,
    /// True if the master is being solved, and its next cycle visits all blocks.
    solves: bool,
    visits_all: bool,
    gaps: GapTable,
    master: MasterState,
    iterations: u64,
    cycles: u64,
    /// Cycles before the master in hand.
    cycles_before: u64,
    /// Work when the master in hand began.
    began: f64,
    /// P - F at the last pass.
    gap: Option<f64>,
}

impl NSlackSolver {
    /// Returns a solver that has not begun, for `blocks` examples and `dim` weights.
    pub fn new(config: NSlack, blocks: usize, dim: usize, regularizer: Regularizer) -> Self {
        NSlackSolver {
            config,
            blocks,
            dual: HullState::new(blocks, dim, regularizer, Averaging::None),
            sweep: Sweep::default(),
            solves: false,
            visits_all: true,
            gaps: GapTable::new(blocks),
            master: MasterState::default(),
            iterations: 0,
            cycles: 0,
            cycles_before: 0,
            began: 0.0,
            gap: None,
        }
    }

    /// Asks about the next example, and keeps the answer where it says more than what is kept; returns whether it was
    /// the last.
    fn call<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) -> Result<bool, OracleError> {
        if self.sweep.visited() == 0 {
            self.iterations += 1;
            let point = self.dual.iterate().point();
            self.sweep.begin(|at| at.extend_from_slice(point));
        }
        let block = self.sweep.call(self.blocks, self.dual.iterate().regularizer(), ctx)?;
        ctx.charge_planes(self.dual.sets().len(block));
        let metric = self.dual.iterate().metric().clone();
        let known = self.dual.hinge_kept(block, metric.weights(self.sweep.at()), ctx);
        let wanted = self.config.violation * self.gap.unwrap_or(0.0) / self.blocks as f64;
        if self.sweep.score() > known + wanted {
            self.dual.insert(block, self.sweep.answer(), self.master.solved(), ctx);
        }
        Ok(self.sweep.visited() == self.blocks)
    }

    fn end_pass<O: MaxOracle + ?Sized>(&mut self, ctx: &Ctx<'_, O>) {
        let primal = self.dual.iterate().regularizer().penalty(self.sweep.at()) + self.sweep.hinges();
        let gap = primal - self.dual.value();
        self.gap = Some(gap);
        self.master.aim(self.config.master.accuracy * gap);
        (self.solves, self.visits_all, self.cycles_before, self.began) = (true, true, self.cycles, ctx.now());
    }

    /// Solves blocks in turn, all or those whose gaps are large; returns whether the master is solved.
    fn cycle<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) -> bool {
        let (before, tolerance) = (self.dual.value(), self.master.tolerance());
        let rule = StepRule::Solve(Solve { accuracy: BLOCK_ACCURACY, ..Solve::default() });
        let waits_below = if self.visits_all { f64::NEG_INFINITY } else { WAIT_BELOW * self.gaps.mean_visited() };
        let mut left = 0.0;
        for block in 0..self.blocks {
            if self.dual.sets().is_empty(block) {
                continue;
            }
            if self.gaps.waits_for_step(block, waits_below) {
                ctx.charge_waiting(1);
                continue;
            }
            ctx.charge_planes(self.dual.sets().len(block));
            let mean = tolerance / self.blocks as f64;
            let gap = self.dual.visit(block, ctx).step(rule, mean, UpdateKind::Exact, ctx).gap;
            self.gaps.visit(block, gap);
            left += gap;
        }
        ctx.count_cached();
        self.cycles += 1;
        self.gaps.end_pass();
        let still = self.dual.value() - before <= NO_GAIN * (before.abs() + 1.0);
        // Only a cycle over all blocks can tell that none is left; one in so many is made to see what became of the
        // others.
        let solved = (self.visits_all && (left <= tolerance || still))
            || self.cycles.saturating_sub(self.cycles_before) > MOST_CYCLES;
        self.visits_all = !self.visits_all && (left <= tolerance || still || self.cycles.is_multiple_of(ALL_EVERY));
        solved
    }

    /// Solves for all masses at once, where cycles have taken as long as that takes; returns whether it did.
    fn solve_jointly<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) -> bool {
        let due = self.dual.joint_price(ctx).is_some_and(|price| ctx.now() - self.began >= price);
        if due {
            let tolerance = JOINT_ACCURACY * self.master.tolerance();
            let seconds = self.dual.solve_jointly(tolerance, self.master.solved(), ctx);
            ctx.charge(seconds);
        }
        due
    }

    fn end_master<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) {
        let oldest = self.master.end(&mut self.dual, self.config.master.max_idle);
        for block in 0..self.blocks {
            self.dual.sets_mut().prune(block, oldest, usize::MAX);
        }
        self.dual.rebuild(ctx); // millions of steps may lie behind
        self.solves = false;
        self.sweep.leave();
    }

    fn leave_pass<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) {
        ctx.forget_ahead();
        self.sweep.leave();
        (self.solves, self.gap) = (false, None);
    }
}

impl<O: MaxOracle + ?Sized> SavedState<O> for NSlackSolver {
    fn complete(&mut self, fresh: &Self) {
        self.dual.attach(fresh.dual.iterate().metric());
    }

    fn check(&self, fresh: &Self, oracle: &mut O) -> Result<(), StateError> {
        let dim = fresh.dual.weights().len();
        ensure(self.config == fresh.config && self.blocks == fresh.blocks, "the parameters or the number of examples")?;
        self.dual.check(self.blocks, dim)?;
        ensure(self.dual.iterate().regularizer() == fresh.dual.iterate().regularizer(), "the regulariser")?;
        self.gaps.check(self.blocks)?;
        self.sweep.check(self.blocks, self.dual.iterate().metric().size(dim))?;
        self.dual.sets().check_codes(oracle.capabilities())
    }
}

impl<O: MaxOracle + ?Sized> Solver<O> for NSlackSolver {
    fn step(&mut self, ctx: &mut Ctx<'_, O>) -> Result<StepReport, OracleError> {
        let mut report = StepReport::default();
        if self.solves {
            let since = ctx.shown();
            report.part_ended = self.solve_jointly(ctx) || self.cycle(ctx);
            if report.part_ended {
                self.end_master(ctx);
            }
            self.master.spend(ctx.shown() - since);
        } else {
            report.iteration_ended = self.call(ctx)?;
            if report.iteration_ended {
                self.end_pass(ctx);
            }
        }
        Ok(report)
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
        self.leave_pass(ctx);
        self.dual.rebuild(ctx);
    }

    fn facts(&self) -> SolverFacts {
        SolverFacts { evaluates: true, ..SolverFacts::default() }
    }

    fn pass_value(&self) -> Option<PassValue<'_>> {
        self.sweep.value(self.blocks)
    }

    fn progress(&self) -> SolverProgress {
        SolverProgress {
            iterations: self.iterations,
            approximate_passes: self.cycles,
            planes: Some(self.dual.sets().planes() as f64 / self.blocks as f64),
            dual: Some(self.dual.value()),
            gap_seen: self.gap,
            master_seconds: Some(self.master.seconds()),
        }
    }

    fn dual_points(&self) -> Vec<DualCertificate<'_>> {
        vec![self.dual.point()]
    }
}

/// Planes do not depend on lambda: all stay, and the master goes on from where it was.
impl<O: MaxOracle + ?Sized> Rescale<O> for NSlackSolver {
    fn rescale(&mut self, lambda: f64, start: WarmStart, ctx: &mut Ctx<'_, O>) {
        let scale = start.scale(self.dual.iterate().lambda(), lambda);
        self.leave_pass(ctx);
        self.dual.rescale(lambda, scale, ctx);
    }

    fn place(&mut self, block: usize, corner: &mut Plane, ctx: &mut Ctx<'_, O>) {
        self.dual.iterate().regularizer().fold_frozen(corner);
        self.dual.place(block, &[MassPlane::all(corner, true)], self.master.solved(), ctx);
    }

    fn point(&self, w: &mut Vec<f64>) -> f64 {
        w.clear();
        w.extend_from_slice(self.dual.iterate().point());
        self.dual.value()
    }
}
