//! The chain's parameters, and how it is opened.

use std::sync::Arc;

use multiplane_core::layout::Layout;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::builtin::Partial;
use crate::builtin::chain::layout::{self, Chain};
use crate::builtin::chain::transitions::{AllowedSteps, StepList};
use crate::builtin::kernelized::{self, KernelOptions, KernelSpec, KernelVocabulary};
use crate::builtin::scaling::ScaleSpec;
use crate::builtin::sequences::{SequenceOptions, SequenceVocabulary, Sequences};
use crate::class_weights::ClassWeights;
use crate::data::{Columns, DataError, SparseRows, Tagged, conll, conllu, crfsuite, hmm, jsonl, letter};
use crate::dataset::Dataset;
use crate::entry::{TaskEntry, TaskSpec};
use crate::kernel::{Kernel, KernelStore};
use crate::losses::{CostTable, LossSpec};
use crate::problem::tables::{WeightTable, with_bias};
use crate::problem::{OpenError, Problem, Vocabulary};
use crate::text::TemplateList;

/// The task as users name it.
pub const ENTRY: TaskEntry = TaskEntry::new::<ChainSpec>("chain")
    .summary("sequence labelling with a linear chain")
    .reads(&[&letter::FORMAT, &conll::FORMAT, &conllu::FORMAT, &hmm::FORMAT, &crfsuite::FORMAT, &jsonl::FORMAT])
    .layout("unary[label][feature], pair[from][to], start, end")
    .oracle("Viterbi")
    .lists_several()
    .sums_labels();

/// Parameters of the task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChainSpec {
    /// Adds a feature that is always 1, after the others.
    pub bias: bool,
    /// Adds weights for the label at the start and at the end of a sequence.
    pub ends: bool,
    /// The steps that labellings must not take: a scheme of chunk tags, `bio`, `bioes` or `bilou`; or steps such as
    /// `A>B` (B must not follow A), `A=>B` (only B may; several are alternatives), `>B` (not first) and `A>` (not
    /// last), in a list or divided by spaces. A model keeps them. By default all steps are allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<String>>")]
    pub transitions: Option<StepList>,
    /// What the columns of features of letters and tagged rows are divided by, so that none outweighs the others: `max-abs`, `standard` or `none`. It
    /// is part of the model: data that the model is used on is divided in the same way.
    pub scale: ScaleSpec,
    /// Features of columns of text (conll, jsonl): `words`, `tags`, `chunking` (both), `forms` (affixes and shapes),
    /// `tagging` (all), or templates such as `w[-1]|w[0]` (word before and word), `p[1]` (next token's second column),
    /// `c2[0]`, `%x[-1,0]`, `suffix(w[0],3)`, and with `prefix`, `lower`, `shape`, `is_title`, `is_upper`,
    /// `has_digit`, `has_hyphen`; several in a list or divided by spaces. Where not given: `chunking`, or `words` for
    /// two columns.
    #[schemars(with = "Option<Vec<String>>")]
    pub template: Option<TemplateList>,
    /// Features of text, and attributes (crfsuite, jsonl), that fewer tokens have are left out.
    pub min_count: u32,
    /// The inner product of positions' features: `none` for weights of features, or a kernel; weights of neighbours and ends
    /// stay as they are.
    pub kernel: KernelSpec,
    /// How rows of the kernel's matrix are kept in training.
    pub kernel_rows: KernelStore,
    /// How many rows a model may hold; `null` for as many as carry weight. Once training has ended, the weights are projected
    /// onto the span of so many rows, chosen one by one, each time the one that leaves the least. P and the gap are those of the
    /// model that is left.
    pub kernel_budget: Option<u32>,
    /// What a wrong labelling costs: a sum over its positions. The oracle adds it to the scores, and evaluation reports
    /// its mean. A cost matrix is given by `task.loss=cost-matrix` and `task.loss.matrix=[[0, 1], [5, 0]]`.
    pub loss: LossSpec,
    /// The part of variables without a label in training: they are left out, or their truth is completed, in rounds.
    pub partial: Partial,
    /// Factors on the loss by true label: a list, in sorted order of the labels; by name as in
    /// `task.class_weights.NN=2`, 1 for those left out; or `balanced`, n / (labels * how often the label is true).
    /// Models hold the list.
    pub class_weights: Option<ClassWeights>,
}

impl Default for ChainSpec {
    fn default() -> Self {
        let loss = LossSpec::default();
        let scale = ScaleSpec::None;
        ChainSpec {
            bias: false,
            ends: false,
            transitions: None,
            scale,
            template: None,
            min_count: 1,
            kernel: KernelSpec::default(),
            kernel_rows: KernelStore::default(),
            kernel_budget: None,
            loss,
            partial: Partial::default(),
            class_weights: None,
        }
    }
}

impl TaskSpec for ChainSpec {
    fn open(&self, data: Dataset, vocabulary: Option<&Vocabulary>) -> Result<Box<dyn Problem>, OpenError> {
        let data = match data.get::<conllu::Treebank>() {
            Some(bank) => data.seen_as(&bank.sentences),
            None => data,
        };
        let options = SequenceOptions { bias: self.bias, template: self.template.as_ref(), min_count: self.min_count };
        let attributes = data.get::<Tagged>().is_some_and(|data| data.attributes.is_some());
        if self.scale != ScaleSpec::None && (attributes || data.get::<Columns>().is_some()) {
            let found = data.describe();
            return Err(OpenError::new(format!(
                "task.scale is for features that are numbers (letter, hmm), found {found}"
            )));
        }
        let sequences = Sequences::read(ENTRY.name, &data, &options, vocabulary)?.scaled(self.scale, vocabulary)?;
        let labels = sequences.vocabulary.labels.len();
        let costs = CostTable::new(&self.loss, ClassWeights::list(self.class_weights.as_ref())?, labels)?;
        let rule = self.rule(&data, &sequences, vocabulary.is_none())?;
        let kernel = self.kernel.kernel();
        kernelized::check_budget(self.kernel_budget, kernel)?;
        self.kernel_rows.validate(kernel).map_err(|error| error.under("kernel_rows"))?;
        if let Some(kernel) = kernel {
            if kernel == Kernel::Precomputed {
                return Err(OpenError::new("kernel `precomputed` is for rows, found sequences"));
            }
            let options = KernelOptions {
                kernel,
                store: self.kernel_rows,
                budget: self.kernel_budget,
                bias: self.bias,
                labels,
                layout: Layout::ColumnMajor,
                columns: sequences.vocabulary.features,
            };
            let task = |features| Chain::new(labels, features, self.ends, costs).with_rule(rule);
            return kernelized::open(ENTRY.name, sequences, options, vocabulary.is_some(), task);
        }
        let task = Chain::new(labels, sequences.vocabulary.features, self.ends, costs).with_rule(rule);
        sequences.into_problem(ENTRY.name, task)
    }

    fn weight_tables(&self, vocabulary: &Vocabulary) -> Result<Vec<WeightTable>, OpenError> {
        let mut known: SequenceVocabulary = vocabulary.read()?;
        let tables = with_bias(layout::tables(known.labels.len(), known.features, self.ends), self.bias);
        Ok(kernelized::tables(tables, known.of_kernel()))
    }
}

impl ChainSpec {
    /// The rule of steps for the labels of sequences; those of training must keep it.
    fn rule(
        &self,
        data: &Dataset,
        sequences: &Sequences,
        is_training: bool,
    ) -> Result<Option<Arc<AllowedSteps>>, OpenError> {
        let Some(transitions) = &self.transitions else { return Ok(None) };
        let names = &sequences.vocabulary.labels;
        let rule = AllowedSteps::new(transitions, names)?;
        let fault = |sequence: usize, t: usize, message: String| match data.place(sequence, t) {
            Some((file, line)) => OpenError::from(DataError::at(file, line, 1, message)),
            None => OpenError::new(format!("sequence {sequence}, position {t} (from 0): {message}")),
        };
        let lengths = || sequences.inputs.iter().map(SparseRows::len);
        let impossible = rule.impossible(lengths().max().unwrap_or(0));
        let none = lengths().enumerate().find(|(_, len)| impossible.binary_search(len).is_ok());
        if let Some((sequence, none)) = none {
            let message = format!("found a sequence of length {none}, of which task.transitions allows no labelling");
            return Err(fault(sequence, 0, message));
        }
        for (sequence, y) in sequences.labels.iter().enumerate().filter(|_| is_training) {
            if let Some(t) = rule.first_fault(y) {
                let name =
                    |t: usize| y.get(t).and_then(|&label| names.get(label as usize)).map(|label| format!("`{label}`"));
                let (from, to) = (t.checked_sub(1).and_then(name), name(t));
                let step = match (from, to) {
                    (Some(from), Some(to)) => format!("{to} after {from}"),
                    (None, to) => format!("{} at the start", to.unwrap_or_default()),
                    (from, None) => format!("{} at the end", from.unwrap_or_default()),
                };
                let message = format!("found {step}, which task.transitions forbids");
                return Err(fault(sequence, t.min(y.len() - 1), message));
            }
        }
        Ok(Some(Arc::new(rule)))
    }
}
