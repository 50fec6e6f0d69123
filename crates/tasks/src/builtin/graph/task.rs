//! Graphs as a task: features, losses and the decoder.

use std::ops::Range;

use multiplane_core::example::Examples;
use multiplane_core::layout::Layout;
use multiplane_core::oracle::{Prices, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::rounding::{Magnitudes, UNIT};
use multiplane_core::task::{
    ExampleOf, LabelCodes, QuestionOf, RecombineLabels, ScoreMagnitudes, Task, TaskCapabilities, WorkspaceOf,
};

use super::decode::{GraphMemory, GraphScratch, GraphWay};
use super::input::GraphInput;
use super::layout::GraphTask;
use super::prices;
use super::spec::Pairwise;
use crate::builtin::pairwise::{Labelling, Part, Way, push_filled};
use crate::builtin::several::labels::Apart;

/// Roundings of a node's or edge's score beside the products of its features: loss, fixed costs, whole multiples.
const PER_TERM: usize = 6;

/// What engines with bounds may leave open where they call an answer exact, in roundings of all terms: 2e-9 of them.
const OF_PROOFS: usize = (2e-9 / UNIT) as usize;

/// Sums that a row's product is added up in; see `linalg::widened_row_scores`.
const LANES: usize = 8;

impl Task for GraphTask {
    type Input = GraphInput;
    type Label = Labelling;
    type Scratch = GraphScratch;
    type Memory = GraphMemory;

    fn dim(&self) -> usize {
        self.weights()
    }

    fn nonnegative(&self) -> Vec<Range<usize>> {
        let edges = self.edge_start()..self.weights();
        let bounded = self.pairwise == Pairwise::Cut && !edges.is_empty();
        bounded.then_some(edges).into_iter().collect()
    }

    fn features(&self, x: &GraphInput, y: &Labelling, scale: f64, out: &mut Plane) {
        let mut dense = vec![0.0; self.weights()];
        self.add_features(x, &y.labels, scale, &mut dense);
        push_filled(&dense, out);
    }

    fn loss(&self, truth: &Labelling, y: &Labelling) -> f64 {
        truth.loss(y)
    }

    fn largest_loss(&self, example: ExampleOf<'_, Self>) -> Option<f64> {
        if self.potts > 0.0 || self.labels < 2 {
            return None;
        }
        let costs = example.truth.costs();
        Some(example.truth.labelled().map(|node| costs.at(node)).sum())
    }

    fn prices(&self, x: &GraphInput) -> Option<Prices> {
        Some(prices::of_graph(self, x))
    }

    fn fixed_score(&self, x: &GraphInput, y: &Labelling) -> f64 {
        if self.potts == 0.0 { 0.0 } else { -self.potts * self.cut_edges(x, &y.labels) as f64 }
    }

    fn score(&self, x: &GraphInput, y: &Labelling, w: &[f64], _: &mut Plane) -> (f64, f64) {
        self.score(x, &y.labels, w)
    }

    fn decode(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut Labelling,
    ) -> Result<Quality, String> {
        self.label((question.input, w, question.truth), Apart::default(), work.scratch, work.memory, out)
    }

    fn plane(
        &self,
        example: ExampleOf<'_, Self>,
        y: &Labelling,
        scale: f64,
        work: WorkspaceOf<'_, Self>,
        out: &mut Plane,
    ) {
        self.write_plane(example.input, (example.truth, y), scale, &mut work.scratch.plane, out);
    }

    fn capabilities(&self) -> TaskCapabilities<'_, Self> {
        let recombination = (self.pairwise == Pairwise::Cut).then_some(self as &dyn RecombineLabels<Self>);
        TaskCapabilities {
            codes: Some(self),
            recombination,
            magnitudes: Some(self),
            top: Some(self),
            diverse: Some(self),
            max_marginals: Some(self),
            ..TaskCapabilities::none()
        }
    }
}

impl LabelCodes<GraphTask> for GraphTask {
    fn encode(&self, y: &Labelling, code: &mut Vec<u32>) {
        code.clone_from(&y.labels);
    }

    fn is_code(&self, truth: &Labelling, code: &[u32]) -> bool {
        truth.admits(code, |_| self.labels)
    }
}

impl RecombineLabels<GraphTask> for GraphTask {
    fn recombine(
        &self,
        example: ExampleOf<'_, Self>,
        w: &[f64],
        codes: &[u32],
        work: WorkspaceOf<'_, Self>,
        out: &mut Labelling,
    ) -> Result<(), String> {
        let (x, truth) = (example.input, example.truth);
        let GraphScratch { part, unary, restricted, labels, codes: inner, .. } = work.scratch;
        part.take(x.nodes(), x.edges(), Some(&truth.labels));
        self.score_nodes(x, w, Some(truth), part, unary);
        let model = self.energies(x, w, part, unary).map_err(|error| error.to_string())?;
        inner.clear();
        let of_part = |code: &[u32], inner: &mut Vec<u32>| {
            // A truth that training never saw is none of the model's labels.
            inner.extend(part.nodes.iter().map(|&node| code[node as usize]).map(|label| match label as usize {
                known if known < self.labels => label,
                _ => 0,
            }));
        };
        of_part(&truth.labels, inner);
        codes.chunks_exact(truth.labels.len().max(1)).for_each(|code| of_part(code, inner));
        out.judge = None;
        out.labels.clone_from(&truth.labels);
        if part.nodes.is_empty() {
            return Ok(());
        }
        let known = inner.chunks_exact(part.nodes.len());
        restricted.solve(&model, known, labels).map_err(|error| error.to_string())?;
        part.nodes.iter().zip(&*labels).for_each(|(&node, &label)| out.labels[node as usize] = label);
        Ok(())
    }
}

impl ScoreMagnitudes<GraphTask> for GraphTask {
    /// Every labelled node gives its features to one label, every edge of such nodes its features to one pair.
    fn magnitudes(&self, examples: &Examples<GraphInput, Labelling>) -> Magnitudes {
        let n = examples.labels.len() as f64;
        let mut columns = vec![0.0; self.features];
        let mut edge_columns = vec![0.0; self.edge_features];
        let (mut loss, mut fixed, mut most, mut rows) = (0.0, 0.0, 0, 0);
        let (mut part, mut parents) = (Part::default(), Vec::new());
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
            let way = self.way(&part, &mut parents);
            let proven = !matches!(way, GraphWay::Cut | GraphWay::Engine(Way::Tree | Way::Brute));
            let engine = if proven { OF_PROOFS } else { 0 };
            most = most.max(self.features / LANES + LANES + self.edge_features + PER_TERM * terms + engine);
            rows = rows.max(terms);
        }
        let mut magnitudes =
            Magnitudes::new(loss, most, rows).with_fixed(fixed).with_table(0, self.labels, Layout::LabelMajor, columns);
        for (feature, &sum) in edge_columns.iter().enumerate() {
            let weights = self.of_edge_feature(feature);
            magnitudes = magnitudes.with_table(weights.start, weights.len(), Layout::ColumnMajor, vec![sum]);
        }
        magnitudes
    }
}
