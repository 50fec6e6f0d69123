//! The chain as a task: its features, loss and decoder. A plane touches only the positions where the labelling differs
//! from the truth.

use multiplane_core::example::Examples;
use multiplane_core::layout::Layout;
use multiplane_core::oracle::{Coded, Prices, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::rounding::Magnitudes;
use multiplane_core::task::{
    CodedFeatures, DiversityPenalty, ExampleOf, KBest, LabelledVariables, QuestionOf, RecombineLabels, ScoreMagnitudes,
    Task, TaskCapabilities, WorkspaceOf,
};
use multiplane_infer::best_paths::BestPaths;
use multiplane_infer::chain::ChainView;
use multiplane_infer::lattice::Lattice;
use multiplane_infer::viterbi::Viterbi;

use crate::builtin::chain::layout::Chain;
use crate::builtin::chain::marginals::ChainSums;
use crate::builtin::difference::Difference;
use crate::builtin::label_codes::{LabelCodes, PairSlots};
use crate::builtin::magnitudes::sizes;
use crate::builtin::prices;
use crate::data::SparseRows;

/// Working memory of the decoder and of planes.
#[derive(Debug, Default)]
pub struct ChainScratch {
    pub(super) unary: Vec<f64>,
    pub(super) viterbi: Viterbi,
    lattice: Lattice,
    pub(super) best_paths: BestPaths,
    difference: Difference,
    label_codes: LabelCodes,
    pub(super) sums: ChainSums,
}

impl Task for Chain {
    type Input = SparseRows;
    type Label = Vec<u32>;
    type Scratch = ChainScratch;
    type Memory = ();

    fn dim(&self) -> usize {
        self.ends_start() + if self.ends { 2 * self.labels } else { 0 }
    }

    fn features(&self, x: &SparseRows, y: &Vec<u32>, scale: f64, out: &mut Plane) {
        for (t, &label) in y.iter().enumerate() {
            for (feature, value) in x.row(t).iter() {
                out.push(feature * self.labels as u32 + label, scale * value);
            }
        }
        for pair in y.windows(2) {
            out.push(self.pair_index(pair[0], pair[1]), scale);
        }
        if let (true, Some(&first), Some(&last)) = (self.ends, y.first(), y.last()) {
            let start = self.ends_start() as u32;
            out.push(start + first, scale);
            out.push(start + self.labels as u32 + last, scale);
        }
    }

    fn loss(&self, truth: &Vec<u32>, y: &Vec<u32>) -> f64 {
        self.costs.loss(truth, y)
    }

    fn prices(&self, x: &SparseRows) -> Option<Prices> {
        Some(prices::of_chain(x, self.labels, self.dim()))
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

    fn prefetch(&self, x: &SparseRows) {
        x.prefetch();
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
        for (t, (&label, &right)) in y.iter().zip(truth).enumerate() {
            if label != right {
                difference.move_row(t, label, right);
            }
        }
        difference.write_rows(x, self.labels as u32, scale, out);
        self.places(truth.len()).differing(truth, y, |index, sign| difference.add_single(index, sign));
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

impl ScoreMagnitudes<Chain> for Chain {
    /// Every position gives its row to one label, every two neighbours and each end one weight.
    fn magnitudes(&self, examples: &Examples<SparseRows, Vec<u32>>) -> Magnitudes {
        let sizes = sizes(examples, self.features, &self.costs, |x| x, Vec::as_slice, false);
        let n = examples.labels.len() as f64;
        let pairs: f64 = examples.inputs.iter().map(|x| x.len().saturating_sub(1) as f64 / n).sum();
        let (pair, ends, labels) = (self.pair_start(), self.ends_start(), self.labels);
        let single = |value: f64| vec![value];
        let magnitudes = Magnitudes::new(sizes.loss, sizes.additions, sizes.rows)
            .with_table(0, labels, Layout::ColumnMajor, sizes.columns)
            .with_table(pair, labels * labels, Layout::ColumnMajor, single(pairs));
        if !self.ends {
            return magnitudes;
        }
        let end =
            |magnitudes: Magnitudes, start| magnitudes.with_table(start, labels, Layout::ColumnMajor, single(1.0));
        end(end(magnitudes, ends), ends + labels)
    }
}

impl LabelledVariables<Chain> for Chain {
    fn labels<'a>(&self, y: &'a Vec<u32>) -> &'a [u32] {
        y
    }

    fn labelling(&self, labels: Vec<u32>) -> Vec<u32> {
        labels
    }

    fn variables(&self, x: &SparseRows) -> usize {
        x.len()
    }

    fn label_count(&self, _: &SparseRows, _: usize) -> usize {
        self.labels
    }
}

impl KBest<Chain> for Chain {
    fn top(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut [Vec<u32>],
    ) -> Result<(usize, Quality), String> {
        let ChainScratch { unary, best_paths, .. } = work.scratch;
        let (chain, count, mut places) = (self.view(question, w, unary), out.len(), out.iter_mut());
        let found = best_paths.solve(chain, count, |_, path| {
            places.next().into_iter().for_each(|place| path.clone_into(place));
        });
        Ok((found, Quality::Exact))
    }

    fn decode_diverse(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        penalty: DiversityPenalty<'_>,
        work: WorkspaceOf<'_, Self>,
        out: &mut Vec<u32>,
    ) -> Result<Quality, String> {
        let (len, ChainScratch { unary, viterbi, .. }) = (question.input.len(), work.scratch);
        self.score_positions(question.input, w, question.truth, unary);
        penalty.each(len, |t, label, penalty| unary[t * self.labels + label as usize] -= penalty);
        let pair = &w[self.pair_start()..self.ends_start()];
        viterbi.solve(ChainView { labels: self.labels, unary, pair }, out);
        Ok(Quality::Exact)
    }

    fn max_marginals(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut Vec<f64>,
    ) -> Result<(), String> {
        let ChainScratch { unary, viterbi, .. } = work.scratch;
        viterbi.max_marginals(self.view(question, w, unary), out);
        Ok(())
    }
}

impl Chain {
    /// Scores everything.
    fn view<'a>(&self, question: QuestionOf<'_, Self>, w: &'a [f64], unary: &'a mut Vec<f64>) -> ChainView<'a> {
        self.score_positions(question.input, w, question.truth, unary);
        ChainView { labels: self.labels, unary, pair: &w[self.pair_start()..self.ends_start()] }
    }
}

impl RecombineLabels<Chain> for Chain {
    fn recombine(
        &self,
        example: ExampleOf<'_, Self>,
        w: &[f64],
        codes: &[u32],
        work: WorkspaceOf<'_, Self>,
        out: &mut Vec<u32>,
    ) -> Result<(), String> {
        let (truth, scratch) = (example.truth, work.scratch);
        let lattice = &mut scratch.lattice;
        lattice.clear();
        for (t, &label) in truth.iter().enumerate() {
            lattice.add_candidate(label);
            codes.iter().skip(t).step_by(truth.len()).for_each(|&label| lattice.add_candidate(label));
            lattice.end_position();
        }
        self.score_positions(example.input, w, Some(truth), &mut scratch.unary);
        let (labels, pair) = (self.labels, &w[self.pair_start()..]);
        let unary = |t: usize, label: u32| scratch.unary[t * labels + label as usize];
        let pair = |from: u32, to: u32| pair[from as usize * labels + to as usize];
        lattice.solve(unary, pair, out);
        Ok(())
    }
}

impl CodedFeatures<Chain> for Chain {
    fn compile(
        &self,
        example: ExampleOf<'_, Self>,
        codes: &[u32],
        scratch: &mut ChainScratch,
        compiled: &mut Vec<u32>,
    ) {
        scratch.label_codes.compile(&self.places(example.truth.len()), example.truth, codes, compiled);
    }

    fn linear_scores(
        &self,
        example: ExampleOf<'_, Self>,
        w: &[f64],
        planes: Coded<'_>,
        scratch: &mut ChainScratch,
        out: &mut [f64],
    ) {
        let (x, truth) = (example.input, &example.truth[..]);
        scratch.label_codes.score(&self.places(truth.len()), (x, truth), w, planes, out);
    }

    fn add_planes(
        &self,
        example: ExampleOf<'_, Self>,
        planes: Coded<'_>,
        amounts: &[f64],
        scale: f64,
        scratch: &mut ChainScratch,
        target: &mut [f64],
    ) {
        let (x, truth) = (example.input, &example.truth[..]);
        scratch.label_codes.add(&self.places(truth.len()), (x, truth), planes, (amounts, scale), target);
    }
}
