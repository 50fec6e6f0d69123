//! The tree as a task: its features, loss and decoder. A plane touches only the nodes where the labelling differs from the
//! truth, and their edges.

use multiplane_core::example::Examples;
use multiplane_core::layout::Layout;
use multiplane_core::oracle::{Coded, Prices, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::rounding::Magnitudes;
use multiplane_core::task::{
    CodedFeatures, DiversityPenalty, ExampleOf, KBest, LabelledVariables, QuestionOf, RecombineLabels, ScoreMagnitudes,
    Task, TaskCapabilities, WorkspaceOf,
};
use multiplane_infer::score_tree::{ScoreTree, TreeView};
use multiplane_infer::{Error, Mrf, Table, Term};

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
        self.decode_diverse(question, w, DiversityPenalty::default(), work, out)
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
            variables: Some(self),
            recombination: Some(self),
            coded_planes: Some(self),
            magnitudes: Some(self),
            kbest: Some(self),
            marginals: Some(self),
        }
    }
}

impl TreeTask {
    /// Returns the scores as energies, those of nodes as they stand in the scratch.
    fn asked(&self, x: &TreeInput, w: &[f64], scratch: &TreeScratch) -> Result<ModelQuestion, String> {
        let model = self.model(x, w, scratch).map_err(|error| error.to_string())?;
        Ok(ModelQuestion { model, engine: EngineChoice::Tree, max_iterations: 0 })
    }

    fn model(&self, x: &TreeInput, w: &[f64], scratch: &TreeScratch) -> Result<Mrf, Error> {
        let mut mrf = Mrf::new();
        for scores in scratch.unary.chunks_exact(self.labels) {
            mrf.add_node(&scores.iter().map(|score| -score).collect::<Vec<f64>>())?;
        }
        let tables = w[self.pair_start()..].chunks_exact(self.labels * self.labels);
        let terms = tables.map(|table| Table::new(self.labels, table.iter().map(|score| -score).collect()));
        let terms = terms.map(|table| mrf.add_term(Term::Table(table?))).collect::<Result<Vec<_>, Error>>()?;
        for (of, parent, child) in x.edges() {
            mrf.add_edge(child as u32, parent as u32, terms[of], 1.0)?;
        }
        Ok(mrf)
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

impl LabelledVariables<TreeTask> for TreeTask {
    fn labels<'a>(&self, y: &'a Vec<u32>) -> &'a [u32] {
        y
    }

    fn labelling(&self, labels: Vec<u32>) -> Vec<u32> {
        labels
    }

    fn variables(&self, x: &TreeInput) -> usize {
        x.nodes()
    }

    fn label_count(&self, _: &TreeInput, _: usize) -> usize {
        self.labels
    }
}

impl KBest<TreeTask> for TreeTask {
    fn top(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut [Vec<u32>],
    ) -> Result<(usize, Quality), String> {
        let (x, scratch, count) = (question.input, work.scratch, out.len());
        let Some(first) = out.first_mut() else { return Ok((0, Quality::Exact)) };
        let work = WorkspaceOf::<Self> { scratch: &mut *scratch, memory: work.memory };
        let quality = self.decode(question, w, work, first)?;
        let (list, quality) = self.asked(x, w, scratch)?.list((first.clone(), quality), count)?;
        Ok((kbest::write_list(list, out), quality))
    }

    fn decode_diverse(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        penalty: DiversityPenalty<'_>,
        work: WorkspaceOf<'_, Self>,
        out: &mut Vec<u32>,
    ) -> Result<Quality, String> {
        let (x, TreeScratch { unary, engine, .. }) = (question.input, work.scratch);
        self.score_nodes(x, w, question.truth, unary);
        penalty.each(x.nodes(), |node, label, penalty| unary[node * self.labels + label as usize] -= penalty);
        let view = TreeView { labels: self.labels, unary, pair: &w[self.pair_start()..], types: x.types() };
        engine.solve(view, x.shape(), out);
        Ok(Quality::Exact)
    }

    fn max_marginals(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut Vec<f64>,
    ) -> Result<(), String> {
        self.score_nodes(question.input, w, question.truth, &mut work.scratch.unary);
        self.asked(question.input, w, work.scratch)?.max_marginals(out)
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
        scratch.label_codes.compile(&self.places(example.input), example.truth, codes, compiled);
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
        scratch.label_codes.score(&self.places(x), (x.rows(), truth), w, planes, out);
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
        scratch.label_codes.add(&self.places(x), (x.rows(), truth), planes, (amounts, scale), target);
    }
}
