//! The task's line in the registry, and how it is opened.

use multiplane_core::parameter::require;

use super::layout::{tables, weighted_edge_features};
use super::reading::{self, GraphVocabulary};
use super::spec::GraphSpec;
use crate::builtin::multilabel::{self, MultilabelSpec};
use crate::builtin::pairwise::NodeLoss;
use crate::data::{LabelSets, graphs};
use crate::dataset::Dataset;
use crate::entry::{TaskEntry, TaskSpec};
use crate::losses::LossSpec;
use crate::problem::tables::WeightTable;
use crate::problem::{OpenError, Problem, Vocabulary};

/// The task as users name it.
pub const ENTRY: TaskEntry = TaskEntry::new::<GraphSpec>("graph")
    .summary("labelling the nodes of graphs, such as superpixels")
    .reads(&[&graphs::FORMAT, &crate::data::multilabel::FORMAT])
    .layout("unary[label][feature], edge[feature] (or pair[edge feature][label][label])")
    .lambda(super::super::pairwise::LAMBDA)
    .bounded()
    .oracle(
        "exact by minimum cuts (two labels) or on trees, else alpha-expansion and message passing with a proven bound",
    )
    .lists_several()
    .sums();

impl GraphSpec {
    /// Opens sets of labels, which are labellings of the complete graph over the labels, as the task `multilabel` does
    /// by default.
    fn open_sets(&self, data: &Dataset, vocabulary: Option<&Vocabulary>) -> Result<Box<dyn Problem>, OpenError> {
        let loss = match self.loss {
            NodeLoss::Hamming => LossSpec::Hamming,
            NodeLoss::HammingSum => LossSpec::HammingSum,
            _ => return Err(OpenError::new("task.loss: sets of labels have the losses hamming and hamming-sum")),
        };
        if (GraphSpec { loss: NodeLoss::default(), ..self.clone() }) != GraphSpec::default() {
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
        reading.into_problem(ENTRY.name, task)
    }

    fn weight_tables(&self, vocabulary: &Vocabulary) -> Result<Vec<WeightTable>, OpenError> {
        if !vocabulary.own.contains_key("edge_features") {
            return MultilabelSpec::default().weight_tables(vocabulary);
        }
        let known: GraphVocabulary = vocabulary.read()?;
        let edge_features = weighted_edge_features(known.edge_features, self.pairwise);
        Ok(tables((known.labels.len(), known.features), edge_features, self.pairwise))
    }
}
