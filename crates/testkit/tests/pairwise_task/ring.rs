//! A pairwise task in one file: labels of the rows of a sequence whose ends are neighbours as well, as of the hours of a
//! day or the months of a year.
//!
//! Weights: `unary[label][feature]`, `pair[from][to]`.

use multiplane_tasks::builtin::Reading;
use multiplane_tasks::builtin::pairwise::{PairwiseTask, Structure, StructureKernels, StructureSolver};
use multiplane_tasks::builtin::sequences::{SequenceOptions, SequenceVocabulary, Sequences};
use multiplane_tasks::data::{SparseRows, jsonl};
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::entry::{TaskEntry, TaskSpec};
use multiplane_tasks::metrics::LabelReport;
use multiplane_tasks::problem::tables::{Axis, WeightTable, with_bias};
use multiplane_tasks::problem::{OpenError, Problem, Vocabulary};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The task as users name it.
pub(crate) const ENTRY: TaskEntry = TaskEntry::new::<RingSpec>("ring")
    .summary("labelling sequences whose ends are neighbours")
    .reads(&[&jsonl::FORMAT])
    .layout("unary[label][feature], pair[from][to]")
    .oracle("enumeration of small rings, else cuts or message passing with a proven bound")
    .lists_several();

/// Parameters of the task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RingSpec {
    /// Adds a feature that is always 1, after the others.
    pub bias: bool,
}

/// Rings: the numbers of labels and of features.
pub(crate) struct Ring {
    pub(crate) labels: usize,
    pub(crate) features: usize,
}

/// One ring.
pub(crate) struct RingInput {
    rows: SparseRows,
    edges: Vec<[u32; 2]>,
}

impl RingInput {
    /// Joins every row with the next one, and the last with the first.
    pub(crate) fn new(rows: SparseRows) -> Self {
        let (len, last) = (rows.len() as u32, rows.len().saturating_sub(1) as u32);
        let edges = (1..len).map(|row| [row - 1, row]).chain((len > 2).then_some([last, 0])).collect();
        RingInput { rows, edges }
    }
}

fn tables(labels: usize, features: usize) -> Vec<WeightTable> {
    let label = |name| Axis::labels(name, labels);
    vec![
        WeightTable::new("unary", [label("label"), Axis::features("feature", features, 1)]),
        WeightTable::new("pair", [label("from"), label("to")]),
    ]
}

impl Structure for Ring {
    type Input = RingInput;
    type Vocabulary = SequenceVocabulary;

    fn dim(&self) -> usize {
        self.labels * (self.features + self.labels)
    }

    fn nodes(&self, x: &RingInput) -> usize {
        x.rows.len()
    }

    fn labels(&self, _: &RingInput, _: usize) -> usize {
        self.labels
    }

    fn edges<'a>(&self, x: &'a RingInput) -> &'a [[u32; 2]] {
        &x.edges
    }

    fn unary(&self, x: &RingInput, node: usize, label: u32, each: &mut dyn FnMut(usize, f64)) {
        let start = label as usize * self.features;
        x.rows.row(node).iter().for_each(|(feature, value)| each(start + feature as usize, value));
    }

    fn pair(&self, _: &RingInput, _: usize, a: u32, b: u32, each: &mut dyn FnMut(usize, f64)) {
        each(self.labels * (self.features + a as usize) + b as usize, 1.0);
    }

    fn show(&self, y: &[u32], vocabulary: &SequenceVocabulary) -> String {
        y.iter().map(|&label| vocabulary.label(label)).collect::<Vec<_>>().join(" ")
    }

    fn weight_tables(&self) -> Vec<WeightTable> {
        tables(self.labels, self.features)
    }

    fn label_report(&self, vocabulary: &SequenceVocabulary) -> Option<LabelReport> {
        Some(LabelReport::new(vocabulary.labels.clone()))
    }
}

impl StructureKernels for Ring {
    type Scratch = ();
}

impl StructureSolver for Ring {
    type Memory = ();
}

impl TaskSpec for RingSpec {
    fn open(&self, data: Dataset, vocabulary: Option<&Vocabulary>) -> Result<Box<dyn Problem>, OpenError> {
        let options = SequenceOptions { bias: self.bias, template: None, min_count: 1 };
        let Reading { inputs, labels, vocabulary, fingerprint, warnings } =
            Sequences::read(ENTRY.name, &data, &options, vocabulary)?;
        let ring = Ring { labels: vocabulary.labels.len(), features: vocabulary.features };
        let inputs = inputs.into_iter().map(RingInput::new).collect();
        Reading { inputs, labels, vocabulary, fingerprint, warnings }.into_problem(ENTRY.name, PairwiseTask(ring))
    }

    fn weight_tables(&self, vocabulary: &Vocabulary) -> Result<Vec<WeightTable>, OpenError> {
        let known: SequenceVocabulary = vocabulary.read()?;
        Ok(with_bias(tables(known.labels.len(), known.features), self.bias))
    }
}
