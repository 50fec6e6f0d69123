//! When a run stops.

use multiplane_core::parameter::{ParameterError, require};
use multiplane_core::run::{GapTarget, StopReason};
use multiplane_solvers::SolverEntry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::text;

/// Passes after which a run ends that names no budget.
pub(crate) const USUAL_PASSES: f64 = 1000.0;

/// The same of a solver that learns online.
const ONLINE_PASSES: f64 = 2.0;

/// When to stop; the first that is reached counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StopSpec {
    /// The duality gap: a number, or percent of the primal as in `1%`.
    #[serde(with = "text::gap")]
    #[schemars(with = "Value")]
    pub gap: Option<GapTarget>,
    /// Whether a gap that is only an estimate, as the oracle is a heuristic, ends the run as well.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
    /// Oracle calls / n, those of training. A single run that names a gap and nothing else ends after 1000.
    pub passes: Option<f64>,
    /// Oracle calls, those of training.
    pub calls: Option<u64>,
    /// Seconds of training and evaluation; with `evaluate=pass` of training alone.
    pub seconds: Option<f64>,
    /// So many measurements of the loss on test data (one a pass) without a lower one; needs `data.test`,
    /// `data.holdout` or `data.test_folds`. Whichever stop ends the run, the weights with the lowest loss are saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<u64>,
}

impl StopSpec {
    /// Returns the stops of a run that names none, or patience alone: a gap of 1 % where the solver has one, or two
    /// passes of one that learns online.
    pub fn usual(solver: &SolverEntry) -> Self {
        if solver.is_online {
            return StopSpec { passes: Some(ONLINE_PASSES), ..StopSpec::default() };
        }
        let gap = solver.has_dual.then_some(GapTarget::Percent(1.0));
        StopSpec { gap, passes: Some(USUAL_PASSES), ..StopSpec::default() }
    }

    /// Returns the stops as they are where some are given beside patience, else the usual ones; a solver that learns
    /// online goes on for longer where patience ends it.
    pub(super) fn or_usual(self, solver: &SolverEntry) -> Self {
        if self.gap.is_some() || self.has_budget() {
            return self;
        }
        let StopSpec { estimated, patience, .. } = self;
        let usual = StopSpec { estimated, patience, ..StopSpec::usual(solver) };
        if patience.is_some() { StopSpec { passes: Some(USUAL_PASSES), ..usual } } else { usual }
    }

    /// Returns true if these are what nobody has named, but for patience.
    pub(super) fn is_usual(&self, solver: &SolverEntry) -> bool {
        let unnamed = StopSpec { patience: self.patience, ..StopSpec::default() };
        *self == unnamed.or_usual(solver)
    }

    /// Returns true if passes, calls or seconds would end the run.
    pub fn has_budget(&self) -> bool {
        self.passes.is_some() || self.calls.is_some() || self.seconds.is_some()
    }

    /// Returns the stops without the one that is `reason`.
    pub(super) fn without(mut self, reason: Option<StopReason>) -> Self {
        match reason {
            Some(StopReason::Gap) => self.gap = None,
            Some(StopReason::Passes) => self.passes = None,
            Some(StopReason::Calls) => self.calls = None,
            Some(StopReason::Seconds) => self.seconds = None,
            Some(StopReason::Patience) => self.patience = None,
            Some(StopReason::Interrupt | StopReason::Rule) | None => {}
        }
        self
    }

    /// Checks what the types cannot say.
    pub(super) fn validate(&self) -> Result<(), ParameterError> {
        for (name, limit) in [("passes", self.passes), ("seconds", self.seconds)] {
            if let Some(limit) = limit {
                require(limit > 0.0, name, limit, "must be greater than 0")?;
            }
        }
        require(self.patience != Some(0), "patience", 0, "must be at least 1")?;
        require(self.calls != Some(0), "calls", 0, "must be at least 1")
    }
}
