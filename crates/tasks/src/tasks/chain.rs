//! Sequence labelling with a linear chain: unary features per position, one weight per pair of neighbours
//! (MP-BCFW paper, Eq. 9). The oracle is Viterbi.
//!
//! Weights: `unary[feature][label]`, `pair[from][to]`, then with `ends` `start[label]`, `end[label]`: what a feature
//! says of all labels stands together, so that scoring costs one stretch of memory a feature. In files it is
//! `unary[label][feature]`. A plane touches only the positions where the labelling differs from the truth.

use std::sync::Arc;

use multiplane_core::linalg;
use multiplane_core::oracle::Quality;
use multiplane_core::plane::Plane;
use multiplane_core::task::Task;
use multiplane_infer::chain::ChainView;
use multiplane_infer::lattice::Lattice;
use multiplane_infer::viterbi::Viterbi;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::data::SparseRows;
use crate::dataset::Dataset;
use crate::losses::{CostTable, LossSpec};
use crate::problem::{Builtin, OpenError, Opened, Problem, Vocabulary};
use crate::reference::{self, ChainWeights};
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
    /// The loss of a labelling.
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

    /// Calls `each` with every weight of neighbours and ends in which `y` differs from the truth: +1 for what `y`
    /// has, -1 for what the truth has.
    fn differing_singles(&self, truth: &[u32], y: &[u32], mut each: impl FnMut(u32, f64)) {
        for (pair, right) in y.windows(2).zip(truth.windows(2)) {
            if pair != right {
                each(self.pair_index(pair[0], pair[1]), 1.0);
                each(self.pair_index(right[0], right[1]), -1.0);
            }
        }
        if self.ends {
            let (start, end) = (self.ends_start() as u32, (self.ends_start() + self.labels) as u32);
            for (offset, label, right) in [(start, y.first(), truth.first()), (end, y.last(), truth.last())] {
                if let (Some(label), Some(right)) = (label, right)
                    && label != right
                {
                    each(offset + label, 1.0);
                    each(offset + right, -1.0);
                }
            }
        }
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
        x: &SparseRows,
        w: &[f64],
        truth: Option<&Vec<u32>>,
        scratch: &mut ChainScratch,
        out: &mut Vec<u32>,
    ) -> Result<Quality, String> {
        self.score_positions(x, w, truth, &mut scratch.unary);
        let pair = &w[self.pair_start()..self.ends_start()];
        scratch.viterbi.solve(ChainView { labels: self.labels, unary: &scratch.unary, pair }, out);
        Ok(Quality::Exact)
    }

    fn recombines(&self) -> bool {
        true
    }

    fn is_code(&self, truth: &Vec<u32>, code: &[u32]) -> bool {
        code.len() == truth.len() && code.iter().all(|&label| (label as usize) < self.labels)
    }

    fn encode(&self, y: &Vec<u32>, code: &mut Vec<u32>) {
        code.clone_from(y);
    }

    fn recombine(
        &self,
        x: &SparseRows,
        w: &[f64],
        truth: &Vec<u32>,
        codes: &[u32],
        scratch: &mut ChainScratch,
        out: &mut Vec<u32>,
    ) -> Result<(), String> {
        let lattice = &mut scratch.lattice;
        lattice.clear();
        for (t, &label) in truth.iter().enumerate() {
            lattice.add_candidate(label);
            codes.iter().skip(t).step_by(truth.len()).for_each(|&label| lattice.add_candidate(label));
            lattice.end_position();
        }
        self.score_positions(x, w, Some(truth), &mut scratch.unary);
        let (labels, pair) = (self.labels, &w[self.pair_start()..]);
        let unary = |t: usize, label: u32| scratch.unary[t * labels + label as usize];
        let pair = |from: u32, to: u32| pair[from as usize * labels + to as usize];
        lattice.solve(unary, pair, out);
        Ok(())
    }

    fn knows_planes(&self) -> bool {
        true
    }

    /// Scores the labels once per position, whatever number of labellings differs there.
    fn linear_scores(
        &self,
        x: &SparseRows,
        truth: &Vec<u32>,
        w: &[f64],
        codes: &[u32],
        scratch: &mut ChainScratch,
        out: &mut [f64],
    ) {
        let (len, labels) = (truth.len(), self.labels);
        let memo = &mut scratch.memo;
        memo.clear();
        memo.resize(len * labels, f64::NAN);
        for (out, y) in out.iter_mut().zip(codes.chunks_exact(len.max(1))) {
            let mut sum = 0.0;
            for (t, (&label, &right)) in y.iter().zip(truth).enumerate() {
                if label != right {
                    let scores = &mut memo[t * labels..][..labels];
                    if scores[0].is_nan() {
                        scores.fill(0.0);
                        let row = x.row(t);
                        linalg::add_rows(row.indices, row.values, w, scores);
                    }
                    sum += scores[label as usize] - scores[right as usize];
                }
            }
            self.differing_singles(truth, y, |index, sign| sum += sign * w[index as usize]);
            *out = sum;
        }
    }

    fn add_planes(
        &self,
        x: &SparseRows,
        truth: &Vec<u32>,
        codes: &[u32],
        amounts: &[f64],
        scale: f64,
        scratch: &mut ChainScratch,
        target: &mut [f64],
    ) {
        let (len, labels) = (truth.len(), self.labels);
        let ChainScratch { moved, moving, .. } = scratch;
        moving.clear();
        moving.extend((0..amounts.len()).filter(|&k| amounts[k] != 0.0));
        for (t, &right) in truth.iter().enumerate() {
            moved.clear();
            let mut total = 0.0;
            for &k in moving.iter() {
                let (label, amount) = (codes[k * len + t], amounts[k]);
                if label == right {
                    continue;
                }
                total += amount;
                match moved.iter_mut().find(|entry| entry.0 == label) {
                    Some(entry) => entry.1 += amount,
                    None => moved.push((label, amount)),
                }
            }
            if !moved.is_empty() {
                moved.push((right, -total));
                moved.iter_mut().for_each(|entry| entry.1 *= scale);
                let row = x.row(t);
                linalg::add_to_rows(row.indices, row.values, moved, labels, target);
            }
        }
        for &k in moving.iter() {
            let y = &codes[k * len..][..len];
            self.differing_singles(truth, y, |index, sign| target[index as usize] += scale * amounts[k] * sign);
        }
    }

    fn expect(&self, x: &SparseRows) {
        x.prefetch();
    }

    fn plane(
        &self,
        x: &SparseRows,
        truth: &Vec<u32>,
        y: &Vec<u32>,
        scale: f64,
        scratch: &mut ChainScratch,
        out: &mut Plane,
    ) {
        out.clear();
        if y == truth {
            return;
        }
        let difference = &mut scratch.difference;
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
}

impl Builtin for Chain {
    fn errors(&self, truth: &Vec<u32>, y: &Vec<u32>) -> (usize, usize) {
        (truth.iter().zip(y).filter(|(t, y)| t != y).count(), truth.len())
    }

    fn reference_hinge(&self, x: &SparseRows, truth: &Vec<u32>, w: &[f64]) -> f64 {
        let weights = ChainWeights { labels: self.labels, features: self.features, w, ends: self.ends };
        let factor = self.costs.factor(truth.len());
        weights.hinge(x, truth, |t, label| factor * self.costs.row(truth[t])[label])
    }

    fn reference_plane(
        &self,
        x: &SparseRows,
        truth: &Vec<u32>,
        code: &[u32],
        add: &mut dyn FnMut(usize, f64),
    ) -> Option<f64> {
        if code.len() != truth.len() || code.iter().any(|&label| label as usize >= self.labels) {
            return None;
        }
        let layout = reference::ChainLayout { labels: self.labels, features: self.features, ends: self.ends };
        layout.features(x, code, 1.0, add);
        layout.features(x, truth, -1.0, add);
        Some(self.costs.loss(truth, code))
    }

    fn to_file_layout(&self, w: &[f64]) -> Vec<f64> {
        let (unary, rest) = w.split_at(self.pair_start());
        [&transposed(unary, self.labels)[..], rest].concat()
    }

    fn from_file_layout(&self, w: &[f64]) -> Vec<f64> {
        let (unary, rest) = w.split_at(self.pair_start());
        [&transposed(unary, self.features)[..], rest].concat()
    }

    fn from_numbers(numbers: &[u32]) -> Option<Vec<u32>> {
        Some(numbers.to_vec())
    }

    fn numbers<'a>(&self, y: &'a Vec<u32>) -> &'a [u32] {
        y
    }

    fn sequence<'a>(&self, y: &'a Vec<u32>) -> Option<&'a [u32]> {
        Some(y)
    }

    /// Letters make words; other labels are divided by spaces.
    fn show(&self, y: &Vec<u32>, vocabulary: &Vocabulary) -> String {
        let is_letter = |name: &String| matches!(name.as_bytes(), [b'a'..=b'z']);
        let spelled = vocabulary.dictionary.is_none() && vocabulary.labels.iter().all(is_letter);
        let names: Vec<&str> = y.iter().map(|&label| vocabulary.label(label)).collect();
        names.join(if spelled { "" } else { " " })
    }
}

/// The transpose of a row-major matrix of `columns` columns.
fn transposed(matrix: &[f64], columns: usize) -> Vec<f64> {
    let mut transposed = Vec::with_capacity(matrix.len());
    for column in 0..columns {
        transposed.extend(matrix[column..].iter().step_by(columns));
    }
    transposed
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
