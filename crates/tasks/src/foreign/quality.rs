//! The declared quality of the decoder of a task that lives elsewhere.

use multiplane_core::oracle::Quality;
use serde::Deserialize;

/// How far all decodings of a task can be trusted, by its own word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeclaredQuality {
    /// No labelling scores higher.
    Exact,
    /// Every answer comes with a bound that no labelling exceeds.
    UpperBound,
    /// An answer may not be the best, and that is meant.
    Heuristic,
}

impl DeclaredQuality {
    /// The name by which it is declared.
    pub fn name(self) -> &'static str {
        match self {
            DeclaredQuality::Exact => "exact",
            DeclaredQuality::UpperBound => "upper-bound",
            DeclaredQuality::Heuristic => "heuristic",
        }
    }

    /// Returns the quality of one answer; `None` where a bound was declared and none came.
    pub fn of_answer(self, bound: Option<f64>) -> Option<Quality> {
        match self {
            DeclaredQuality::Exact => Some(Quality::Exact),
            DeclaredQuality::UpperBound => bound.map(Quality::UpperBound),
            DeclaredQuality::Heuristic => Some(Quality::Heuristic),
        }
    }
}
