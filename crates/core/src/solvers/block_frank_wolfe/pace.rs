//! How long an outer iteration goes on, and what is decided by costs that were measured.

use crate::cache::{MultiPlane, Recombine, Slope};
use crate::context::Ctx;
use crate::oracle::MaxOracle;
use crate::solver::Decisions;

/// Plain approximate steps that one with recombination costs in the first pass, when there are few planes: it counts until
/// a plain one was measured.
const RECOMBINING: f64 = 3.0;

/// Where recombination is to pay, the first of so many approximate passes begins with it: the others take what it found
/// (`docs/adr/0030-parts-of-exact-passes.md`).
const PASSES_PER_RECOMBINATION: u32 = 16;

/// Planes of a block that an approximate step scores, before any was made.
const USUAL_PLANES: usize = 4;

/// What the outer iteration in hand has cost and gained so far, and what follows from it.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Pace {
    slope: Slope,
    /// Approximate passes of the outer iteration in hand.
    passes: u32,
    /// Approximate steps of the pass in hand, without blocks left out, and when the pass began.
    steps: usize,
    pass_start: f64,
    decisions: Decisions,
}

impl Pace {
    pub(super) fn new(recombine: Recombine) -> Self {
        let decisions = Decisions { recombine: recombine == Recombine::Always, ..Decisions::default() };
        Pace { slope: Slope::default(), passes: 0, steps: 0, pass_start: 0.0, decisions }
    }

    pub(super) fn decisions(&self) -> Decisions {
        self.decisions
    }

    /// Returns after how many calls of the exact pass approximate passes follow, of `blocks` blocks.
    pub(super) fn calls<O: MaxOracle + ?Sized>(&self, planes: &MultiPlane, blocks: usize, ctx: &Ctx<'_, O>) -> usize {
        let measured = Some(self.decisions.step_seconds).filter(|&step| step > 0.0);
        planes.interleave.calls(blocks, ctx.call_seconds(), measured.unwrap_or(ctx.planes_seconds(USUAL_PLANES)))
    }

    /// Whether the steps of the approximate pass in hand recombine labellings first.
    pub(super) fn recombines(&self, recombine: Recombine) -> bool {
        let in_turn = recombine == Recombine::Always || self.passes % PASSES_PER_RECOMBINATION == 1;
        self.decisions.recombine && in_turn
    }

    pub(super) fn begin_iteration(&mut self, now: f64, value: f64) {
        self.passes = 0;
        self.slope.begin_iteration(now, value);
    }

    /// Begins an approximate pass.
    pub(super) fn begin_pass(&mut self, now: f64, value: f64) {
        self.passes += 1;
        self.slope.begin_pass(now, value);
    }

    /// Counts an approximate step.
    pub(super) fn count_step(&mut self) {
        self.steps += 1;
    }

    /// Forgets the steps of the pass in hand.
    pub(super) fn forget_pass(&mut self) {
        self.steps = 0;
    }

    /// Returns whether a further approximate pass follows the pass that just ended.
    pub(super) fn another_pass(&self, planes: &MultiPlane, after_exact: bool, now: f64, value: f64) -> bool {
        let within = self.passes < planes.pass_limit();
        within && (after_exact || self.slope.go_on(now, value, planes.slope_rule))
    }

    /// Ends a pass of `visits` visits: measures what calls and approximate steps cost, and decides by it.
    pub(super) fn end_pass<O: MaxOracle + ?Sized>(
        &mut self,
        exact: bool,
        visits: usize,
        kept_bytes: usize,
        recombined: bool,
        recombine: Recombine,
        ctx: &Ctx<'_, O>,
    ) {
        let decisions = &mut self.decisions;
        decisions.call_seconds = ctx.call_seconds();
        if exact {
            decisions.exact_visits = visits;
        } else if self.steps > 0 {
            // A step that recombines costs several that do not; what is compared is the plain step.
            let known = decisions.step_seconds > 0.0;
            if !(known && recombined) {
                let share = if recombined { 1.0 / RECOMBINING } else { 1.0 };
                let mean = share * (ctx.now() - self.pass_start) / self.steps as f64;
                let old = if known { decisions.step_seconds } else { mean };
                decisions.step_seconds = 0.9 * old + 0.1 * mean;
            }
        }
        decisions.kept_bytes = kept_bytes;
        decisions.approximate_passes = self.passes;
        decisions.recombine = recombine.pays(decisions.call_seconds, decisions.step_seconds);
        self.steps = 0;
        self.pass_start = ctx.now();
    }
}
