//! Parameters of cutting planes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parameter::{ParameterError, not_negative, require};

/// Most labellings per example and pass: each has a sum of planes over all weights.
const MOST_PLANES: u32 = 1000;

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
    pub cache: ExampleCacheSize,
    /// How far the weights of a pass are drawn from the master's solution toward the best ones so far, below 1: 0 makes
    /// it at the solution itself.
    pub inward: f64,
    /// The labellings of every example that a pass asks for: each further one gives a further plane.
    pub solutions: Solutions,
}

/// The labellings of every example that a pass asks for (Guzman-Rivera et al. 2014).
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Solutions {
    /// The best one alone.
    #[default]
    Map,
    /// The best one, then good ones that differ from those before (DivMBest).
    Diverse(Diverse),
    /// The M best ones.
    MBest(MBestLabellings),
    /// The best one, then such with labels drawn by chance, as diverse: the baseline without quality.
    Rand(Rand),
}

/// Parameters of diverse labellings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Diverse {
    /// Labellings per example and pass (M): so many calls.
    pub planes: u32,
    /// The share of variables in which consecutive labellings are to differ (K); the penalties follow it.
    pub diversity: f64,
    /// Penalty on a label that was used, in the first pass, in units of the largest loss of a variable.
    pub penalty: f64,
    /// How labellings of the examples are put together to planes.
    pub combine: Combine,
    /// Passes after which M - 1 and K are halved, again and again; 0 leaves them as they are.
    pub anneal: u32,
}

impl Default for Diverse {
    fn default() -> Self {
        Diverse { planes: 10, diversity: 0.1, penalty: 0.1, combine: Combine::Ordering, anneal: 0 }
    }
}

/// Parameters of the M best labellings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MBestLabellings {
    /// Labellings per example and pass (M): counted as so many calls.
    pub planes: u32,
    /// How labellings of the examples are put together to planes.
    pub combine: Combine,
}

impl Default for MBestLabellings {
    fn default() -> Self {
        MBestLabellings { planes: 10, combine: Combine::Ordering }
    }
}

/// Parameters of labellings with labels drawn by chance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rand {
    /// Labellings per example and pass (M): one call, the others cost none.
    pub planes: u32,
    /// The share of variables whose labels are drawn anew (K).
    pub diversity: f64,
    /// How labellings of the examples are put together to planes.
    pub combine: Combine,
}

impl Default for Rand {
    fn default() -> Self {
        Rand { planes: 10, diversity: 0.1, combine: Combine::Ordering }
    }
}

/// How labellings of the examples are put together to planes. The first plane is that of the best ones in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Combine {
    /// The m-th labellings of all examples make the m-th plane.
    #[default]
    Ordering,
    /// Each further plane takes of every example the labelling with which the dual gains most along it (by coordinate
    /// ascent).
    Dop1,
}

impl Solutions {
    /// Labellings per example and pass.
    pub(super) fn planes(&self) -> u32 {
        match self {
            Solutions::Map => 1,
            Solutions::Diverse(Diverse { planes, .. })
            | Solutions::MBest(MBestLabellings { planes, .. })
            | Solutions::Rand(Rand { planes, .. }) => *planes,
        }
    }

    /// How they are put together.
    pub(super) fn combine(&self) -> Combine {
        match self {
            Solutions::Map => Combine::Ordering,
            Solutions::Diverse(Diverse { combine, .. })
            | Solutions::MBest(MBestLabellings { combine, .. })
            | Solutions::Rand(Rand { combine, .. }) => *combine,
        }
    }

    pub(super) fn check(&self) -> Result<(), ParameterError> {
        let counted = (1..=MOST_PLANES).contains(&self.planes());
        require(counted, "planes", self.planes(), "must be at least 1 and at most 1000")?;
        let share = |diversity: f64| {
            let holds = (0.0..=1.0).contains(&diversity);
            require(holds, "diversity", diversity, "must be from 0 to 1")
        };
        match self {
            Solutions::Diverse(Diverse { diversity, penalty, .. }) => {
                share(*diversity)?;
                not_negative("penalty", *penalty)
            }
            Solutions::Rand(Rand { diversity, .. }) => share(*diversity),
            Solutions::Map | Solutions::MBest(_) => Ok(()),
        }
    }
}

/// The per-example plane cache.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExampleCacheSize {
    /// Most planes kept per example; 0 keeps none, and every cutting plane costs a call for each example.
    pub max_planes: u32,
    /// A cutting plane made of planes kept is used where it cuts off, for what it costs, at least this share of what a
    /// pass of calls cuts off for its cost; else the oracle is called.
    pub share: f64,
}

impl Default for ExampleCacheSize {
    fn default() -> Self {
        ExampleCacheSize { max_planes: 20, share: 0.5 }
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

/// Parameters of sampled cuts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SampledCuts {
    /// The master problem.
    pub master: Master,
    /// Examples with a hinge above 0 that a cutting plane is estimated from (r), at least 2: a whole number, or below 1
    /// a share of all. Where there are no more, the plane is exact.
    pub size: f64,
    /// The run ends where the estimated plane cuts off no more than this of P (the papers' epsilon); 0 never ends it.
    pub violation: f64,
}

impl Default for SampledCuts {
    fn default() -> Self {
        SampledCuts { master: Master::default(), size: 1000.0, violation: 0.0 }
    }
}
