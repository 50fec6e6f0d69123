//! The parameters of the task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::loss::MrfLoss;
use crate::builtin::Partial;

/// How labellings are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Inference")]
pub enum MrfInference {
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
    /// The part of variables without a label in training: they are left out, or their truth is completed, in rounds.
    pub partial: Partial,
    /// How labellings are found.
    pub inference: MrfInference,
    /// Most iterations of message passing of a call (`trws`). Fewer make calls cheaper, and gaps less tight.
    pub max_iterations: u64,
}

impl Default for MrfSpec {
    fn default() -> Self {
        MrfSpec {
            loss: MrfLoss::default(),
            partial: Partial::default(),
            inference: MrfInference::default(),
            max_iterations: 100,
        }
    }
}
