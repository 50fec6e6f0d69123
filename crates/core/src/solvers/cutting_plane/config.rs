//! Parameters of cutting planes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parameter::{ParameterError, not_negative, require};
use crate::solvers::solutions::{Diverse, Solutions};

/// Parameters that the master problems of all cutting-plane methods have.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Master {
    /// The master problem over the planes kept is solved to this share of the gap that the last pass met.
    pub accuracy: f64,
    /// Solutions of the master after which a plane that has had no mass in any of them is dropped.
    pub max_idle: u32,
}

impl Default for Master {
    fn default() -> Self {
        Master { accuracy: 0.1, max_idle: 50 }
    }
}

impl Master {
    pub(super) fn validate(self) -> Result<(), ParameterError> {
        let share = self.accuracy > 0.0 && self.accuracy < 1.0;
        require(share, "accuracy", self.accuracy, "must be above 0 and below 1")?;
        require(self.max_idle > 0, "max_idle", self.max_idle, "must be at least 1")
    }
}

/// Parameters of the 1-slack method and of what is built on it.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OneSlack {
    /// The master problem.
    pub master: Master,
    /// Planes of every example from which cutting planes are made between passes.
    pub cache: Cache,
    /// How far the weights of a pass are drawn from the master's solution toward the best ones so far, below 1: 0 makes it
    /// at the solution itself.
    pub inward: f64,
    /// The labellings of every example that a pass asks for: each further one gives a further plane.
    pub solutions: Solutions,
}

/// The per-example plane cache.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cache {
    /// Most planes kept per example; 0 keeps none, and every cutting plane costs a call for each example.
    pub max_planes: u32,
    /// A cutting plane made of planes kept is used where it cuts off, for what it costs, at least this share of what a pass of
    /// calls cuts off for its cost; else the oracle is called.
    pub share: f64,
}

impl Default for Cache {
    fn default() -> Self {
        Cache { max_planes: 20, share: 0.5 }
    }
}

impl OneSlack {
    /// Preset `bundle`: passes are made between the master's solution and the best weights so far.
    pub fn bundle() -> Self {
        OneSlack { inward: 0.5, ..OneSlack::default() }
    }

    /// Preset `div-m-best`: ten diverse labellings of every example in a pass.
    pub fn div_m_best() -> Self {
        OneSlack { solutions: Solutions::Diverse(Diverse::default()), ..OneSlack::default() }
    }

    pub(super) fn check(&self) -> Result<(), ParameterError> {
        self.master.validate().map_err(|error| error.under("master"))?;
        self.solutions.check().map_err(|error| error.under("solutions"))?;
        not_negative("cache.share", self.cache.share)?;
        let inward = self.inward >= 0.0 && self.inward < 1.0;
        require(inward, "inward", self.inward, "must be at least 0 and below 1")
    }
}

/// Parameters of the n-slack method.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NSlack {
    /// The master problem.
    pub master: Master,
    /// An answer is kept where it exceeds the planes kept of its example by more than this share of the mean gap of the
    /// last pass.
    pub violation: f64,
}

impl NSlack {
    pub(super) fn check(&self) -> Result<(), ParameterError> {
        self.master.validate().map_err(|error| error.under("master"))?;
        not_negative("violation", self.violation)
    }
}
