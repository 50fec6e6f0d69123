//! A solver: a policy that takes one small step at a time in a context ([`Ctx`]).

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::block_point::{BlockPoint, BlockSource};
use crate::certificate::DualCertificate;
use crate::context::Ctx;
use crate::oracle::{Capabilities, MaxOracle, OracleError};
use crate::plane::Plane;
use crate::rounding::{Rounded, Rounding, TermSizes};
use crate::state::SolverState;

/// The report of a step to the driver.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// The step ended an outer iteration: a natural moment to look at bounds, and to tell of them.
    pub iteration_ended: bool,
    /// It ended a part of one after which the bounds may be looked at, too.
    pub part_ended: bool,
    /// The solver's own stopping rule holds.
    pub is_last: bool,
}

/// The progress of a solver by its own account.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolverProgress {
    /// Outer iterations begun.
    pub iterations: u64,
    /// Approximate passes made.
    pub approximate_passes: u64,
    /// Planes kept, mean per example; `None` for solvers that keep none by nature.
    pub planes: Option<f64>,
    /// The best dual value of any feasible point so far; `None` for solvers without a dual.
    pub dual: Option<f64>,
    /// Sum of the block gaps, each as it was when the oracle was last asked: an estimate of the gap at hand that costs
    /// nothing, and no bound, as w has moved since. `None` before every block was seen.
    pub gap_seen: Option<f64>,
    /// Training seconds that went into master problems; `None` for solvers without one.
    pub master_seconds: Option<f64>,
}

/// A step of functional descent over its sample S_t of examples: the values that the thesis plots (B47, Fig. 5.1, 5.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SfdStep {
    /// Mean hinge over the sample before the step, in units of the loss.
    pub hinge: f64,
    /// Share of the sample with a hinge above 0 before the step.
    pub nonzero: f64,
    /// The strength lambda_t of the step.
    pub lambda_t: f64,
    /// The squared length of the step, `|u_t|^2`.
    pub update_square: f64,
    /// Its bound: the largest residual margin and the gap left, over lambda_t (Thm. 3, which solves exactly).
    pub update_bound: f64,
    /// Cutting planes that the step was made of.
    pub update_planes: u32,
}

impl SfdStep {
    /// Returns the figures for records.
    pub fn details(&self) -> Details {
        let figures = [
            ("hinge", self.hinge.into()),
            ("nonzero", self.nonzero.into()),
            ("lambda_t", self.lambda_t.into()),
            ("update_square", self.update_square.into()),
            ("update_bound", self.update_bound.into()),
            ("update_planes", self.update_planes.into()),
        ];
        Details::new("descent", figures)
    }
}

/// Figures that only some solvers have, under a name of their own: `"descent": {"hinge": 0.5, ..}` in records.
#[derive(Clone, Debug, PartialEq)]
pub struct Details {
    name: &'static str,
    figures: Figures,
}

#[derive(Clone, Debug, PartialEq)]
struct Figures(Vec<(&'static str, Value)>);

impl Details {
    /// Puts figures together, in the order in which records have them.
    pub fn new(name: &'static str, figures: impl IntoIterator<Item = (&'static str, Value)>) -> Self {
        Details { name, figures: Figures(figures.into_iter().collect()) }
    }

    /// Returns the name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns a figure; `None` for one that is not there or not a number.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.figures.0.iter().find(|(known, _)| *known == name)?.1.as_f64()
    }
}

impl Serialize for Details {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(self.name, &self.figures)])
    }
}

impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// The primal value at weights by one call there for every example.
#[derive(Clone, Copy, Debug)]
pub struct PassValue<'a> {
    /// The weights.
    pub w: &'a [f64],
    /// The sum of the hinges, in the order of the examples.
    pub hinges: f64,
    /// If the oracle's word is that it is no less than the true one.
    pub proven: bool,
    /// The size of the terms of the scores.
    pub terms: TermSizes,
}

/// The facts of a solver, which hold from beginning to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SolverFacts {
    /// The answers seek the minimum of P at the run's lambda. Otherwise the latest answer is the one to save, and P
    /// only says what it is there; [`Run::with_latest`](crate::run::Run::with_latest) does the same for other solvers.
    pub minimises: bool,
    /// A step may move the planes of all examples at once. Bounds on the rounding of a kernel's images go by it.
    pub moves_sums: bool,
    /// Every outer iteration ends with the primal value at the w of its calls: bounds need no calls of their own on the
    /// way.
    pub evaluates: bool,
}

impl Default for SolverFacts {
    fn default() -> Self {
        SolverFacts { minimises: true, moves_sums: false, evaluates: false }
    }
}

/// A policy. One step is the smallest unit after which, once it has [caught up](Solver::catch_up),
/// [`answer`](Solver::answer) is valid.
pub trait Solver<O: MaxOracle + ?Sized>: SolverState<O> {
    /// Returns the examples drawn for the steps that have ended, of a solver whose passes are n of these: budgets and
    /// records count them then. `None` where a pass is n calls.
    fn drawn(&self) -> Option<u64> {
        None
    }

    /// Returns what holds of the solver from beginning to end.
    fn facts(&self) -> SolverFacts {
        SolverFacts::default()
    }

    /// Returns how many rows of a kernel carry weight in what [`answer`](Solver::answer) is made of now, for records;
    /// `None` without a kernel, and of solvers that do not say. Computes no value of the kernel.
    fn support_vectors(&self) -> Option<usize> {
        None
    }

    /// Takes one step.
    ///
    /// # Errors
    ///
    /// Those of the oracle.
    fn step(&mut self, ctx: &mut Ctx<'_, O>) -> Result<StepReport, OracleError>;

    /// Does what steps have left for later. Goes before anything but another step and [`progress`](Solver::progress).
    fn catch_up(&mut self) {}

    /// Writes the weights that the solver would answer with now, and returns the dual value of the point that
    /// they come from, if there is one.
    fn answer(&self, w: &mut Vec<f64>) -> Option<f64>;

    /// Writes a second answer into `w`, which may be the better one in primal value, and returns the dual value of
    /// its point; `None` where there is none.
    fn alternative(&self, _w: &mut Vec<f64>) -> Option<f64> {
        None
    }

    /// Appends to `out` the dual values that may be certified, with bounds on their rounding: of the points of
    /// [`answer`](Solver::answer), [`alternative`](Solver::alternative) and [`progress`](Solver::progress). The default
    /// believes the last of these to be exact. `source` is what the oracle can do, for planes that are known by code.
    fn rounded_duals(&self, _rounding: &Rounding, _source: &mut dyn Capabilities, out: &mut Vec<Rounded>) {
        out.extend(self.progress().dual.map(Rounded::exact));
    }

    /// The solver as one whose planes serve evaluations and are served by them, where it is.
    fn keeper(&mut self) -> Option<&mut dyn PlaneKeeper<O>> {
        None
    }

    /// The solver as one that can go on at another lambda, where it can.
    fn rescaling(&mut self) -> Option<&mut dyn Rescale<O>> {
        None
    }

    /// Makes anew what follows from planes and masses, and begins anew with what does not: w and F are rebuilt,
    /// averages and estimates are forgotten. Goes between steps, and calls no oracle. A solver without planes has
    /// nothing to do.
    fn rebuild(&mut self, _ctx: &mut Ctx<'_, O>) {}

    /// Returns what the calls of the outer iteration that has just ended found, where all were made at one w.
    fn pass_value(&self) -> Option<PassValue<'_>> {
        None
    }

    /// Counters and the best dual value.
    fn progress(&self) -> SolverProgress;

    /// Returns the figures that only this solver has, for records; `None` before there are any.
    fn details(&self) -> Option<Details> {
        None
    }

    /// The points that the solver's dual values stand on: the present one, then an averaged one where averages are
    /// kept; none for solvers without a dual.
    fn dual_points(&self) -> Vec<DualCertificate<'_>> {
        Vec::new()
    }
}

/// A solver that can bound hinges from below and learn from an evaluation.
///
/// The calls go between outer iterations. None of them calls the oracle.
pub trait PlaneKeeper<O: MaxOracle + ?Sized> {
    /// Returns the largest score at `w` among the planes known of example `block`: no more than its hinge. Costs the
    /// inner products of these planes.
    fn hinge_kept(&mut self, block: usize, w: &[f64], ctx: &mut Ctx<'_, O>) -> f64;

    /// Returns the gap of example `block` when the oracle was last asked for it; infinite before that.
    fn gap_seen(&self, block: usize) -> f64;

    /// Returns whether planes that an evaluation finds are taken; if not, nothing of it reaches the solver.
    fn takes(&self) -> bool;

    /// Keeps the oracle's answer for example `block`, which an evaluation at some w has found: a call that the next
    /// exact pass need not make.
    fn take(&mut self, block: usize, answer: &mut Plane, ctx: &mut Ctx<'_, O>);
}

/// The part of a solver's state that stays as it is when lambda changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WarmStart {
    /// w: with `rho = lambda'/lambda <= 1`, every `phi^i` becomes `rho phi^i`, the rest of its mass goes to the truth.
    /// Every block gap g_i becomes `g_i + (1 - rho) score(phi^i; w)`.
    KeepPrimal,
    /// phi: w becomes `w(phi)` at the new lambda.
    KeepDual,
}

impl WarmStart {
    /// Returns the share of phi that goes on where lambda becomes another: what keeps w, but never more than phi is.
    pub fn scale(self, before: f64, lambda: f64) -> f64 {
        match self {
            WarmStart::KeepPrimal => (lambda / before).min(1.0),
            WarmStart::KeepDual => 1.0,
        }
    }
}

/// A solver whose point phi can be taken to another lambda.
///
/// The calls go between steps. None of them calls the oracle; each costs one pass over what the blocks store.
pub trait Rescale<O: MaxOracle + ?Sized> {
    /// Goes on at `lambda`: averages start anew, planes stay. The caller sees to it that `lambda` is no larger than
    /// before where the primal is kept.
    fn rescale(&mut self, lambda: f64, start: WarmStart, ctx: &mut Ctx<'_, O>);

    /// Puts all mass of example `block` on `corner`. w follows with the next [`rescale`](Rescale::rescale) only.
    fn place(&mut self, block: usize, corner: &mut Plane, ctx: &mut Ctx<'_, O>);

    /// Writes w(phi) of the present point, no average, and returns F(phi).
    fn point(&self, w: &mut Vec<f64>) -> f64;

    /// The solver as one whose point can be handed to a run on other examples, where it may be.
    fn handover(&mut self) -> Option<&mut dyn Handover<O>> {
        None
    }

    /// The solver as one of a part of the examples, where it may be.
    fn shard(&mut self) -> Option<&mut dyn ShardSolver<O>> {
        None
    }
}

/// A solver whose point can be handed to a solver of the same kind on other examples.
///
/// The calls go between steps. None of them calls the oracle.
pub trait Handover<O: MaxOracle + ?Sized> {
    /// Returns the present point, example by example.
    fn hand_over(&self) -> Vec<BlockPoint>;

    /// Begins at a point of this problem. The first steps work on the planes kept.
    fn take_over(&mut self, blocks: &mut BlockSource<'_>, ctx: &mut Ctx<'_, O>);
}

/// A solver of a part of the examples: its problem moves with the dual points of the other parts.
///
/// The calls go between steps. None of them calls the oracle.
pub trait ShardSolver<O: MaxOracle + ?Sized> {
    /// Goes on from the same point at another strength and prior mean (`[d]`), in the outer iteration in hand.
    fn relocate(&mut self, lambda: f64, prior: &[f64], ctx: &mut Ctx<'_, O>);

    /// Ends a part of an outer iteration after so many visits that call the oracle or may; 0 for none.
    fn divide(&mut self, calls: usize);

    /// Begins a part of passes over the planes kept, without a call.
    fn replay(&mut self, ctx: &mut Ctx<'_, O>);

    /// Adds the linear parts of all blocks to `sum` (`[d]`). Returns the sum of the constant parts, and the additions
    /// behind a coordinate; `None` of a solver that cannot stand for a part of the examples.
    fn add_phi(&self, sum: &mut [f64], ctx: &mut Ctx<'_, O>) -> Option<(f64, f64)>;

    /// Returns the sizes of the terms of the planes with mass at `w`, as far as their numbers are stored.
    fn seen(&self, w: &[f64]) -> TermSizes;
}
