//! The stops of a run, its outcome, and the reasons why one fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::certificate::GapTarget;
use crate::observe::{Certificate, EarlyStopping, RunCost};
use crate::oracle::{OracleError, SlackCount};
use crate::rounding::{Rounded, TermSizes};
use crate::solver::{Details, SolverProgress};

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The oracle gave no usable answer.
    #[error(transparent)]
    Oracle(#[from] OracleError),
    /// A loop over several lambdas needs more than this solver, oracle or regulariser offers.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The objective overflowed.
    #[error("the primal value became {0}: the features or 1/lambda are too large for 64-bit numbers")]
    NotFinite(f64),
    /// Nothing bounds what rounding did to the values of a point that is to be certified.
    #[error(
        "at lambda = {lambda} it is not known how far the values are off by rounding, so no gap can be certified: the \
         features or 1/lambda are too large for 64-bit numbers (`--set task.scale=max-abs` divides features)"
    )]
    UnknownRounding {
        /// The strength of the regulariser.
        lambda: f64,
    },
    /// Weak duality rules the values out: the oracle's word, by which P is proven, is not kept.
    #[error(
        "the dual value {dual} exceeds the primal value {primal}: the oracle's answers are not what it says of them \
         (`multiplane check`, and check(X, Y) in Python, look for the reason), or the kernel's matrix is not positive \
         semidefinite"
    )]
    Contradicted {
        /// P, by answers that are said to prove it.
        primal: f64,
        /// F, above it.
        dual: f64,
    },
    /// A record could not be written.
    #[error("the record could not be written: {0}")]
    Record(#[from] std::io::Error),
}

/// The lack that keeps a loop over several lambdas from starting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsupported {
    /// The solver cannot change lambda.
    #[error("the solver cannot go on at another lambda: expected one of the block-coordinate Frank-Wolfe family")]
    OneLambda,
    /// The regulariser has a prior mean.
    #[error("a path needs a regulariser without a prior mean")]
    Prior,
    /// The oracle certifies nothing.
    #[error("the oracle is only a heuristic here: a path needs gaps that are proven")]
    NotProven,
}

/// Measures the mean task loss of predictions at `w` in so many seconds at most; `None` where no truth is known, or
/// these do not suffice.
pub type LossMeter = Box<dyn FnMut(&[f64], f64) -> Result<Option<f64>, OracleError>>;

/// The data that task losses are measured on.
#[derive(Default)]
pub struct LossMeters {
    /// The training set, for records; without it they hold no losses but those that patience goes by.
    pub train: Option<LossMeter>,
    /// The test set: for records, and for [`Stop::patience`](super::Stop::patience).
    pub test: Option<LossMeter>,
    /// The number of its examples, for the cost of a measurement.
    pub test_examples: usize,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The weights with the lowest primal value seen, or the [latest](super::Run::with_latest), or with
    /// [patience](super::Stop::patience) those with the lowest held-out loss.
    pub w: Vec<f64>,
    /// The bounds there; the primal value is an upper bound on it if the oracle only gave bounds, and infinite if the
    /// budget had no room to evaluate it.
    pub certificate: Certificate,
    /// The primal value of w = 0, if it is known without a call. Only runs that answer [with the
    /// latest](super::Run::with_latest) or with a `multiple` answer with a higher one.
    pub primal_at_zero: Option<f64>,
    /// If no iterate beats w = 0: the factor t <= 1 that shrinks the best one to fit the gap; 1 if it fits unshrunk.
    pub multiple: Option<f64>,
    /// The pass since which the dual value has hardly risen and no gap, proven or met by visits, has fallen much, if
    /// that is long.
    pub still_since: Option<f64>,
    /// Seconds that task losses took, for records and for patience.
    pub loss_seconds: f64,
    /// The cost of slack-rescaled answers, those of evaluation among them.
    pub slack: SlackCount,
    /// The report of held-out data, if the run had patience.
    pub early_stopping: Option<EarlyStopping>,
    /// Why the run ended.
    pub stop_reason: StopReason,
    /// Its cost.
    pub cost: RunCost,
    /// Iterations, approximate passes, planes.
    pub progress: SolverProgress,
    /// The figures that only this solver has.
    pub details: Option<Details>,
    /// The part of the gap that may be rounding, if that is most of it.
    pub rounding: Option<f64>,
}

/// The iterate to save.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Best {
    pub(super) w: Vec<f64>,
    pub(super) primal: Rounded,
    pub(super) proven: bool,
    /// What the evaluation found, example by example; `None` if only the sum is known.
    pub(super) hinges: Option<KnownHinges>,
}

/// The hinges of all examples at some weights.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct KnownHinges {
    /// By example.
    pub(super) hinges: Vec<f64>,
    /// Terms of the scores, if the task does not bound them.
    pub(super) terms: TermSizes,
}

/// When to stop; the first that is reached counts. With nothing set a run goes on until it is interrupted.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    /// The gap is small enough, and proven: a run with a heuristic oracle does not stop by it.
    pub gap: Option<GapTarget>,
    /// If a gap that is small enough, but only an estimate, ends the run as well.
    pub estimated: bool,
    /// Oracle calls / n, those of training; examples drawn / n where the solver counts these ([`Solver::drawn`]).
    ///
    /// [`Solver::drawn`]: crate::solver::Solver::drawn
    pub passes: Option<f64>,
    /// Oracle calls, those of training.
    pub calls: Option<u64>,
    /// Seconds of training and evaluation, the last evaluation included where the budget can bear it; with
    /// [`Evaluate::Pass`](super::Evaluate::Pass) of training alone.
    pub seconds: Option<f64>,
    /// So many measurements of the loss on held-out data without a lower one; needs
    /// [`LossMeters::test`](super::LossMeters::test). Whichever stop ends such a run, its answer is the iterate with
    /// the lowest loss.
    pub patience: Option<u64>,
    /// Set from outside to ask the run to stop.
    pub interrupt: Option<Arc<AtomicBool>>,
}

impl Stop {
    /// Returns whether the run was asked to stop.
    pub fn is_interrupted(&self) -> bool {
        self.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// The gap is small enough.
    Gap,
    /// The passes are spent.
    Passes,
    /// The oracle calls are spent.
    Calls,
    /// The seconds are spent.
    Seconds,
    /// The loss on held-out data does not fall any more.
    Patience,
    /// The solver's own rule holds.
    Rule,
    /// It was asked to stop.
    Interrupt,
}
