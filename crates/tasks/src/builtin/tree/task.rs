//! The tree as a task: its features, loss and decoder. A plane touches only the nodes where the labelling differs from
//! the truth, and their edges.

use multiplane_core::example::Examples;
use multiplane_core::layout::Layout;
use multiplane_core::oracle::{Coded, Prices, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::rounding::Magnitudes;
use multiplane_core::task::{
    Call, Case, CodedFeatures, ExampleOf, KBest, LabelledVariables, Question, RecombineLabels, ScoreMagnitudes, Task,
    TaskCapabilities,
};
use multiplane_infer::score_tree::{ScoreTree, TreeView};
use multiplane_infer::{InferError, Mrf, Table, Term};

use super::input::TreeInput;
use super::layout::TreeTask;
use super::marginals::TreeSums;
use super::recombine::Candidates;
use crate::builtin::difference::Difference;
use crate::builtin::label_codes::{LabelCodes, PairSlots};
use crate::builtin::magnitudes::sizes;
use crate::builtin::pairwise::EngineChoice;
use crate::builtin::pairwise::kbest::{self, ModelQuestion};
use crate::builtin::prices;
use crate::data::Trees;

/// Working memory of the decoder and of planes.
#[derive(Debug, Default)]
pub struct TreeScratch {
    pub(super) unary: Vec<f64>,
    engine: ScoreTree,
    pub(super) sums: TreeSums,
    candidates: Candidates,
    difference: Difference,
    label_codes: LabelCodes,
}

impl Task for TreeTask {
    type Input = TreeInput;
    type Label = Vec<u32>;
    type Scratch = TreeScratch;
    type Memory = ();

    fn dim(&self) -> usize {
        self.pair_start() + self.types * self.labels * self.labels
    }

    fn features(&self, x: &TreeInput, y: &Vec<u32>, scale: f64, out: &mut Plane) {
        self.slots(x).features(y, scale, out);
    }

    /// Nodes without a label, which no training data has, do not count.
    fn loss(&self, truth: &Vec<u32>, y: &Vec<u32>) -> f64 {
        if !truth.contains(&Trees::NO_LABEL) {
            return self.costs.loss(truth, y);
        }
        let labelled = truth.iter().zip(y).filter(|(t, _)| **t != Trees::NO_LABEL);
        let (truth, y): (Vec<u32>, Vec<u32>) = labelled.unzip();
        self.costs.loss(&truth, &y)
    }

    fn prices(&self, x: &TreeInput) -> Option<Prices> {
        Some(prices::of_chain(x.rows(), self.labels, self.dim()))
    }

    fn largest_loss(&self, example: ExampleOf<'_, Self>) -> Option<f64> {
        Some(self.costs.largest_loss(example.truth))
    }

    fn decode(&self, call: Call<'_, Self>, out: &mut Vec<u32>) -> Result<Quality, String> {
        let TreeScratch { unary, engine, .. } = call.scratch;
        engine.solve(self.view(call.question, unary), call.question.input.shape(), out);
        Ok(Quality::Exact)
    }

    fn prefetch(&self, x: &TreeInput) {
        x.rows().prefetch();
    }

    fn plane(&self, case: Case<'_, Self>, y: &Vec<u32>, out: &mut Plane) {
        let Case { input: x, truth, scale, scratch, .. } = case;
        scratch.difference.write_plane(&self.slots(x), (truth, y), scale, || self.loss(truth, y), out);
    }

    fn capabilities(&self) -> TaskCapabilities<'_, Self> {
        TaskCapabilities::all(self)
    }
}

impl TreeTask {
    /// Scores everything, penalties taken off.
    pub(super) fn view<'a>(&self, question: Question<'a, Self>, unary: &'a mut Vec<f64>) -> TreeView<'a> {
        let Question { input: x, w, truth, penalty, .. } = question;
        self.score_nodes(x, w, truth, unary);
        penalty.each(x.nodes(), |node, label, penalty| unary[node * self.labels + label as usize] -= penalty);
        TreeView { labels: self.labels, unary, pair: &w[self.pair_start()..], types: x.types() }
    }

    /// Returns the scores as energies.
    fn energies(&self, x: &TreeInput, view: TreeView<'_>) -> Result<ModelQuestion, InferError> {
        let mut model = Mrf::new();
        for scores in view.unary.chunks_exact(self.labels) {
            model.add_node(&scores.iter().map(|score| -score).collect::<Vec<f64>>())?;
        }
        let tables = view.pair.chunks_exact(self.labels * self.labels);
        let terms = tables.map(|table| Table::new(self.labels, table.iter().map(|score| -score).collect()));
        let terms = terms.map(|table| model.add_term(Term::Table(table?))).collect::<Result<Vec<_>, InferError>>()?;
        for (of, parent, child) in x.edges() {
            model.add_edge(child as u32, parent as u32, terms[of], 1.0)?;
        }
        Ok(ModelQuestion { model, engine: EngineChoice::Tree, max_iterations: 0 })
    }
}

impl ScoreMagnitudes<TreeTask> for TreeTask {
    /// Every node gives its row to one label, every edge has one weight of its type.
    fn magnitudes(&self, examples: &Examples<TreeInput, Vec<u32>>) -> Magnitudes {
        let sizes = sizes(examples, self.features, &self.costs, TreeInput::rows, Vec::as_slice, false);
        let (n, pairs) = (examples.labels.len() as f64, self.labels * self.labels);
        let mut counts = vec![0.0; self.types];
        examples.inputs.iter().flat_map(TreeInput::edges).for_each(|(of, ..)| counts[of] += 1.0 / n);
        let unary = sizes.by_column(self.labels);
        counts.into_iter().enumerate().fold(unary, |magnitudes, (of, count)| {
            magnitudes.with_table(self.pair_start() + of * pairs, pairs, Layout::ColumnMajor, vec![count])
        })
    }
}

impl LabelledVariables<TreeTask> for TreeTask {
    fn variables(&self, x: &TreeInput) -> usize {
        x.nodes()
    }

    fn label_count(&self, _: &TreeInput, _: usize) -> usize {
        self.labels
    }
}

impl KBest<TreeTask> for TreeTask {
    fn top(&self, call: Call<'_, Self>, out: &mut [Vec<u32>]) -> Result<(usize, Quality), String> {
        let (x, count) = (call.question.input, out.len());
        let Some(first) = out.first_mut() else { return Ok((0, Quality::Exact)) };
        let TreeScratch { unary, engine, .. } = call.scratch;
        let view = self.view(call.question, unary);
        engine.solve(view, x.shape(), first);
        let model = self.energies(x, view).map_err(|error| error.to_string())?;
        let (list, quality) = model.list((first.clone(), Quality::Exact), count)?;
        Ok((kbest::write_list(list, out), quality))
    }

    fn max_marginals(&self, call: Call<'_, Self>, out: &mut Vec<f64>) -> Result<(), String> {
        let view = self.view(call.question, &mut call.scratch.unary);
        self.energies(call.question.input, view).map_err(|error| error.to_string())?.max_marginals(out)
    }
}

impl RecombineLabels<TreeTask> for TreeTask {
    fn recombine(&self, case: Case<'_, Self>, w: &[f64], codes: &[u32], out: &mut Vec<u32>) -> Result<(), String> {
        let (x, truth, TreeScratch { unary, candidates, .. }) = (case.input, case.truth, case.scratch);
        candidates.collect(truth, codes);
        self.score_nodes(x, w, Some(truth), unary);
        let unary = |node: usize, label: u32| unary[node * self.labels + label as usize];
        let pair = |child: usize, to: u32, from: u32| w[self.pair_index(x.types()[child] as usize, from, to) as usize];
        candidates.solve(x.shape(), unary, pair, out);
        Ok(())
    }
}

impl CodedFeatures<TreeTask> for TreeTask {
    fn compile(&self, case: Case<'_, Self>, codes: &[u32], compiled: &mut Vec<u32>) {
        case.scratch.label_codes.compile(&self.slots(case.input), case.truth, codes, compiled);
    }

    fn linear_scores(&self, case: Case<'_, Self>, w: &[f64], planes: Coded<'_>, out: &mut [f64]) {
        case.scratch.label_codes.score(&self.slots(case.input), case.truth, w, planes, out);
    }

    fn add_planes(&self, case: Case<'_, Self>, planes: Coded<'_>, amounts: &[f64], target: &mut [f64]) {
        let slots = self.slots(case.input);
        case.scratch.label_codes.add(&slots, case.truth, planes, (amounts, case.scale), target);
    }
}
