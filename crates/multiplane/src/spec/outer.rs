//! What a loop around runs does.

use serde::{Deserialize, Serialize};

use super::grid::GridSpec;
use super::path::PathSpec;

/// What a loop around a run does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outer {
    /// A regularisation path.
    Path(PathSpec),
    /// A grid.
    Grid(GridSpec),
}

impl Outer {
    /// What it is called.
    pub fn name(&self) -> &'static str {
        match self {
            Outer::Path(_) => "path",
            Outer::Grid(_) => "grid",
        }
    }
}
