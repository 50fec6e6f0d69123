//! Decisions by costs: how long an outer iteration lasts, when labellings are recombined and masses solved jointly.

use crate::cache::{Balance, Joint, MultiPlane, Recombine, Slope};
use crate::context::Ctx;
use crate::oracle::MaxOracle;
use crate::solver::Details;

/// Assumed cost of a recombining step, in plain steps, until a plain step is timed.
const RECOMBINING: f64 = 3.0;

/// If recombination is to pay, the first of so many approximate passes begins with it: the others take what it found
/// (`docs/adr/0030-calls-in-batches.md`).
const PASSES_PER_RECOMBINATION: u32 = 24;

/// Expected gain of a first joint solve, as a share of the gaps met.
const FIRST_SHARE: f64 = 0.3;

/// Growth of the expected gain of a joint solve each time that it is not worth its price.
const JOINT_HOPE: f64 = 1.1;

/// Extra passes, which the slope rule would not make, end once they meet at most this share of the gaps of calls.
const SETTLED: f64 = 0.03;

/// Seconds of a run for extra passes. They gain less a second than calls, but save calls.
const EXTRA_SECONDS: f64 = 0.05;

/// Passes after an update end once the gaps they met sum to at most this share of the target gap.
const SETTLED_AFTER_UPDATE: f64 = 0.1;

/// The maximum of such passes between calls: coordinate ascent redistributes masses slowly.
const PASSES_AFTER_UPDATE: u32 = 100;

/// The cost and gain of the exact pass in hand so far, and the decisions that follow.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct PassBudget {
    slope: Slope,
    balance: Balance,
    /// The share of the blocks that is called for between approximate passes; `None` if these follow whole passes.
    batch: Option<f64>,
    /// Approximate passes since the last calls; and since the last whole exact pass, which decides whose turn it is to
    /// recombine.
    passes: u32,
    turn: u32,
    /// Approximate steps of the pass in hand, without blocks left out, and when the pass began.
    steps: usize,
    pass_start: f64,
    decisions: Decisions,
    /// Expected gain of a joint solve, as a share of the gaps met in an approximate pass.
    joint_share: f64,
    /// Seconds of joint solves so far.
    joint_seconds: f64,
    end: ReplayEnd,
    /// The seconds of all extra passes.
    extra_seconds: f64,
}

/// The rule that ends approximate passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
enum ReplayEnd {
    /// The slope rule, or the share of time between batches of calls.
    #[default]
    Slope,
    /// The same, but the pass in hand is an extra one.
    Extra,
    /// Small gaps: after an update, whose planes are good and whose masses are not.
    Settled,
}

/// The gaps that decide whether an extra pass follows: the sum over the blocks that the last pass visited, and that over
/// all blocks at their last calls; and the gap that the run is to end at, 0 without one.
#[derive(Clone, Copy, Debug)]
pub(super) struct GapsMet {
    pub(super) in_pass: f64,
    pub(super) by_calls: f64,
    pub(super) wanted: f64,
}

/// The measurements of an automatic solver in the current outer iteration, and its decisions by them.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Decisions {
    /// Mean seconds of an oracle call, and of an approximate step.
    call_seconds: f64,
    step_seconds: f64,
    /// Blocks that the exact pass in hand visits.
    exact_visits: usize,
    /// Approximate passes since the last calls.
    approximate_passes: u32,
    /// If approximate steps recombined labellings.
    recombine: bool,
    /// Bytes of the planes kept, with their inner products.
    kept_bytes: usize,
}

impl PassBudget {
    pub(super) fn new(recombine: Recombine) -> Self {
        let decisions = Decisions { recombine: recombine == Recombine::Always, ..Decisions::default() };
        let (slope, balance) = (Slope::default(), Balance::default());
        PassBudget {
            slope,
            balance,
            batch: None,
            passes: 0,
            turn: 0,
            steps: 0,
            pass_start: 0.0,
            decisions,
            joint_share: FIRST_SHARE,
            joint_seconds: 0.0,
            end: ReplayEnd::Slope,
            extra_seconds: 0.0,
        }
    }

    /// Learns that the run began at the point of another one.
    pub(super) fn follow_update(&mut self) {
        self.end = ReplayEnd::Settled;
    }

    /// Returns what was measured, and decided by it, for records.
    pub(super) fn details(&self) -> Details {
        let Decisions { call_seconds, step_seconds, exact_visits, approximate_passes, recombine, kept_bytes } =
            self.decisions;
        let figures = [
            ("call_seconds", call_seconds.into()),
            ("step_seconds", step_seconds.into()),
            ("exact_visits", exact_visits.into()),
            ("approximate_passes", approximate_passes.into()),
            ("recombine", recombine.into()),
            ("kept_bytes", kept_bytes.into()),
        ];
        Details::new("decisions", figures)
    }

    /// Returns true if the steps of the approximate pass in hand recombine labellings first.
    pub(super) fn recombines(&self, recombine: Recombine) -> bool {
        let in_turn = recombine == Recombine::Always || self.turn % PASSES_PER_RECOMBINATION == 1;
        self.decisions.recombine && in_turn
    }

    /// Begins an exact pass, or goes on with it.
    pub(super) fn begin_calls(&mut self, now: f64, value: f64) {
        self.passes = 0;
        self.slope.begin_iteration(now, value);
        self.balance.begin(now, value);
    }

    /// Learns that the calls that begin are the first of an exact pass of so many visits.
    pub(super) fn begin_exact_pass(&mut self, visits: usize) {
        self.decisions.exact_visits = visits;
    }

    /// Learns what approximate passes follow: a batch with calls for this share of the blocks, or the whole pass.
    pub(super) fn follow(&mut self, batch: Option<f64>) {
        self.batch = batch;
        if batch.is_none() {
            self.turn = 0; // there are new planes everywhere
        }
    }

    /// Begins an approximate pass.
    pub(super) fn begin_pass(&mut self, now: f64, value: f64) {
        self.passes += 1;
        self.turn += 1;
        self.slope.begin_pass(now, value);
        self.balance.begin(now, value);
    }

    /// Counts an approximate step.
    pub(super) fn count_step(&mut self) {
        self.steps += 1;
    }

    /// Forgets the pass in hand, and gains at another lambda.
    pub(super) fn forget_pass(&mut self) {
        self.steps = 0;
        self.balance = Balance::default();
        self.end_extra();
    }

    /// Ends an extra pass; returns whether the pass in hand was one.
    fn end_extra(&mut self) -> bool {
        let was_extra = self.end == ReplayEnd::Extra;
        if was_extra {
            self.end = ReplayEnd::Slope;
        }
        was_extra
    }

    /// Returns whether a further approximate pass follows the calls or the pass that just ended.
    pub(super) fn another_pass(
        &mut self,
        planes: &MultiPlane,
        after_calls: bool,
        met: GapsMet,
        now: f64,
        value: f64,
    ) -> bool {
        let goes_on = match self.batch {
            Some(share) => {
                match after_calls {
                    true => self.balance.end_calls(now, value, share),
                    false => self.balance.end_pass(now, value, planes.slope_rule),
                }
                self.balance.goes_on()
            }
            None => after_calls || self.slope.go_on(now, value, planes.slope_rule),
        };
        if self.end == ReplayEnd::Settled && met.wanted > 0.0 {
            let limit = planes.pass_limit().min(PASSES_AFTER_UPDATE);
            return self.passes < limit && (after_calls || met.in_pass > SETTLED_AFTER_UPDATE * met.wanted);
        }
        let (may, settled) = (self.passes < planes.pass_limit(), met.in_pass <= SETTLED * met.by_calls.max(0.0));
        let seconds = self.extra_seconds + self.slope.of_pass(now, value).1;
        let affords = planes.joint == Joint::ByCost && seconds <= EXTRA_SECONDS;
        let is_extra = may && !goes_on && !after_calls && !settled && affords && self.end == ReplayEnd::Slope;
        if is_extra {
            self.end = ReplayEnd::Extra;
        }
        may && (goes_on || is_extra)
    }

    /// Returns whether to solve jointly for `price` seconds: there is time left for it, and it promises more gain a
    /// second than the last pass and than the iteration so far. The last pass met gaps of `model_gap` in all. If only
    /// the promise is too small, the expected share grows by [`JOINT_HOPE`].
    pub(super) fn joint_pays(&mut self, price: f64, model_gap: f64, now: f64, value: f64) -> bool {
        let promised = self.joint_share * model_gap;
        let (gained, seconds) = self.slope.of_pass(now, value);
        let (all_gained, all_seconds) = self.slope.of_iteration(now, value);
        let pays = promised * seconds > gained * price && promised * all_seconds > all_gained * price;
        // No solve is priced above the time of everything else so far.
        let affords = self.joint_seconds + price <= now && (self.batch.is_none() || self.balance.has_joint_time());
        if !affords {
            return false;
        }
        if !pays {
            self.joint_share = (JOINT_HOPE * self.joint_share).min(1.0);
        }
        pays
    }

    /// Learns that a joint solve took these seconds, gained so much and ended at dual value `value`; the gaps met were
    /// `model_gap` in all.
    pub(super) fn end_joint(&mut self, seconds: f64, gained: f64, model_gap: f64, now: f64, value: f64) {
        self.joint_seconds += seconds;
        if self.batch.is_some() {
            self.balance.end_joint(now, value, seconds);
        }
        self.turn = 0; // labellings recombined at these weights are worth most
        let share = if model_gap > 0.0 { (gained / model_gap).clamp(0.0, 1.0) } else { 0.0 };
        self.joint_share = 0.5 * (self.joint_share + share);
    }

    /// Ends calls or a pass: measures what calls and approximate steps cost, and decides by it.
    pub(super) fn end_pass<O: MaxOracle + ?Sized>(
        &mut self,
        exact: bool,
        kept_bytes: usize,
        recombined: bool,
        recombine: Recombine,
        ctx: &Ctx<'_, O>,
    ) {
        if self.end_extra() {
            self.extra_seconds += ctx.now() - self.pass_start;
        }
        let decisions = &mut self.decisions;
        decisions.call_seconds = ctx.call_seconds();
        if !exact && self.steps > 0 {
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
