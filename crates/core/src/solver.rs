//! What a solver is: a policy that takes one small step at a time, and the context that it steps in.

use std::ops::Range;
use std::sync::LazyLock;

use crate::ahead::Ahead;
use crate::clock::{Clock, ClockKind, Stopwatch};
use crate::oracle::{MaxOracle, OracleError, PlaneSource, Quality, check_answer};
use crate::plane::Plane;
use crate::point::DualPoint;
use crate::rescale::Rescale;
use crate::rng::Rng;
use crate::state::StateError;

/// Operations counted over a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Counts {
    /// Training calls of the oracle.
    pub oracle_calls: u64,
    /// Steps whose corner came from cached planes.
    pub cached_steps: u64,
    /// Seconds inside the oracle; under the wall clock an estimate where calls are too short to time each.
    pub oracle_seconds: f64,
}

/// Calls that are all timed at the start of a run, to see how long one takes.
const TIMED_FIRST: u64 = 64;

/// Of short calls, one in this many is timed: reading the clock would cost more than the call.
const TIMED_EVERY: u64 = 16;

/// What starting and reading a stopwatch takes by itself, in seconds.
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
    counts: &'a mut Counts,
    ahead: Option<&'a mut Ahead>,
}

impl<'a, O: MaxOracle + ?Sized> Ctx<'a, O> {
    /// A context for some steps.
    pub fn new(oracle: &'a mut O, rng: &'a mut Rng, clock: &'a mut Clock, counts: &'a mut Counts) -> Self {
        Ctx { oracle, rng, clock, counts, ahead: None }
    }

    /// Fetches ahead through `ahead` where solvers allow it, see [`maximize_ahead`](Ctx::maximize_ahead).
    pub fn with_ahead(mut self, ahead: Option<&'a mut Ahead>) -> Self {
        self.ahead = ahead;
        self
    }

    /// Calls the oracle: counts, times and checks. See [`MaxOracle::maximize`].
    pub fn maximize(&mut self, block: usize, w: &[f64], out: &mut Plane) -> Result<Quality, OracleError> {
        self.counts.oracle_calls += 1;
        if let Some(ahead) = &mut self.ahead {
            ahead.forget();
        }
        let quality = match self.clock.kind() {
            ClockKind::Work => {
                let work = self.oracle.work();
                self.clock.charge(work);
                self.counts.oracle_seconds += work;
                self.oracle.maximize(block, w, out)?
            }
            ClockKind::Wall => self.timed_call(block, w, out)?,
        };
        check_answer(block, w.len(), out, quality)?;
        Ok(quality)
    }

    /// [`maximize`](Ctx::maximize) for the first of `blocks`, and the promise to ask for all of them, in order and at
    /// this very w, before anything else: where there are several workers, they answer many at a time.
    pub fn maximize_ahead(&mut self, blocks: Range<usize>, w: &[f64], out: &mut Plane) -> Result<Quality, OracleError> {
        let Some(ahead) = &mut self.ahead else { return self.maximize(blocks.start, w, out) };
        self.counts.oracle_calls += 1;
        let seconds = if ahead.holds(blocks.start) { 0.0 } else { ahead.fetch(blocks, w) };
        match self.clock.kind() {
            ClockKind::Work => {
                let work = self.oracle.work();
                self.clock.charge(work);
                self.counts.oracle_seconds += work;
            }
            ClockKind::Wall => self.counts.oracle_seconds += seconds,
        }
        ahead.take(out)
    }

    /// Has the oracle recombine labellings: checked, and charged like `2` cached planes. See
    /// [`MaxOracle::recombine`].
    pub fn recombine(&mut self, block: usize, w: &[f64], codes: &[u32], out: &mut Plane) -> Result<bool, OracleError> {
        if !self.oracle.recombine(block, w, codes, out)? {
            return Ok(false);
        }
        self.clock.charge(2.0 * crate::clock::CACHED_PLANE_WORK);
        check_answer(block, w.len(), out, Quality::Heuristic)?;
        Ok(true)
    }

    /// Tells the oracle which block comes next; see [`MaxOracle::expect`].
    pub fn expect(&self, block: usize) {
        self.oracle.expect(block);
    }

    fn timed_call(&mut self, block: usize, w: &[f64], out: &mut Plane) -> Result<Quality, OracleError> {
        let calls = self.counts.oracle_calls;
        let mean = self.counts.oracle_seconds / calls as f64;
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
        self.clock.charge(crate::clock::CACHED_PLANE_WORK * (planes + 1) as f64);
    }

    /// Mean seconds of an oracle call so far; 0 before the first.
    pub fn call_seconds(&self) -> f64 {
        self.counts.oracle_seconds / self.counts.oracle_calls.max(1) as f64
    }

    /// Training seconds so far.
    pub fn now(&self) -> f64 {
        self.clock.now()
    }
}

impl<O: MaxOracle + ?Sized> PlaneSource for Ctx<'_, O> {
    fn knows_planes(&self) -> bool {
        self.oracle.knows_planes()
    }
    fn linear_scores(&mut self, block: usize, w: &[f64], codes: &[u32], out: &mut [f64]) {
        self.oracle.linear_scores(block, w, codes, out);
    }
    fn add_planes(&mut self, block: usize, codes: &[u32], amounts: &[f64], scale: f64, target: &mut [f64]) {
        self.oracle.add_planes(block, codes, amounts, scale, target);
    }
}

/// What a step reports to the driver.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// The step ended an outer iteration: a natural moment to look at bounds.
    pub iteration_ended: bool,
}

/// What a solver would report about itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Outer iterations begun.
    pub iterations: u64,
    /// Approximate passes made.
    pub approximate_passes: u64,
    /// Planes kept, mean per example; `None` for solvers that keep none by nature.
    pub planes: Option<f64>,
    /// The best dual value of any feasible point so far; `None` for solvers without a dual.
    pub dual: Option<f64>,
    /// What a solver that chooses has measured and decided.
    pub decisions: Option<Decisions>,
}

/// What an automatic solver measured, and decided by it, in the outer iteration in hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Decisions {
    /// Mean seconds of an oracle call.
    pub call_seconds: f64,
    /// Mean seconds of an approximate step.
    pub step_seconds: f64,
    /// Blocks that the exact pass called the oracle for.
    pub exact_visits: usize,
    /// Approximate passes that the slope rule allowed.
    pub approximate_passes: u32,
    /// Whether approximate steps recombined labellings.
    pub recombine: bool,
    /// Bytes of the planes kept, with their inner products.
    pub kept_bytes: usize,
}

/// A policy. One step is the smallest unit after which [`answer`](Solver::answer) is valid.
pub trait Solver<O: MaxOracle + ?Sized> {
    /// Takes one step.
    fn step(&mut self, ctx: &mut Ctx<'_, O>) -> Result<StepReport, OracleError>;

    /// Writes the weights that the solver would answer with now, and returns the dual value of the point that
    /// they come from, if there is one.
    fn answer(&self, w: &mut Vec<f64>) -> Option<f64>;

    /// Writes a second answer into `w`, which may be the better one in primal value, and returns the dual value of
    /// its point; `None` where there is none.
    fn alternative(&self, _w: &mut Vec<f64>) -> Option<f64> {
        None
    }

    /// The solver as one that can go on at another lambda, where it can.
    fn rescaling(&mut self) -> Option<&mut dyn Rescale<O>> {
        None
    }

    /// Counters and the best dual value.
    fn progress(&self) -> Progress;

    /// Appends to `out` everything that decides the solver's future.
    fn save(&self, out: &mut Vec<u8>) -> Result<(), StateError>;

    /// Goes on from where a solver of the same parameters and problem was saved; the error says why it cannot, and
    /// then nothing has changed. `oracle` is asked whether it knows the labellings that are kept.
    fn restore(&mut self, state: &[u8], oracle: &O) -> Result<(), StateError>;

    /// The points that the solver's dual values stand on: the present one, then an averaged one where averages are
    /// kept; none for solvers without a dual.
    fn dual_points(&self) -> Vec<DualPoint<'_>> {
        Vec::new()
    }
}
