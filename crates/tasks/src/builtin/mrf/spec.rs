//! The parameters of the task, and how it is opened.

use multiplane_core::parameter::require;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::loss::MrfLoss;
use super::reading;
use crate::data::mrf;
use crate::dataset::Dataset;
use crate::entry::{TaskEntry, TaskSpec};
use crate::problem::{OpenError, Problem, Vocabulary};

/// The task as users name it.
pub const ENTRY: TaskEntry = TaskEntry::new::<MrfSpec>("mrf")
    .summary("any pairwise model given as tables of features, with weights that it shares")
    .reads(&[&mrf::FORMAT])
    .layout("[feature]")
    .oracle("trees, cuts and small models exactly, else message passing with a proven bound");

/// How labellings are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Inference {
    /// The first of these that applies: `tree`, `brute` where that is quick, a minimum cut where nodes have two labels and
    /// edges like to agree at the weights of the call, `trws`.
    #[default]
    Auto,
    /// Max-product: models without cycles. Exact.
    Tree,
    /// Enumeration: models of at most 10^8 labellings. Exact.
    Brute,
    /// Tree-reweighted message passing: anything. Approximate, with a bound.
    Trws,
}

/// Parameters of the task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MrfSpec {
    /// What a wrong label of a node costs. The oracle adds it to the scores, and evaluation reports its mean over the
    /// examples. Nodes without a label (-1) are no part of it.
    pub loss: MrfLoss,
    /// How labellings are found.
    pub inference: Inference,
    /// Most iterations of message passing of a call (`trws`). Fewer make calls cheaper, and gaps less tight.
    pub max_iterations: u64,
}

impl Default for MrfSpec {
    fn default() -> Self {
        MrfSpec { loss: MrfLoss::default(), inference: Inference::default(), max_iterations: 100 }
    }
}

impl TaskSpec for MrfSpec {
    fn open(&self, data: Dataset, vocabulary: Option<&Vocabulary>) -> Result<Box<dyn Problem>, OpenError> {
        require(self.max_iterations > 0, "max_iterations", self.max_iterations, "must be at least 1")?;
        let (reading, task) = reading::read(self, &data, vocabulary)?;
        reading.into_problem(ENTRY.name, task)
    }
}
