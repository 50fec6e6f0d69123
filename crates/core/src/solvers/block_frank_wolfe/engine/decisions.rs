//! Which pass comes next, and what is decided by costs that were measured.

use super::{BlockFrankWolfeSolver, Pass};
use crate::context::Ctx;
use crate::oracle::MaxOracle;

/// Plain approximate steps that one with recombination costs, about.
const RECOMBINING: f64 = 3.0;

impl BlockFrankWolfeSolver {
    /// Whether a further approximate pass follows the pass that just ended.
    pub(super) fn another_pass(&self, now: f64) -> bool {
        let limit = self.multi_plane.pass_limit();
        let by_slope = self.multi_plane.slope_rule;
        self.passes_of_iteration < limit
            && (self.pass == Pass::Exact || self.slope.go_on(now, self.mechanics.value(), by_slope))
    }

    /// Whether a gap pass is due.
    pub(super) fn gap_pass_due(&self) -> bool {
        let every = u64::from(self.config.gap_check);
        let periodic = every > 0 && self.iterations.is_multiple_of(every);
        self.config.makes_gap_passes() && (periodic || self.gaps.fell_below(self.config.gap_check_below))
    }

    /// Measures what calls and approximate steps cost, and decides by it.
    pub(super) fn decide<O: MaxOracle + ?Sized>(&mut self, ctx: &Ctx<'_, O>) {
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
}
