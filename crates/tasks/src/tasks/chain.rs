//! Sequence labelling with a linear chain: unary features per position, one weight per pair of neighbours
//! (MP-BCFW paper, Eq. 9). The oracle is Viterbi.
//!
//! Weights: `unary[feature][label]`, `pair[from][to]`, then with `ends` `start[label]`, `end[label]`: what a feature
//! says of all labels stands together, so that scoring costs one stretch of memory a feature. In files it is
//! `unary[label][feature]`. A plane touches only the positions where the labelling differs from the truth.

mod builtin;
mod many;

use std::sync::Arc;

use multiplane_core::linalg;
use multiplane_core::oracle::Quality;
use multiplane_core::plane::Plane;
use multiplane_core::task::{
    CodedFeatures, ExampleOf, LabelCodes, QuestionOf, RecombineLabels, Task, TaskCapabilities, WorkspaceOf,
};
use multiplane_infer::chain::ChainView;
use multiplane_infer::lattice::Lattice;
use multiplane_infer::viterbi::Viterbi;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::data::SparseRows;
use crate::dataset::Dataset;
use crate::losses::{CostTable, LossSpec};
use crate::problem::{OpenError, Opened, Problem, Vocabulary};
use crate::tasks::difference::Difference;
use crate::tasks::sequences::{self, Sequences};
use crate::text::TemplateList;

/// Parameters of the task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChainSpec {
    /// Adds a feature that is always 1, after the others.
    pub bias: bool,
    /// Adds weights for the label at the start and at the end of a sequence.
    pub ends: bool,
    /// Features of columns of text (conll): `words`, `tags`, `chunking` (both), or templates such as `w[-1]|w[0]`
    /// (word before and word), `p[1]` (next token's second column), `c2[0]`, `%x[-1,0]`; several in a list or divided
    /// by spaces. Where not given: `chunking`, or `words` for two columns.
    #[schemars(with = "Option<Vec<String>>")]
    pub template: Option<TemplateList>,
    /// Features of text that fewer tokens have are left out.
    pub min_count: u32,
    /// What a wrong labelling costs: a sum over its positions. The oracle adds it to the scores, and evaluation reports
    /// its mean. A cost matrix is given by `task.loss=cost-matrix` and `task.loss.matrix=[[0, 1], [5, 0]]`.
    pub loss: LossSpec,
    /// Factors on the loss by true label, in sorted order of the labels.
    pub class_weights: Option<Vec<f64>>,
}

impl Default for ChainSpec {
    fn default() -> Self {
        let loss = LossSpec::default();
        ChainSpec { bias: false, ends: false, template: None, min_count: 1, loss, class_weights: None }
    }
}

/// The task: labels, features, costs.
#[derive(Clone, Debug)]
pub struct Chain {
    labels: usize,
    features: usize,
    ends: bool,
    costs: CostTable,
}

impl Chain {
    /// A task of `labels` labels on positions with `features` features.
    pub fn new(labels: usize, features: usize, ends: bool, costs: CostTable) -> Self {
        Chain { labels, features, ends, costs }
    }

    /// Where the pair weights begin.
    fn pair_start(&self) -> usize {
        self.labels * self.features
    }

    /// Where the start weights begin.
    fn ends_start(&self) -> usize {
        self.pair_start() + self.labels * self.labels
    }

    fn pair_index(&self, from: u32, to: u32) -> u32 {
        (self.pair_start() + from as usize * self.labels + to as usize) as u32
    }

    /// Scores of each label at each position, loss and end weights included, into `unary`.
    fn score_positions(&self, x: &SparseRows, w: &[f64], truth: Option<&Vec<u32>>, unary: &mut Vec<f64>) {
        let (len, labels) = (x.len(), self.labels);
        unary.clear();
        unary.resize(len * labels, 0.0);
        for (t, scores) in unary.chunks_exact_mut(labels).enumerate() {
            let row = x.row(t);
            linalg::add_rows(row.indices, row.values, w, scores);
            if let Some(truth) = truth {
                linalg::axpy(self.costs.factor(len), self.costs.row(truth[t]), scores);
            }
        }
        if self.ends && len > 0 {
            let ends = &w[self.ends_start()..];
            linalg::axpy(1.0, &ends[..labels], &mut unary[..labels]);
            linalg::axpy(1.0, &ends[labels..2 * labels], &mut unary[(len - 1) * labels..]);
        }
    }
}

/// Working memory of the decoder and of planes.
#[derive(Debug, Default)]
pub struct ChainScratch {
    unary: Vec<f64>,
    viterbi: Viterbi,
    lattice: Lattice,
    difference: Difference,
    /// Scores of each position and label.
    memo: Vec<f64>,
    /// Labels of a position with their amounts.
    moved: Vec<(u32, f64)>,
    /// Labellings with an amount.
    moving: Vec<usize>,
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

    fn decode(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut Vec<u32>,
    ) -> Result<Quality, String> {
        let scratch = work.scratch;
        self.score_positions(question.input, w, question.truth, &mut scratch.unary);
        let pair = &w[self.pair_start()..self.ends_start()];
        scratch.viterbi.solve(ChainView { labels: self.labels, unary: &scratch.unary, pair }, out);
        Ok(Quality::Exact)
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
        self.differing_singles(truth, y, |index, sign| difference.add_single(index, sign));
        difference.write_singles(scale, out);
        out.set_circ(scale * self.loss(truth, y));
        out.seal();
    }

    fn capabilities(&self) -> TaskCapabilities<'_, Self> {
        TaskCapabilities { codes: Some(self), recombination: Some(self), coded_planes: Some(self) }
    }
}

impl LabelCodes<Chain> for Chain {
    fn encode(&self, y: &Vec<u32>, code: &mut Vec<u32>) {
        code.clone_from(y);
    }

    fn is_code(&self, truth: &Vec<u32>, code: &[u32]) -> bool {
        code.len() == truth.len() && code.iter().all(|&label| (label as usize) < self.labels)
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
    fn linear_scores(
        &self,
        example: ExampleOf<'_, Self>,
        w: &[f64],
        codes: &[u32],
        scratch: &mut ChainScratch,
        out: &mut [f64],
    ) {
        self.score_labellings(example.input, example.truth, w, codes, &mut scratch.memo, out);
    }

    fn add_planes(
        &self,
        example: ExampleOf<'_, Self>,
        codes: &[u32],
        amounts: &[f64],
        scale: f64,
        scratch: &mut ChainScratch,
        target: &mut [f64],
    ) {
        self.add_labellings(example.input, example.truth, codes, amounts, scale, scratch, target);
    }
}

/// Opens the task on a data set, with the vocabulary of a model where one is given.
pub fn open(spec: &ChainSpec, data: Dataset, vocabulary: Option<&Vocabulary>) -> Result<Box<dyn Problem>, OpenError> {
    let fingerprint = data.fingerprint();
    let Sequences { examples, vocabulary, unseen, warnings } = sequences::open(spec, data, vocabulary)?;
    let labels = vocabulary.labels.len();
    let costs = CostTable::new(&spec.loss, spec.class_weights.as_deref(), labels)?;
    let task = Chain::new(labels, vocabulary.features, spec.ends, costs);
    let opened = Opened::new("chain", task, Arc::new(examples), vocabulary, fingerprint, warnings)?;
    Ok(Box::new(opened.with_unseen(unseen)))
}

#[cfg(test)]
mod tests;
