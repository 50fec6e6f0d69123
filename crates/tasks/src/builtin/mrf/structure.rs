//! Pairwise models as a structure: every row of a table of features is that of a label, or of a pair of labels.

use multiplane_core::oracle::Prices;
use serde::{Deserialize, Serialize};

use super::input::MrfInput;
use super::scores::{add_row, gather, score_row, score_rows};
use super::spec::{MrfInference, MrfSpec};
use crate::builtin::pairwise::{
    EngineChoice, ExampleSizes, LabelledPart, PairwiseTask, Structure, StructureKernels, StructureSolver, UNLABELLED,
    of_engine, of_planes,
};
use crate::problem::TaskVocabulary;
use crate::problem::tables::{Axis, WeightTable};

/// Seconds of a call beside everything that grows; of a feature read and weighed; of a node or edge laid out; see
/// [`prices`](crate::builtin::prices).
const CALL: f64 = 1e-6;
const FEATURE: f64 = 1e-9;
const PLACE: f64 = 1.5e-7;

/// A pair of labels of an edge, in an iteration of message passing.
const MESSAGE: f64 = 2.5e-9;

/// Any pairwise model.
pub type MrfTask = PairwiseTask<MrfStructure>;

/// Pairwise models: the number of features, and what finds labellings.
#[derive(Clone, Debug)]
pub struct MrfStructure {
    features: usize,
    inference: MrfInference,
    max_iterations: u64,
}

/// The facts that a model remembers. Labels have no names: they are numbers that mean something at their node only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MrfVocabulary {
    /// Features of labels and of pairs of labels, which are the weights.
    pub features: usize,
}

impl TaskVocabulary for MrfVocabulary {}

/// The weights of columns.
#[derive(Debug, Default)]
pub struct ColumnWeights {
    unary: Vec<f64>,
    pair: Vec<f64>,
}

/// The table of the weights; features are counted from 0, as columns of arrays are.
pub(super) fn tables(features: usize) -> Vec<WeightTable> {
    vec![WeightTable::new("feature", [Axis::features("feature", features, 0)])]
}

impl MrfTask {
    /// Makes a task of so many features; see [`MrfSpec`] for the rest.
    pub fn new(features: usize, spec: &MrfSpec) -> Self {
        PairwiseTask(MrfStructure { features, inference: spec.inference, max_iterations: spec.max_iterations })
    }
}

impl Structure for MrfStructure {
    type Input = MrfInput;
    type Vocabulary = MrfVocabulary;

    fn dim(&self) -> usize {
        self.features
    }

    fn nodes(&self, x: &MrfInput) -> usize {
        x.nodes()
    }

    fn labels(&self, x: &MrfInput, node: usize) -> usize {
        x.labels(node)
    }

    fn edges<'a>(&self, x: &'a MrfInput) -> &'a [[u32; 2]] {
        x.edges()
    }

    fn unary(&self, x: &MrfInput, node: usize, label: u32, each: &mut dyn FnMut(usize, f64)) {
        let row = x.unary_row(node, label).iter();
        row.zip(x.unary().1).for_each(|(value, &column)| each(column as usize, value));
    }

    fn pair(&self, x: &MrfInput, edge: usize, a: u32, b: u32, each: &mut dyn FnMut(usize, f64)) {
        let row = x.pair_row(edge, a, b).iter();
        row.zip(x.pair().1).for_each(|(value, &column)| each(column as usize, value));
    }

    fn show(&self, y: &[u32], _: &MrfVocabulary) -> String {
        let label = |&label: &u32| if label == UNLABELLED { "?".into() } else { label.to_string() };
        y.iter().map(label).collect::<Vec<_>>().join(" ")
    }

    fn weight_tables(&self) -> Vec<WeightTable> {
        tables(self.features)
    }

    fn is_labelling_of(&self, x: &MrfInput, y: &[u32]) -> bool {
        let is_label = |(node, &label): (usize, &u32)| match x.truth()[node] {
            truth if truth < 0 => label == UNLABELLED,
            _ => (label as usize) < x.labels(node),
        };
        y.len() == x.nodes() && y.iter().enumerate().all(is_label)
    }

    fn max_iterations(&self) -> u64 {
        self.max_iterations
    }

    fn engine(&self, x: &MrfInput, part: &LabelledPart, parents: &mut Vec<u32>) -> EngineChoice {
        match self.inference {
            MrfInference::Auto => {
                EngineChoice::exact(part, |node| x.labels(node), parents).unwrap_or(EngineChoice::CutOrMessages)
            }
            MrfInference::Tree => EngineChoice::Tree,
            MrfInference::Brute => EngineChoice::Brute,
            MrfInference::Trws => EngineChoice::Messages,
        }
    }
}

impl StructureKernels for MrfStructure {
    type Scratch = ColumnWeights;

    fn weigh(&self, x: &MrfInput, w: &[f64], own: &mut ColumnWeights) {
        gather(w, x.unary().1, &mut own.unary);
        gather(w, x.pair().1, &mut own.pair);
    }

    fn unary_score(&self, x: &MrfInput, node: usize, label: u32, _: &[f64], own: &ColumnWeights) -> f64 {
        score_row(x.unary_row(node, label), &own.unary)
    }

    fn pair_score(&self, x: &MrfInput, edge: usize, [a, b]: [u32; 2], _: &[f64], own: &ColumnWeights) -> f64 {
        score_row(x.pair_row(edge, a, b), &own.pair)
    }

    fn unary_scores(&self, x: &MrfInput, node: usize, _: &[f64], own: &ColumnWeights, out: &mut Vec<f64>) {
        score_rows(x.unary().0, x.unary_rows(node), &own.unary, out);
    }

    fn pair_scores(&self, x: &MrfInput, edge: usize, _: &[f64], own: &ColumnWeights, out: &mut Vec<f64>) {
        score_rows(x.pair().0, x.pair_rows(edge), &own.pair, out);
    }

    fn add_unary(&self, x: &MrfInput, node: usize, label: u32, scale: f64, out: &mut [f64]) {
        add_row(scale, x.unary_row(node, label), x.unary().1, out);
    }

    fn add_pair(&self, x: &MrfInput, edge: usize, (a, b): (u32, u32), scale: f64, out: &mut [f64]) {
        add_row(scale, x.pair_row(edge, a, b), x.pair().1, out);
    }
}

impl StructureSolver for MrfStructure {
    type Memory = ();

    fn prices(&self, x: &MrfInput) -> Option<Prices> {
        let (nodes, edges) = (x.nodes(), x.edges().len());
        let rows: usize = (0..nodes).map(|node| x.labels(node)).sum();
        let pairs: usize = (0..edges).map(|edge| x.pair_rows(edge).len()).sum();
        let read = (rows * x.unary().1.len() + pairs * x.pair().1.len()) as f64 * FEATURE;
        let places = (nodes + edges) as f64;
        let mut part = LabelledPart::default();
        part.take(nodes, x.edges(), None);
        let sizes = ExampleSizes {
            places,
            labels: rows as f64,
            pairs: pairs as f64,
            labellings: (0..nodes).map(|node| x.labels(node) as f64).product(),
            max_iterations: self.max_iterations,
        };
        let inference = of_engine(self.engine(x, &part, &mut Vec::new()), sizes, MESSAGE);
        Some(Prices::of_sizes(CALL + read + PLACE * places + inference, of_planes(self.features)))
    }
}
