//! The tree as a task: its features, loss and decoder. A plane touches only the nodes where the labelling differs from
//! the truth, and their edges.

use multiplane_core::example::Examples;
use multiplane_core::layout::Layout;
use multiplane_core::oracle::{Coded, Prices, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::rounding::Magnitudes;
use multiplane_core::task::{
    Call, Case, CodedFeatures, ExampleOf, KBest, LabelledVariables, Question, RecombineLabels, ScoreMagnitudes, Task,
    TaskCapabilities, UNLABELLED,
};
use multiplane_infer::score_tree::{ScoreTree, TreeView};

use super::input::TreeInput;
use super::layout::TreeTask;
use super::marginals::TreeSums;
use super::recombine::Candidates;
use crate::builtin::difference::Difference;
use crate::builtin::label_codes::{LabelCodes, PairSlots};
use crate::builtin::magnitudes::sizes;
use crate::builtin::pairwise::Labelling;
use crate::builtin::pairwise::kbest::ForestModel;
use crate::builtin::prices;

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
    type Label = Labelling;
    type Scratch = TreeScratch;
    type Memory = ();

    fn dim(&self) -> usize {
        self.pair_start() + self.types * self.labels * self.labels
    }

    fn features(&self, x: &TreeInput, y: &Labelling, scale: f64, out: &mut Plane) {
        self.slots(x).features(y, scale, out);
    }

    fn loss(&self, truth: &Labelling, y: &Labelling) -> f64 {
        truth.table_loss(&self.costs, y)
    }

    fn prices(&self, x: &TreeInput) -> Option<Prices> {
        Some(prices::of_chain(x.rows(), self.labels, self.dim()))
    }

    fn largest_loss(&self, example: ExampleOf<'_, Self>) -> Option<f64> {
        Some(example.truth.largest_loss(&self.costs))
    }

    fn decode(&self, call: Call<'_, Self>, out: &mut Labelling) -> Result<Quality, String> {
        let TreeScratch { unary, engine, .. } = call.scratch;
        let Question { input: x, truth, .. } = call.question;
        engine.solve(self.view(call.question, unary), x.shape(truth), out);
        let labels = out.iter_mut().zip(truth.into_iter().flat_map(|truth| &truth.labels));
        labels.filter(|(_, truth)| **truth == UNLABELLED).for_each(|(label, _)| *label = UNLABELLED);
        Ok(Quality::Exact)
    }

    fn prefetch(&self, x: &TreeInput) {
        x.rows().prefetch();
    }

    fn plane(&self, case: Case<'_, Self>, y: &Labelling, out: &mut Plane) {
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

    /// Returns the model of scores.
    fn model<'a>(&self, question: Question<'a, Self>, view: TreeView<'_>) -> Result<ForestModel<'a>, String> {
        let edges = question.input.edges().map(|(of, parent, child)| (of, child, parent));
        ForestModel::new((self.labels, view.unary), view.pair, edges, question.truth)
    }
}

impl ScoreMagnitudes<TreeTask> for TreeTask {
    /// Every node gives its row to one label, every edge has one weight of its type.
    fn magnitudes(&self, examples: &Examples<TreeInput, Labelling>) -> Magnitudes {
        let sizes = sizes(examples, self.features, TreeInput::rows, |y| y.largest_loss(&self.costs), false);
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

    fn completed(&self, truth: &Labelling, labels: Vec<u32>) -> Option<Labelling> {
        Some(truth.completed(labels, self.costs.factor_of(truth)))
    }
}

impl KBest<TreeTask> for TreeTask {
    fn top(&self, call: Call<'_, Self>, out: &mut [Labelling]) -> Result<(usize, Quality), String> {
        let Some(first) = out.first_mut() else { return Ok((0, Quality::Exact)) };
        self.decode(call.question.call(call.scratch, call.memory), first)?;
        self.model(call.question, self.view(call.question, &mut call.scratch.unary))?.list(out)
    }

    fn max_marginals(&self, call: Call<'_, Self>, out: &mut Vec<f64>) -> Result<Quality, String> {
        self.model(call.question, self.view(call.question, &mut call.scratch.unary))?.max_marginals(out)
    }
}

impl RecombineLabels<TreeTask> for TreeTask {
    fn recombine(&self, case: Case<'_, Self>, w: &[f64], codes: &[u32], out: &mut Labelling) -> Result<(), String> {
        let (x, truth, TreeScratch { unary, candidates, .. }) = (case.input, case.truth, case.scratch);
        candidates.collect(truth, codes);
        self.score_nodes(x, w, Some(truth), unary);
        let unary = |node: usize, label: u32| match label {
            UNLABELLED => 0.0,
            label => unary[node * self.labels + label as usize],
        };
        let pair = |child: usize, to: u32, from: u32| w[self.pair_index(x.types()[child] as usize, from, to) as usize];
        candidates.solve(x.shape(Some(truth)), unary, pair, out);
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
