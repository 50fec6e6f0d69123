//! The tree as a task: its features, loss and decoder. A plane touches only the nodes where the labelling differs from the
//! truth, and their edges.

use multiplane_core::example::Examples;
use multiplane_core::layout::Layout;
use multiplane_core::oracle::{Coded, Prices, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::rounding::Magnitudes;
use multiplane_core::task::{
    CodedFeatures, ExampleOf, LabelCodes, QuestionOf, RecombineLabels, ScoreMagnitudes, Task, TaskCapabilities,
    WorkspaceOf,
};
use multiplane_infer::score_tree::{ScoreTree, TreeView};

use super::input::TreeInput;
use super::layout::TreeTask;
use super::marginals::TreeSums;
use super::recombine::Candidates;
use crate::builtin::coded::{CodedScratch, Places};
use crate::builtin::difference::Difference;
use crate::builtin::magnitudes::sizes;
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
    coded: CodedScratch,
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
        for (node, &label) in y.iter().enumerate() {
            for (feature, value) in x.rows().row(node).iter() {
                out.push(feature * self.labels as u32 + label, scale * value);
            }
        }
        for (of, parent, child) in x.edges() {
            out.push(self.pair_index(of, y[parent], y[child]), scale);
        }
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

    fn decode(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut Vec<u32>,
    ) -> Result<Quality, String> {
        let (x, scratch) = (question.input, work.scratch);
        self.score_nodes(x, w, question.truth, &mut scratch.unary);
        self.solve(x, w, scratch, out);
        Ok(Quality::Exact)
    }

    fn prefetch(&self, x: &TreeInput) {
        x.rows().prefetch();
    }

    fn plane(
        &self,
        example: ExampleOf<'_, Self>,
        y: &Vec<u32>,
        scale: f64,
        work: WorkspaceOf<'_, Self>,
        out: &mut Plane,
    ) {
        let (x, truth) = (example.input, example.truth);
        out.clear();
        if y == truth {
            return;
        }
        let difference = &mut work.scratch.difference;
        difference.begin();
        for (node, (&label, &right)) in y.iter().zip(truth).enumerate() {
            if label != right {
                difference.move_row(node, label, right);
            }
        }
        difference.write_rows(x.rows(), self.labels as u32, scale, out);
        self.places(x).differing(truth, y, |index, sign| difference.add_single(index, sign));
        difference.write_singles(scale, out);
        out.set_circ(scale * self.loss(truth, y));
        out.seal();
    }

    fn capabilities(&self) -> TaskCapabilities<'_, Self> {
        TaskCapabilities {
            codes: Some(self),
            recombination: Some(self),
            coded_planes: Some(self),
            magnitudes: Some(self),
            top: Some(self),
            diverse: Some(self),
            marginals: Some(self),
            max_marginals: Some(self),
        }
    }
}

impl TreeTask {
    /// Writes the best labelling under the scores of nodes that stand in the scratch.
    pub(super) fn solve(&self, x: &TreeInput, w: &[f64], scratch: &mut TreeScratch, out: &mut Vec<u32>) {
        let pair = &w[self.pair_start()..];
        let view = TreeView { labels: self.labels, unary: &scratch.unary, pair, types: x.types() };
        scratch.engine.solve(view, x.shape(), out);
    }
}

impl ScoreMagnitudes<TreeTask> for TreeTask {
    /// Every node gives its row to one label, every edge has one weight of its type.
    fn magnitudes(&self, examples: &Examples<TreeInput, Vec<u32>>) -> Magnitudes {
        let sizes = sizes(examples, self.features, &self.costs, TreeInput::rows, Vec::as_slice, false);
        let (n, pairs) = (examples.labels.len() as f64, self.labels * self.labels);
        let mut counts = vec![0.0; self.types];
        examples.inputs.iter().flat_map(TreeInput::edges).for_each(|(of, ..)| counts[of] += 1.0 / n);
        let unary = Magnitudes::new(sizes.loss, sizes.additions, sizes.rows).with_table(
            0,
            self.labels,
            Layout::ColumnMajor,
            sizes.columns,
        );
        counts.into_iter().enumerate().fold(unary, |magnitudes, (of, count)| {
            magnitudes.with_table(self.pair_start() + of * pairs, pairs, Layout::ColumnMajor, vec![count])
        })
    }
}

impl LabelCodes<TreeTask> for TreeTask {
    fn encode(&self, y: &Vec<u32>, code: &mut Vec<u32>) {
        code.clone_from(y);
    }

    fn is_code(&self, truth: &Vec<u32>, code: &[u32]) -> bool {
        code.len() == truth.len() && code.iter().all(|&label| (label as usize) < self.labels)
    }
}

impl RecombineLabels<TreeTask> for TreeTask {
    fn recombine(
        &self,
        example: ExampleOf<'_, Self>,
        w: &[f64],
        codes: &[u32],
        work: WorkspaceOf<'_, Self>,
        out: &mut Vec<u32>,
    ) -> Result<(), String> {
        let (x, truth, scratch) = (example.input, example.truth, work.scratch);
        scratch.candidates.collect(truth, codes);
        self.score_nodes(x, w, Some(truth), &mut scratch.unary);
        let unary = |node: usize, label: u32| scratch.unary[node * self.labels + label as usize];
        let pair = |child: usize, to: u32, from: u32| w[self.pair_index(x.types()[child] as usize, from, to) as usize];
        scratch.candidates.solve(x.shape(), unary, pair, out);
        Ok(())
    }
}

impl CodedFeatures<TreeTask> for TreeTask {
    fn compile(&self, example: ExampleOf<'_, Self>, codes: &[u32], scratch: &mut TreeScratch, compiled: &mut Vec<u32>) {
        scratch.coded.compile(&self.places(example.input), example.truth, codes, compiled);
    }

    fn linear_scores(
        &self,
        example: ExampleOf<'_, Self>,
        w: &[f64],
        planes: Coded<'_>,
        scratch: &mut TreeScratch,
        out: &mut [f64],
    ) {
        let (x, truth) = (example.input, &example.truth[..]);
        scratch.coded.score(&self.places(x), (x.rows(), truth), w, planes, out);
    }

    fn add_planes(
        &self,
        example: ExampleOf<'_, Self>,
        planes: Coded<'_>,
        amounts: &[f64],
        scale: f64,
        scratch: &mut TreeScratch,
        target: &mut [f64],
    ) {
        let (x, truth) = (example.input, &example.truth[..]);
        scratch.coded.add(&self.places(x), (x.rows(), truth), planes, (amounts, scale), target);
    }
}
