//! The parameters of the task, and how it is opened.

use multiplane_core::parameter::require;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::loss::{GraphLoss, check_factors};
use super::reading;
use crate::builtin::multilabel::{self, MultilabelSpec};
use crate::data::{LabelSets, graphs};
use crate::dataset::Dataset;
use crate::entry::{TaskEntry, TaskSpec};
use crate::losses::LossSpec;
use crate::problem::{OpenError, Problem, Vocabulary};

/// The task as users name it.
pub const ENTRY: TaskEntry = TaskEntry::new::<GraphSpec>("graph")
    .summary("labelling the nodes of graphs, such as superpixels")
    .reads(&[&graphs::FORMAT, &crate::data::multilabel::FORMAT])
    .layout("unary[label][feature], edge[feature] (or pair[edge feature][label][label])")
    .oracle("minimum cut, or alpha-expansion and message passing with a proven bound");

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
pub enum Inference {
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
    pub loss: GraphLoss,
    /// Factors on the loss by true label, in sorted order of the labels.
    pub class_weights: Option<Vec<f64>>,
    /// How labellings are found.
    pub inference: Inference,
    /// Most iterations of message passing of a call (`trws`). Fewer make calls cheaper, and gaps less tight.
    pub max_iterations: u64,
}

impl Default for GraphSpec {
    fn default() -> Self {
        GraphSpec {
            pairwise: Pairwise::default(),
            potts: 0.0,
            loss: GraphLoss::default(),
            class_weights: None,
            inference: Inference::default(),
            max_iterations: 100,
        }
    }
}

impl GraphSpec {
    /// Opens sets of labels, which are labellings of the complete graph over the labels, as the task `multilabel` does by
    /// default.
    fn open_sets(&self, data: &Dataset, vocabulary: Option<&Vocabulary>) -> Result<Box<dyn Problem>, OpenError> {
        let loss = match self.loss {
            GraphLoss::Hamming => LossSpec::Hamming,
            GraphLoss::HammingSum => LossSpec::HammingSum,
            _ => return Err(OpenError::new("task.loss: sets of labels have the losses hamming and hamming-sum")),
        };
        if (GraphSpec { loss: GraphLoss::default(), ..self.clone() }) != GraphSpec::default() {
            return Err(OpenError::new(
                "parameters of task `graph` other than task.loss have no effect on sets of labels: task `multilabel` has \
                 parameters for them",
            ));
        }
        multilabel::open(&MultilabelSpec { loss, ..MultilabelSpec::default() }, ENTRY.name, data, vocabulary)
    }
}

impl TaskSpec for GraphSpec {
    fn open(&self, data: Dataset, vocabulary: Option<&Vocabulary>) -> Result<Box<dyn Problem>, OpenError> {
        require(self.potts.is_finite() && self.potts >= 0.0, "potts", self.potts, "must be a finite number >= 0")?;
        require(self.max_iterations > 0, "max_iterations", self.max_iterations, "must be at least 1")?;
        if data.get::<LabelSets>().is_some() {
            return self.open_sets(&data, vocabulary);
        }
        let (reading, task) = reading::read(self, &data, vocabulary)?;
        check_factors(self.class_weights.as_deref(), reading.vocabulary.labels.len())?;
        reading.into_problem(ENTRY.name, task)
    }
}
