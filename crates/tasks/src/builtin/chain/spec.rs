//! The chain's parameters, and how it is opened.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::builtin::chain::layout::Chain;
use crate::builtin::scaling::ScaleSpec;
use crate::builtin::sequences::{SequenceOptions, Sequences};
use crate::data::{Columns, conll, hmm, letter};
use crate::dataset::Dataset;
use crate::entry::{TaskEntry, TaskSpec};
use crate::losses::{CostTable, LossSpec};
use crate::problem::{OpenError, Problem, Vocabulary};
use crate::text::TemplateList;

/// The task as users name it.
pub const ENTRY: TaskEntry = TaskEntry::new::<ChainSpec>("chain")
    .summary("sequence labelling with a linear chain")
    .reads(&[&letter::FORMAT, &conll::FORMAT, &hmm::FORMAT])
    .layout("unary[label][feature], pair[from][to], start, end")
    .oracle("Viterbi")
    .lists_several()
    .sums();

/// Parameters of the task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChainSpec {
    /// Adds a feature that is always 1, after the others.
    pub bias: bool,
    /// Adds weights for the label at the start and at the end of a sequence.
    pub ends: bool,
    /// What the columns of features of letters and tagged rows are divided by, so that none outweighs the others: `max-abs`, `standard` or `none`. It
    /// is part of the model: data that the model is used on is divided in the same way.
    pub scale: ScaleSpec,
    /// Features of columns of text (conll): `words`, `tags`, `chunking` (both), or templates such as `w[-1]|w[0]`
    /// (word before and word), `p[1]` (next token's second column), `c2[0]`, `%x[-1,0]`; several in a list or divided
    /// by spaces. Where not given: `chunking`, or `words` for two columns.
    #[schemars(with = "Option<Vec<String>>")]
    pub template: Option<TemplateList>,
    /// Features of text that fewer tokens have are left out.
    pub min_count: u32,
    /// What a wrong labelling costs: a sum over its positions. The oracle adds it to the scores, and evaluation reports
    /// its mean. A cost matrix is given by `task.loss=cost-matrix` and `task.loss.matrix=[[0, 1], [5, 0]]`.
    pub loss: LossSpec,
    /// Factors on the loss by true label, in sorted order of the labels.
    pub class_weights: Option<Vec<f64>>,
}

impl Default for ChainSpec {
    fn default() -> Self {
        let loss = LossSpec::default();
        let scale = ScaleSpec::None;
        ChainSpec { bias: false, ends: false, scale, template: None, min_count: 1, loss, class_weights: None }
    }
}

impl TaskSpec for ChainSpec {
    fn open(&self, data: Dataset, vocabulary: Option<&Vocabulary>) -> Result<Box<dyn Problem>, OpenError> {
        let options = SequenceOptions { bias: self.bias, template: self.template.as_ref(), min_count: self.min_count };
        if self.scale != ScaleSpec::None && data.get::<Columns>().is_some() {
            let found = data.describe();
            return Err(OpenError::new(format!(
                "task.scale is for features that are numbers (letter, hmm), found {found}"
            )));
        }
        let sequences = Sequences::read(ENTRY.name, &data, &options, vocabulary)?.scaled(self.scale, vocabulary)?;
        let labels = sequences.vocabulary.labels.len();
        let costs = CostTable::new(&self.loss, self.class_weights.as_deref(), labels)?;
        let task = Chain::new(labels, sequences.vocabulary.features, self.ends, costs);
        sequences.into_problem(ENTRY.name, task)
    }
}
