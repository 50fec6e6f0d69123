//! The parameters of `task.structure=arborescence`, and how it is opened.

use multiplane_core::parameter::require;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::layout::ArborescenceTask;
use super::reading::read;
use crate::builtin::tree::spec::{ENTRY, TreeSpec};
use crate::dataset::Dataset;
use crate::losses::LossSpec;
use crate::problem::{OpenError, Problem, Vocabulary};

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

/// Opens sentences; see [`TaskSpec::open`](crate::entry::TaskSpec::open).
pub(in crate::builtin::tree) fn open(
    spec: &TreeSpec,
    own: &ArborescenceSpec,
    data: &Dataset,
    vocabulary: Option<&Vocabulary>,
) -> Result<Box<dyn Problem>, OpenError> {
    let counts = matches!(spec.loss, LossSpec::Hamming | LossSpec::HammingSum);
    let rule = "must be `hamming` or `hamming-sum` with task.structure=arborescence: heads have no table of costs";
    require(counts, "loss", "cost-matrix", rule)?;
    let rule = "must not be there with task.structure=arborescence: words have no classes";
    require(spec.class_weights.is_none(), "class_weights", "a list", rule)?;
    let reading = read(own, data, (spec.bias, spec.scale), vocabulary)?;
    let single = own.root == RootChildren::Single;
    let normalized = spec.loss == LossSpec::Hamming;
    let task = ArborescenceTask::new(reading.vocabulary.features, own.distances.clone(), single, normalized);
    reading.into_problem(ENTRY.name, task)
}
