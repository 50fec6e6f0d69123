//! Graphs as a structure: their features by kernels, two labels by a cut that starts from the last flow, planes,
//! prices.

use std::ops::Range;

use multiplane_core::example::{Examples, Memory};
use multiplane_core::layout::Layout;
use multiplane_core::oracle::Prices;
use multiplane_core::rounding::{Magnitudes, UNIT};
use multiplane_core::task::DiversityPenalty;
use multiplane_infer::restricted::Restricted;
use multiplane_infer::{InferError, Mrf};

use super::cut::{CutMemory, CutScratch};
use super::energies::{add_row, score_row};
use super::input::GraphInput;
use super::layout::{GraphStructure, tables};
use super::reading::GraphVocabulary;
use super::spec::{GraphInference, Pairwise};
use crate::builtin::pairwise::{
    EngineChoice, ExampleSizes, LabelledPart, Labelling, PairwiseScratch, Structure, StructureKernels,
    StructureQuestion, StructureSolver, UNLABELLED, is_known, of_engine, of_planes,
};
use crate::losses::UNSEEN;
use crate::metrics::LabelReport;
use crate::problem::tables::WeightTable;

/// Roundings of a node's or edge's score beside the products of its features: loss, fixed costs, whole multiples.
const PER_TERM: usize = 6;

/// The gap that engines with bounds may leave in an answer that they call exact, in roundings of all terms: 2e-9.
const OF_PROOFS: usize = (2e-9 / UNIT) as usize;

/// Sums that a row's product is added up in; see `linalg::widened_row_scores`.
const LANES: usize = 8;

/// Seconds of a call beside everything that grows; of a feature of a node, read, and times a label; see
/// [`prices`](crate::builtin::prices).
const CALL: f64 = 1e-6;
const FEATURE: f64 = 8e-11;
const FEATURE_LABEL: f64 = 1.2e-10;

/// A node or edge in a cut that starts from the last flow.
const CUT: f64 = 6.5e-8;

/// A node or edge times a label in expansion moves with their sweeps.
const EXPANSION: f64 = 4.7e-8;

/// An edge times a pair of labels, in an iteration of message passing.
const MESSAGE: f64 = 2e-9;

/// A node or edge laid out for the engine of trees, or for enumeration.
const PLACE: f64 = 1e-7;

/// Working memory of graphs.
#[derive(Debug, Default)]
pub struct GraphScratch {
    unary: Vec<f64>,
    cut: CutScratch,
    restricted: Restricted,
    /// Codes without the nodes that are none of a part.
    codes: Vec<u32>,
}

impl Memory for CutMemory {
    fn bytes(&self) -> usize {
        self.bytes_held()
    }
}

impl GraphStructure {
    /// If labellings are found by one cut.
    fn is_cut(&self) -> bool {
        match self.inference {
            GraphInference::MinCut => true,
            GraphInference::Auto => self.is_binary_cut(),
            _ => false,
        }
    }

    /// Returns where the weight of an edge feature for two labels stands, and the sign of the feature; `None` where the
    /// pair has none.
    fn place(&self, feature: usize, a: u32, b: u32) -> Option<(usize, f64)> {
        if a.max(b) as usize >= self.labels {
            return None;
        }
        let start = self.of_edge_feature(feature).start;
        match self.pairwise {
            Pairwise::Cut => (a != b).then_some((start, -1.0)),
            Pairwise::Full => Some((start + a as usize * self.labels + b as usize, 1.0)),
        }
    }

    /// Returns how many edges of labelled nodes have different labels at their ends.
    fn cut_edges(&self, x: &GraphInput, y: &[u32]) -> usize {
        let is_cut = |&&[tail, head]: &&[u32; 2]| {
            let (a, b) = (y[tail as usize], y[head as usize]);
            a != b && a != UNLABELLED && b != UNLABELLED
        };
        x.edges().iter().filter(is_cut).count()
    }
}

impl Structure for GraphStructure {
    type Input = GraphInput;
    type Vocabulary = GraphVocabulary;

    fn dim(&self) -> usize {
        self.weights()
    }

    fn nodes(&self, x: &GraphInput) -> usize {
        x.nodes()
    }

    fn labels(&self, _: &GraphInput, _: usize) -> usize {
        self.labels
    }

    fn edges<'a>(&self, x: &'a GraphInput) -> &'a [[u32; 2]] {
        x.edges()
    }

    fn unary(&self, x: &GraphInput, node: usize, label: u32, each: &mut dyn FnMut(usize, f64)) {
        let start = label as usize * self.features;
        x.row(node).iter().enumerate().for_each(|(k, value)| each(start + k, value));
    }

    fn pair(&self, x: &GraphInput, edge: usize, a: u32, b: u32, each: &mut dyn FnMut(usize, f64)) {
        for feature in 0..self.edge_features {
            if let Some((place, sign)) = self.place(feature, a, b) {
                each(place, sign * self.edge_feature(x, edge, feature));
            }
        }
    }

    fn show(&self, y: &[u32], vocabulary: &GraphVocabulary) -> String {
        y.iter().map(|&label| vocabulary.label(label)).collect::<Vec<&str>>().join(" ")
    }

    fn weight_tables(&self) -> Vec<WeightTable> {
        tables((self.labels, self.features), self.edge_features, self.pairwise)
    }

    fn label_report(&self, vocabulary: &GraphVocabulary) -> Option<LabelReport> {
        Some(LabelReport::new(vocabulary.labels.clone()).with_unseen(UNSEEN))
    }

    fn max_iterations(&self) -> u64 {
        self.max_iterations
    }

    fn engine(&self, _: &GraphInput, part: &LabelledPart, parents: &mut Vec<u32>) -> EngineChoice {
        match self.inference {
            GraphInference::MinCut => EngineChoice::Cut,
            GraphInference::Tree => EngineChoice::Tree,
            GraphInference::Brute => EngineChoice::Brute,
            GraphInference::Expansion => EngineChoice::Expansion,
            GraphInference::PersistentExpansion => EngineChoice::PersistentExpansion,
            GraphInference::Trws => EngineChoice::Messages,
            GraphInference::Auto if self.is_binary_cut() => EngineChoice::Cut,
            GraphInference::Auto => match EngineChoice::exact(part, |_| self.labels, parents) {
                Some(engine) => engine,
                None if self.pairwise == Pairwise::Cut => EngineChoice::Expansion,
                None => EngineChoice::CutOrMessages,
            },
        }
    }

    fn nonnegative(&self) -> Vec<Range<usize>> {
        let edges = self.edge_start()..self.weights();
        let bounded = self.pairwise == Pairwise::Cut && !edges.is_empty();
        bounded.then_some(edges).into_iter().collect()
    }

    fn fixed_pair(&self, a: u32, b: u32) -> f64 {
        if a == b { 0.0 } else { -self.potts }
    }

    fn has_fixed_scores(&self) -> bool {
        self.potts != 0.0
    }
}

impl StructureKernels for GraphStructure {
    type Scratch = GraphScratch;

    fn fixed_score(&self, x: &GraphInput, y: &[u32]) -> f64 {
        if self.potts == 0.0 { 0.0 } else { -self.potts * self.cut_edges(x, y) as f64 }
    }

    fn fixed_change(&self, x: &GraphInput, truth: &[u32], y: &[u32]) -> f64 {
        -(self.potts * (self.cut_edges(x, y) as f64 - self.cut_edges(x, truth) as f64))
    }

    fn add_unary(&self, x: &GraphInput, node: usize, label: u32, scale: f64, out: &mut [f64]) {
        add_row(scale, x.row(node), &mut out[label as usize * self.features..][..self.features]);
    }

    fn add_pair(&self, x: &GraphInput, edge: usize, (a, b): (u32, u32), scale: f64, out: &mut [f64]) {
        for feature in 0..self.edge_features {
            if let Some((place, sign)) = self.place(feature, a, b) {
                out[place] += sign * scale * self.edge_feature(x, edge, feature);
            }
        }
    }

    /// Edge by edge, and not labelling by labelling.
    fn add_changed_pairs(&self, x: &GraphInput, truth: &[u32], y: &[u32], scale: f64, out: &mut [f64]) {
        for (edge, ends) in x.edges().iter().enumerate() {
            let [tail, head] = ends.map(|end| end as usize);
            if truth[tail] != y[tail] || truth[head] != y[head] {
                self.add_pair(x, edge, (y[tail], y[head]), scale, out);
                self.add_pair(x, edge, (truth[tail], truth[head]), -scale, out);
            }
        }
    }

    /// Goes by the labels that are touched, not by their numbers.
    fn is_dense(&self, truth: &[u32], y: &[u32], _: &[f64]) -> bool {
        let mut touched = vec![false; self.labels];
        for (&right, &label) in truth.iter().zip(y).filter(|(right, label)| right != label && **right != UNLABELLED) {
            for label in [right, label] {
                touched.get_mut(label as usize).into_iter().for_each(|touched| *touched = true);
            }
        }
        let rows = touched.iter().filter(|touched| **touched).count() * self.features;
        2 * (rows + self.weights() - self.edge_start()) > self.weights()
    }

    fn score(&self, x: &GraphInput, y: &[u32], w: &[f64]) -> (f64, f64) {
        let (mut score, mut terms) = (0.0, 0.0);
        let mut add = |value: f64| (score, terms) = (score + value, terms + value.abs());
        for (node, &label) in y.iter().enumerate().filter(|(node, label)| is_known(self, x, *node, **label)) {
            let mut found = [0.0];
            score_row(x.row(node), &w[label as usize * self.features..][..self.features], &mut found);
            add(found[0]);
        }
        for (edge, &[tail, head]) in x.edges().iter().enumerate() {
            self.pair(x, edge, y[tail as usize], y[head as usize], &mut |place, value| add(value * w[place]));
        }
        add(-self.potts * self.cut_edges(x, y) as f64);
        (score, terms)
    }

    fn energies(
        &self,
        (x, w, truth): StructureQuestion<'_, Self>,
        part: &LabelledPart,
        own: &mut GraphScratch,
    ) -> Result<Mrf, InferError> {
        self.score_nodes(x, w, truth, part, &mut own.unary);
        self.energies_of(x, w, part, &own.unary)
    }
}

impl StructureSolver for GraphStructure {
    type Memory = CutMemory;

    fn prices(&self, x: &GraphInput) -> Option<Prices> {
        let (nodes, edges, labels) = (x.nodes() as f64, x.edges().len() as f64, self.labels as f64);
        let places = nodes + edges;
        let labels_read = if self.is_binary_cut() { 1.0 } else { labels };
        let scores = nodes * self.features as f64 * (FEATURE + FEATURE_LABEL * labels_read);
        let mut part = LabelledPart::default();
        part.take(x.nodes(), x.edges(), None);
        let inference = match self.engine(x, &part, &mut Vec::new()) {
            EngineChoice::Cut => CUT * places,
            EngineChoice::Expansion | EngineChoice::PersistentExpansion => EXPANSION * places * labels,
            engine => {
                let is_exact = matches!(engine, EngineChoice::Tree | EngineChoice::Brute);
                let laid_out = if is_exact { PLACE * places } else { 0.0 };
                let sizes = ExampleSizes {
                    places,
                    labels: labels * nodes,
                    pairs: edges * labels * labels,
                    labellings: labels.powi(x.nodes().min(1 << 20) as i32),
                    max_iterations: self.max_iterations,
                };
                laid_out + of_engine(engine, sizes, MESSAGE)
            }
        };
        Some(Prices::of_sizes(CALL + scores + inference, of_planes(self.weights())))
    }

    fn solve_directly(
        &self,
        asked: StructureQuestion<'_, Self>,
        penalty: DiversityPenalty<'_>,
        part: &LabelledPart,
        (own, memory): (&mut GraphScratch, &mut CutMemory),
        labels: &mut [u32],
    ) -> Result<bool, String> {
        if !self.is_cut() {
            return Ok(false);
        }
        let nodes = asked.0.nodes();
        let mut slopes = vec![0.0; if penalty.is_empty() { 0 } else { nodes }];
        penalty.each(nodes, |node, label, penalty| slopes[node] += if label == 0 { -penalty } else { penalty });
        self.cut(asked, &slopes, part, memory, &mut own.cut, labels)?;
        Ok(true)
    }

    fn recombines(&self) -> bool {
        self.pairwise == Pairwise::Cut
    }

    /// By expansion among the known labels.
    fn recombine(
        &self,
        (x, w, truth): (&GraphInput, &[f64], &Labelling),
        codes: &[u32],
        scratch: &mut PairwiseScratch<Self>,
        out: &mut [u32],
    ) -> Result<(), InferError> {
        let PairwiseScratch { part, labels, own, .. } = scratch;
        let model = self.energies((x, w, Some(truth)), part, own)?;
        // A truth that training never saw is none of the model's labels.
        let known = |label: u32| if (label as usize) < self.labels { label } else { 0 };
        own.codes.clear();
        for code in std::iter::once(&truth.labels[..]).chain(codes.chunks_exact(truth.labels.len())) {
            own.codes.extend(part.nodes.iter().map(|&node| known(code[node as usize])));
        }
        own.restricted.solve(&model, own.codes.chunks_exact(part.nodes.len()), labels)?;
        part.nodes.iter().zip(&*labels).for_each(|(&node, &label)| out[node as usize] = label);
        Ok(())
    }

    /// Every labelled node gives its features to one label, every edge of such nodes its features to one pair.
    fn magnitudes(&self, examples: &Examples<GraphInput, Labelling>) -> Magnitudes {
        let n = examples.labels.len() as f64;
        let mut columns = vec![0.0; self.features];
        let mut edge_columns = vec![0.0; self.edge_features];
        let (mut loss, mut fixed, mut most, mut rows) = (0.0, 0.0, 0, 0);
        let (mut part, mut parents) = (LabelledPart::default(), Vec::new());
        for (x, truth) in examples.inputs.iter().zip(&examples.labels) {
            let costs = truth.costs();
            for node in truth.labelled() {
                columns.iter_mut().zip(x.row(node).iter()).for_each(|(sum, value)| *sum += value.abs() / n);
                loss += costs.at(node) / n;
            }
            for (edge, &[tail, head]) in x.edges().iter().enumerate() {
                if truth.is_labelled(tail as usize) && truth.is_labelled(head as usize) {
                    let value = |feature: usize| self.edge_feature(x, edge, feature).abs() / n;
                    edge_columns.iter_mut().enumerate().for_each(|(feature, sum)| *sum += value(feature));
                    fixed += self.potts / n;
                }
            }
            let terms = x.nodes() + x.edges().len();
            part.take(x.nodes(), x.edges(), Some(&truth.labels));
            let engine = self.engine(x, &part, &mut parents);
            let is_exact = matches!(engine, EngineChoice::Cut | EngineChoice::Tree | EngineChoice::Brute);
            let proofs = if is_exact { 0 } else { OF_PROOFS };
            most = most.max(self.features / LANES + LANES + self.edge_features + PER_TERM * terms + proofs);
            rows = rows.max(terms);
        }
        let magnitudes =
            Magnitudes::new(loss, most, rows).with_fixed(fixed).with_table(0, self.labels, Layout::LabelMajor, columns);
        edge_columns.into_iter().enumerate().fold(magnitudes, |magnitudes, (feature, sum)| {
            let weights = self.of_edge_feature(feature);
            magnitudes.with_table(weights.start, weights.len(), Layout::ColumnMajor, vec![sum])
        })
    }

    fn largest_loss(&self, _: &GraphInput, truth: &Labelling) -> Option<f64> {
        if self.has_fixed_scores() || self.labels < 2 {
            return None;
        }
        let costs = truth.costs();
        Some(truth.labelled().map(|node| costs.at(node)).sum())
    }
}
