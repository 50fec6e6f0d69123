//! The tree's parameters, and how it is opened.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arborescence::{self, ArborescenceSpec};
use super::layout::{self, TreeTask};
use super::reading::{ReadTrees, TreeVocabulary};
use crate::builtin::Partial;
use crate::builtin::scaling::ScaleSpec;
use crate::class_weights::ClassWeights;
use crate::data::{conllu, trees};
use crate::dataset::Dataset;
use crate::entry::{TaskEntry, TaskSpec};
use crate::losses::{CostTable, LossSpec};
use crate::problem::tables::{Axis, WeightTable, with_bias};
use crate::problem::{OpenError, Problem, Vocabulary};

/// The task as users name it.
pub const ENTRY: TaskEntry = TaskEntry::new::<TreeSpec>("tree")
    .summary("labelling the nodes of trees; or finding the trees (dependency parsing)")
    .reads(&[&trees::FORMAT, &conllu::FORMAT])
    .layout(
        "unary[label][feature], pair[type][from][to]; of task.structure=arborescence root[feature], \
         distance[direction][bucket][feature], pair[head's feature][direction][feature]",
    )
    .oracle("max-product; of task.structure=arborescence Chu-Liu/Edmonds")
    .lists_several()
    .sums_labels();

/// Parameters of the task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TreeSpec {
    /// What is to be found: `labels` of the nodes of given trees, or the trees themselves, `arborescence`. The latter has
    /// `task.structure.root` (`single` or `any`: how many nodes may hang on the root) and `task.structure.distances`.
    pub structure: StructureSpec,
    /// Adds a feature that is always 1, after the others.
    pub bias: bool,
    /// What the columns of features are divided by, so that none outweighs the others: `max-abs`, `standard` or `none`. It
    /// is part of the model: data that the model is used on is divided in the same way.
    pub scale: ScaleSpec,
    /// What a wrong labelling costs: a sum over its nodes. The oracle adds it to the scores, and evaluation reports
    /// its mean. A cost matrix is given by `task.loss=cost-matrix` and `task.loss.matrix=[[0, 1], [5, 0]]`.
    pub loss: LossSpec,
    /// The part of variables without a label in training: they are left out, or their truth is completed, in rounds.
    pub partial: Partial,
    /// Factors on the loss by true label: a list, in sorted order of the labels; by name as in
    /// `task.class_weights.3=2`, 1 for those left out; or `balanced`, n / (labels * how often the label is true).
    /// Models hold the list.
    pub class_weights: Option<ClassWeights>,
}

/// What is to be found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum StructureSpec {
    /// A label for every node of a given tree.
    #[default]
    Labels,
    /// The tree itself: a parent for every node, by arcs that are scored by the features of their two ends.
    Arborescence(ArborescenceSpec),
}

impl TaskSpec for TreeSpec {
    fn open(&self, data: Dataset, vocabulary: Option<&Vocabulary>) -> Result<Box<dyn Problem>, OpenError> {
        let data = match data.get::<conllu::Treebank>() {
            Some(bank) => data.seen_as(bank.trees.as_ref().map_err(|fault| OpenError::from(fault.clone()))?),
            None => data,
        };
        if let StructureSpec::Arborescence(own) = &self.structure {
            if self.partial == Partial::Masked {
                let reason = "heads are known or not as a whole, expected task.partial = left-out";
                return Err(OpenError::new(format!(
                    "task.partial = masked: with task.structure=arborescence {reason}"
                )));
            }
            let (bias, scale, loss) = (self.bias, self.scale, &self.loss);
            let has_class_weights = self.class_weights.is_some();
            let shared = arborescence::SharedOptions { name: ENTRY.name, bias, scale, loss, has_class_weights };
            return arborescence::open(own, &shared, &data, vocabulary);
        }
        let trees = ReadTrees::read(&data, (self.bias, self.scale), vocabulary)?;
        let labels = trees.vocabulary.labels.len();
        let costs = CostTable::new(&self.loss, ClassWeights::list(self.class_weights.as_ref())?, labels)?;
        let task = TreeTask::new(labels, trees.vocabulary.features, trees.vocabulary.types.len(), costs);
        trees.into_problem(ENTRY.name, task)
    }

    fn weight_tables(&self, vocabulary: &Vocabulary) -> Result<Vec<WeightTable>, OpenError> {
        let known: TreeVocabulary = vocabulary.read()?;
        let tables = match &self.structure {
            StructureSpec::Arborescence(own) => arborescence::tables(known.features, &own.distances),
            StructureSpec::Labels => layout::tables(known.labels.len(), known.features, Axis::own("type", known.types)),
        };
        Ok(with_bias(tables, self.bias))
    }
}
