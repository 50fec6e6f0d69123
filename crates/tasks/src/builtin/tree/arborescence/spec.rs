//! The parameters of `task.structure=arborescence`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many words may hang on the root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RootChildren {
    /// Exactly one, as in most treebanks.
    #[default]
    Single,
    /// One or more.
    Any,
}

/// What trees there are, and what their arcs are told apart by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ArborescenceSpec {
    /// How many nodes may hang on the root: `single` or `any`.
    pub root: RootChildren,
    /// The largest distance of each bucket of distances, ascending; one bucket more takes what is farther.
    pub distances: Vec<u32>,
}

impl Default for ArborescenceSpec {
    /// Buckets 1, 2, 3, 4 and 5, 6 to 10, and beyond.
    fn default() -> Self {
        ArborescenceSpec { root: RootChildren::default(), distances: vec![1, 2, 3, 5, 10] }
    }
}
