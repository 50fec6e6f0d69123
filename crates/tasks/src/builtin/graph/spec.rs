//! The parameters of the task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::builtin::Partial;
use crate::builtin::pairwise::NodeLoss;
use crate::class_weights::ClassWeights;

/// What edges say of the labels of their ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pairwise {
    /// Ends like to agree: one weight >= 0 per edge feature is what it costs if they do not. Edge features must be >= 0.
    #[default]
    Cut,
    /// A table of weights of any sign per edge feature, for the labels of first and second end. Without edge features one
    /// that is always 1 is taken.
    Full,
}

/// How labellings are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Inference")]
pub enum GraphInference {
    /// The first of these that applies to a graph: `min-cut`, `tree`, `brute` where that is quick, `expansion`, `trws`.
    #[default]
    Auto,
    /// One minimum cut: two labels, edges that like to agree. Exact.
    MinCut,
    /// Max-product: graphs without cycles. Exact.
    Tree,
    /// Enumeration: small graphs. Exact.
    Brute,
    /// Alpha-expansion: `cut` with any number of labels. Approximate, with a bound.
    Expansion,
    /// Alpha-expansion without message passing, after labels that are proven optimal are settled (Gridchyn, Kolmogorov
    /// 2013): the oracle of the MP-BCFW paper. Approximate, with a looser bound.
    PersistentExpansion,
    /// Tree-reweighted message passing: anything. Approximate, with a bound.
    Trws,
}

/// Parameters of the task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GraphSpec {
    /// What edges say of the labels of their ends.
    pub pairwise: Pairwise,
    /// A fixed cost >= 0 of every edge whose ends have different labels, which is not learned.
    pub potts: f64,
    /// What a wrong label of a node costs. The oracle adds it to the scores, and evaluation reports its mean over the
    /// examples. Nodes without a label (-1) are no part of it.
    pub loss: NodeLoss,
    /// The part of variables without a label in training: they are left out, or their truth is completed, in rounds.
    pub partial: Partial,
    /// Factors on the loss by true label: a list, in sorted order of the labels; by name as in
    /// `task.class_weights.3=2`, 1 for those left out; or `balanced`, n / (labels * how often the label is true).
    /// Models hold the list.
    pub class_weights: Option<ClassWeights>,
    /// How labellings are found.
    pub inference: GraphInference,
    /// Most iterations of message passing of a call (`trws`, and `expansion` where its bound is not tight at once). Fewer make
    /// calls cheaper, and gaps less tight.
    pub max_iterations: u64,
}

impl Default for GraphSpec {
    fn default() -> Self {
        GraphSpec {
            pairwise: Pairwise::default(),
            potts: 0.0,
            loss: NodeLoss::default(),
            partial: Partial::default(),
            class_weights: None,
            inference: GraphInference::default(),
            max_iterations: 100,
        }
    }
}
