//! The world as a solver sees it: the metered oracle, chance and time.

use std::sync::LazyLock;

use crate::certificate::GapTarget;
use crate::clock::{Clock, ClockKind, Stopwatch};
use crate::lookahead::Lookahead;
use crate::oracle::{
    Ability, Capabilities, CodedPlanes, MarginalPlanes, MaxOracle, OracleError, OracleResult, Quality, SlackCount,
    check_answer,
};
use crate::plane::Plane;
use crate::rng::Rng;

/// Operations counted over a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct CallCounts {
    /// Training calls of the oracle.
    pub oracle_calls: u64,
    /// Steps whose corner came from cached planes.
    pub cached_steps: u64,
    /// Seconds inside the oracle; under the wall clock an estimate where calls are too short to time each.
    pub oracle_seconds: f64,
    /// Seconds that calls took beside these: other workers had them in hand while the run did something else.
    pub(crate) hidden_seconds: f64,
    /// The cost of slack-rescaled answers: those that a step has taken, not those that were only fetched ahead.
    pub(crate) slack: SlackCount,
}

impl CallCounts {
    /// Counts calls, the seconds that the run waited for them, and those that they took beside.
    pub(crate) fn book(&mut self, calls: u64, waited: f64, hidden: f64) {
        self.oracle_calls += calls;
        self.oracle_seconds += waited;
        self.hidden_seconds += hidden;
    }

    /// Takes back what was counted.
    pub(crate) fn take_back(&mut self, calls: u64, waited: f64, hidden: f64) {
        self.oracle_calls -= calls;
        self.oracle_seconds -= waited;
        self.hidden_seconds -= hidden;
    }

    /// Returns the mean seconds that a call took whoever answered it; `None` before the first.
    pub(crate) fn single_call(&self) -> Option<f64> {
        let seconds = self.oracle_seconds + self.hidden_seconds;
        (self.oracle_calls > 0).then(|| seconds.max(0.0) / self.oracle_calls as f64)
    }
}

/// Calls that are all timed at the start of a run, to see how long one takes.
const TIMED_FIRST: u64 = 64;

/// Of short calls, one in this many is timed: reading the clock would cost more than the call.
const TIMED_EVERY: u64 = 16;

/// The seconds that starting and reading a stopwatch takes by itself.
static READING_COST: LazyLock<f64> =
    LazyLock::new(|| (0..64).map(|_| Stopwatch::start().seconds()).fold(f64::INFINITY, f64::min));

/// A call longer than this is always timed.
const SHORT_CALL_SECONDS: f64 = 2e-5;

/// The world as a solver sees it: the metered oracle, chance and time.
///
/// The oracle can be reached in no other way, so no call goes uncounted and no faulty plane gets through.
pub struct Ctx<'a, O: ?Sized> {
    oracle: &'a mut O,
    /// The run's random numbers.
    pub rng: &'a mut Rng,
    clock: &'a mut Clock,
    counts: &'a mut CallCounts,
    lookahead: Option<&'a mut Lookahead>,
    /// The gap that the run is to end at.
    pub(crate) target: Option<GapTarget>,
}

impl<'a, O: MaxOracle + ?Sized> Ctx<'a, O> {
    /// A context for some steps.
    pub fn new(oracle: &'a mut O, rng: &'a mut Rng, clock: &'a mut Clock, counts: &'a mut CallCounts) -> Self {
        Ctx { oracle, rng, clock, counts, lookahead: None, target: None }
    }

    /// Fetches ahead through `lookahead` where solvers allow it, see [`maximize_ahead`](Ctx::maximize_ahead).
    pub fn with_lookahead(mut self, lookahead: Option<&'a mut Lookahead>) -> Self {
        self.lookahead = lookahead;
        self
    }

    /// Returns the gap that the run is to end at if the optimum is about `value`; 0 where it is to end otherwise.
    pub fn gap_wanted(&self, value: f64) -> f64 {
        self.target.map_or(0.0, |target| target.at(value).max(0.0))
    }

    /// Calls the oracle: counts, times and checks. See [`MaxOracle::maximize`].
    ///
    /// # Errors
    ///
    /// Those of the oracle, and an answer that is not usable.
    pub fn maximize(&mut self, block: usize, w: &[f64], out: &mut Plane) -> OracleResult {
        self.counts.oracle_calls += 1;
        self.forget_ahead();
        let work = self.oracle.prices().call;
        self.clock.charge(work);
        let quality = match self.clock.kind() {
            ClockKind::Work => {
                self.counts.oracle_seconds += work;
                self.oracle.maximize(block, w, out)?
            }
            ClockKind::Wall => self.timed_call(block, w, out)?,
        };
        check_answer(block, w, out, quality)?;
        self.counts.slack.take(quality, out.inner_calls());
        Ok(quality)
    }

    /// [`maximize`](Ctx::maximize) for the first of `blocks`, which may come in any order, and the promise to ask for
    /// all of them, in this order and at this very w, before anything else: where there are several workers, they
    /// answer many at a time. Whoever breaks the promise says so by [`forget_ahead`](Ctx::forget_ahead).
    ///
    /// # Errors
    ///
    /// As [`maximize`](Ctx::maximize). There must be a block.
    pub fn maximize_ahead(
        &mut self,
        blocks: impl IntoIterator<Item = usize>,
        w: &[f64],
        out: &mut Plane,
    ) -> OracleResult {
        let mut blocks = blocks.into_iter();
        let nothing = || OracleError { block: 0, reason: "no example was asked for".into() };
        let first = blocks.next().ok_or_else(nothing)?;
        let Some(lookahead) = &mut self.lookahead else { return self.maximize(first, w, out) };
        let (answered, time) = lookahead.answer(first, blocks, w, out);
        let work = self.oracle.prices().call;
        self.clock.charge(work);
        match self.clock.kind() {
            ClockKind::Work => self.counts.book(1, work, 0.0),
            ClockKind::Wall => {
                let hidden = time.taken - time.waited;
                self.counts.book(1, time.waited, hidden);
                self.clock.count_hidden(hidden);
            }
        }
        answered.inspect(|&quality| self.counts.slack.take(quality, out.inner_calls()))
    }

    /// Has other workers, where there are any, begin to answer for `blocks` at `w`: they will be asked for by
    /// [`maximize_ahead`](Ctx::maximize_ahead), at this very w and in this order, before any other call.
    pub fn ask_ahead(&mut self, blocks: impl IntoIterator<Item = usize>, w: &[f64]) {
        if let Some(lookahead) = &mut self.lookahead {
            lookahead.ask(blocks.into_iter(), w);
        }
    }

    /// Drops answers that were fetched ahead and will not be asked for: the next ones are wanted at another w.
    pub fn forget_ahead(&mut self) {
        if let Some(lookahead) = &mut self.lookahead {
            lookahead.forget();
        }
    }

    /// Has the oracle recombine labellings: checked, and charged like 2 cached planes; `false` where it cannot. See
    /// [`Recombination`](crate::oracle::Recombination).
    ///
    /// # Errors
    ///
    /// Those of the oracle, and an answer that is not usable.
    pub fn recombine(&mut self, block: usize, w: &[f64], codes: &[u32], out: &mut Plane) -> Result<bool, OracleError> {
        let Some(recombination) = self.oracle.capabilities().and_then(Capabilities::recombination) else {
            return Ok(false);
        };
        recombination.recombine(block, w, codes, out)?;
        let work = 2.0 * self.oracle.prices().plane;
        self.clock.charge(work);
        check_answer(block, w, out, Quality::Heuristic)?;
        Ok(true)
    }

    /// Asks for the plane of a good labelling that differs from those with `codes`: counted, timed and checked like any
    /// call. See [`KBestPlanes::apart`](crate::oracle::KBestPlanes::apart).
    ///
    /// # Errors
    ///
    /// Those of the oracle, and an answer that is not usable.
    pub fn apart(
        &mut self,
        block: usize,
        w: &[f64],
        codes: &[u32],
        penalties: &[f64],
        out: &mut Plane,
    ) -> Result<(), OracleError> {
        self.through_capability((1, 1.0), |oracle| {
            let diverse = oracle.capabilities().and_then(Capabilities::kbest_planes);
            diverse.ok_or_else(|| lacks(block, "keep labellings apart"))?.apart(block, w, codes, penalties, out)
        })?;
        check_answer(block, w, out, Quality::Heuristic)
    }

    /// Asks for the planes of the best labellings: counted as so many calls, timed and checked. Returns how many there
    /// are. See [`KBestPlanes::top`](crate::oracle::KBestPlanes::top).
    ///
    /// # Errors
    ///
    /// Those of the oracle, and an answer that is not usable.
    pub fn top(&mut self, block: usize, w: &[f64], calls: u64, out: &mut [Plane]) -> Result<usize, OracleError> {
        let (count, _) = self.through_capability((calls, calls as f64), |oracle| {
            let top = oracle.capabilities().and_then(Capabilities::kbest_planes);
            top.ok_or_else(|| lacks(block, "list more labellings than the best"))?.top(block, w, out)
        })?;
        if count == 0 || count > out.len() {
            let reason = format!("the oracle listed {count} labellings, expected 1 to {}", out.len());
            return Err(OracleError { block, reason });
        }
        out.iter().take(count).try_for_each(|plane| check_answer(block, w, plane, Quality::Heuristic))?;
        Ok(count)
    }

    /// Returns whether the oracle has an ability beside answering.
    pub fn has(&mut self, ability: Ability) -> bool {
        self.oracle.capabilities().is_some_and(|known| ability.is_had_by(known))
    }

    /// Returns the hinge of `block` at w = 0, its largest loss, where it is known without a search: no call. See
    /// [`Capabilities::hinge_at_zero`].
    pub fn hinge_at_zero(&mut self, block: usize) -> Option<f64> {
        self.oracle.capabilities()?.hinge_at_zero(block)
    }

    /// Has labels of a labelling drawn anew: no call, charged like a plane kept. See
    /// [`KBestPlanes::relabelled`](crate::oracle::KBestPlanes::relabelled).
    ///
    /// # Errors
    ///
    /// Those of the oracle, and an answer that is not usable.
    pub fn relabelled(
        &mut self,
        block: usize,
        w: &[f64],
        code: &[u32],
        changes: usize,
        out: &mut Plane,
    ) -> Result<(), OracleError> {
        self.charge_planes(1);
        let diverse = self.oracle.capabilities().and_then(Capabilities::kbest_planes);
        let diverse = diverse.ok_or_else(|| lacks(block, "change labellings"))?;
        diverse.relabelled(block, code, changes, self.rng, out)?;
        check_answer(block, w, out, Quality::Heuristic)
    }

    /// Returns how many numbers the marginals of `block` are. See [`MarginalPlanes`].
    ///
    /// # Errors
    ///
    /// An oracle that has none.
    pub fn marginals_len(&mut self, block: usize) -> Result<usize, OracleError> {
        self.marginals(block)?.len(block)
    }

    /// Asks for the marginals of `block` at `w` that follow `from`, and for the plane expected under them: one call,
    /// counted, timed and checked. See [`MarginalPlanes::gibbs`].
    ///
    /// # Errors
    ///
    /// Those of the oracle, and an answer that is not usable.
    pub fn gibbs(
        &mut self,
        block: usize,
        w: &[f64],
        tau: f64,
        from: &[f64],
        to: &mut [f64],
        out: &mut Plane,
    ) -> Result<(), OracleError> {
        let price = self.marginals(block)?.calls();
        self.through_capability((1, price), |oracle| {
            let marginals = oracle.capabilities().and_then(Capabilities::marginals);
            let marginals = marginals.ok_or_else(|| lacks(block, SUM))?;
            marginals.gibbs(block, w, tau, from, to)?;
            marginals.expected(block, to, out);
            Ok(())
        })?;
        check_marginals(block, to)?;
        check_answer(block, w, out, Quality::Heuristic)
    }

    /// Asks for the uniform distribution of `block`, or the one that is all on its truth, and the plane expected under
    /// it: no scores, so no call, and charged like a plane kept.
    ///
    /// # Errors
    ///
    /// Those of the oracle, and an answer that is not usable.
    pub fn begin_marginals(
        &mut self,
        block: usize,
        w: &[f64],
        uniform: bool,
        to: &mut [f64],
        out: &mut Plane,
    ) -> Result<(), OracleError> {
        self.charge_planes(1);
        let marginals = self.marginals(block)?;
        if uniform {
            marginals.gibbs(block, w, f64::INFINITY, &[], to)?;
        } else {
            marginals.on_truth(block, to);
        }
        marginals.expected(block, to, out);
        check_marginals(block, to)?;
        check_answer(block, w, out, Quality::Heuristic)
    }

    fn marginals(&mut self, block: usize) -> Result<&mut dyn MarginalPlanes, OracleError> {
        self.oracle.capabilities().and_then(Capabilities::marginals).ok_or_else(|| lacks(block, SUM))
    }

    /// Makes calls through a capability: counted as `calls`, charged as `price` of them, and timed.
    fn through_capability<T>(
        &mut self,
        (calls, price): (u64, f64),
        ask: impl FnOnce(&mut O) -> Result<T, OracleError>,
    ) -> Result<T, OracleError> {
        let work = self.oracle.prices().call * price;
        self.clock.charge(work);
        let stopwatch = Stopwatch::start();
        (0..calls).for_each(|_| self.oracle.stall());
        let answer = ask(self.oracle)?;
        let seconds = match self.clock.kind() {
            ClockKind::Work => work,
            ClockKind::Wall => (stopwatch.seconds() - *READING_COST).max(0.0),
        };
        self.counts.book(calls, seconds, 0.0);
        Ok(answer)
    }

    /// Tells the oracle which block comes next; see [`MaxOracle::prefetch`].
    pub fn prefetch(&self, block: usize) {
        self.oracle.prefetch(block);
    }

    /// Tells the oracle which block comes soon; see [`MaxOracle::prefetch_early`].
    pub fn prefetch_early(&self, block: usize) {
        self.oracle.prefetch_early(block);
    }

    fn timed_call(&mut self, block: usize, w: &[f64], out: &mut Plane) -> OracleResult {
        let calls = self.counts.oracle_calls;
        let mean = (self.counts.oracle_seconds + self.counts.hidden_seconds) / calls as f64;
        let all = calls <= TIMED_FIRST || mean > SHORT_CALL_SECONDS;
        if !all && !calls.is_multiple_of(TIMED_EVERY) {
            return self.oracle.maximize(block, w, out);
        }
        let stopwatch = Stopwatch::start();
        let quality = self.oracle.maximize(block, w, out)?;
        let seconds = (stopwatch.seconds() - *READING_COST).max(0.0);
        self.counts.oracle_seconds += seconds * if all { 1.0 } else { TIMED_EVERY as f64 };
        Ok(quality)
    }

    /// Lets the training clock run.
    pub fn resume(&mut self) {
        self.clock.resume();
    }

    /// Counts a step on cached planes.
    pub fn count_cached(&mut self) {
        self.counts.cached_steps += 1;
    }

    /// Charges the work of scoring `planes` cached planes, and of what follows.
    pub fn charge_planes(&mut self, planes: usize) {
        let work = self.oracle.prices().plane * (planes + 1) as f64;
        self.clock.charge(work);
    }

    /// Charges the work of a product with so many coefficients of sums of planes.
    pub fn charge_coefficients(&mut self, coefficients: usize) {
        self.clock.charge(crate::clock::COEFFICIENT_WORK * coefficients as f64);
    }

    /// Charges work of so many seconds.
    pub fn charge(&mut self, seconds: f64) {
        self.clock.charge(seconds);
    }

    /// Charges a pass for the blocks that it leaves out.
    pub fn charge_waiting(&mut self, blocks: usize) {
        self.clock.charge(crate::clock::WAITING_BLOCK_WORK * blocks as f64);
    }

    /// Seconds of an oracle call as decisions go by them: its price, or what calls took on average; 0 before the first.
    pub fn call_seconds(&self) -> f64 {
        match self.clock.decides_by_work() {
            true => self.oracle.prices().call,
            false => self.counts.single_call().unwrap_or(0.0),
        }
    }

    /// Training seconds so far, as reports show them: they decide nothing.
    pub fn shown(&self) -> f64 {
        self.clock.now()
    }

    /// Training seconds so far, as decisions go by them.
    pub fn now(&self) -> f64 {
        self.clock.pace()
    }
}

/// Returns the error of an oracle that lacks an ability that a solver needs, if nobody has asked before.
fn lacks(block: usize, what: &str) -> OracleError {
    OracleError { block, reason: format!("this oracle cannot {what}") }
}

/// The ability that an oracle without marginals lacks.
const SUM: &str = "sum over labellings";

/// Refuses marginals that are no probabilities.
fn check_marginals(block: usize, marginals: &[f64]) -> Result<(), OracleError> {
    let is_one = |p: f64| (0.0..=1.0 + 1e-6).contains(&p);
    // All are looked at first, without a way out: registers as a whole.
    if marginals.iter().fold(true, |all, &p| all & is_one(p)) {
        return Ok(());
    }
    match marginals.iter().position(|&p| !is_one(p)) {
        None => Ok(()),
        Some(at) => {
            let reason = format!("marginal {at} is {}, expected a probability", marginals[at]);
            Err(OracleError { block, reason })
        }
    }
}

/// Planes that the oracle knows by code are no calls of it; everything else goes through the methods above.
impl<O: MaxOracle + ?Sized> Capabilities for Ctx<'_, O> {
    fn coded_planes(&mut self) -> Option<&mut dyn CodedPlanes> {
        self.oracle.capabilities()?.coded_planes()
    }
}
