//! When a run stops, and why it did.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// When the gap is small enough.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GapTarget {
    /// `P - F` at most this.
    Absolute(f64),
    /// `P - F` at most this many percent of P.
    Percent(f64),
}

impl From<f64> for GapTarget {
    fn from(gap: f64) -> Self {
        GapTarget::Absolute(gap)
    }
}

impl GapTarget {
    /// The gap wanted at primal value `primal`.
    pub fn at(self, primal: f64) -> f64 {
        match self {
            GapTarget::Absolute(gap) => gap,
            GapTarget::Percent(percent) => percent / 100.0 * primal,
        }
    }
}

/// When to stop; the first that is reached counts. With nothing set a run goes on until it is interrupted.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    /// The gap is small enough, and proven: a run with a heuristic oracle does not stop by it.
    pub gap: Option<GapTarget>,
    /// Whether a gap that is small enough, but only an estimate, ends the run as well.
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
    /// [`LossMeters::test`](super::LossMeters::test). Whichever stop ends such a run, its answer is the iterate with the lowest loss.
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
    /// It was asked to stop.
    Interrupt,
}
