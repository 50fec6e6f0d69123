//! Parameters of the labellings that a solver asks for of every example, beside the best one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::oracle::Ability;
use crate::parameter::{ParameterError, not_negative, require};

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
    MBest(MBest),
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
    /// Penalty on a label that was used, in units of the loss, in the first pass.
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
pub struct MBest {
    /// Labellings per example and pass (M): counted as so many calls.
    pub planes: u32,
    /// How labellings of the examples are put together to planes.
    pub combine: Combine,
}

impl Default for MBest {
    fn default() -> Self {
        MBest { planes: 10, combine: Combine::Ordering }
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
    pub(in crate::solvers) fn planes(&self) -> u32 {
        match self {
            Solutions::Map => 1,
            Solutions::Diverse(Diverse { planes, .. })
            | Solutions::MBest(MBest { planes, .. })
            | Solutions::Rand(Rand { planes, .. }) => *planes,
        }
    }

    /// How they are put together.
    pub(in crate::solvers) fn combine(&self) -> Combine {
        match self {
            Solutions::Map => Combine::Ordering,
            Solutions::Diverse(Diverse { combine, .. })
            | Solutions::MBest(MBest { combine, .. })
            | Solutions::Rand(Rand { combine, .. }) => *combine,
        }
    }

    /// What they take of an oracle beside answers.
    pub(in crate::solvers) fn needs(&self) -> Option<Ability> {
        match self {
            _ if self.planes() == 1 => None,
            Solutions::Map => None,
            Solutions::Diverse(_) | Solutions::Rand(_) => Some(Ability::Diverse),
            Solutions::MBest(_) => Some(Ability::Top),
        }
    }

    pub(in crate::solvers) fn check(&self) -> Result<(), ParameterError> {
        require(self.planes() > 0, "planes", self.planes(), "must be at least 1")?;
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
