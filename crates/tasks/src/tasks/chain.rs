//! Sequence labelling with a linear chain: unary features per position, one weight per pair of neighbours
//! (MP-BCFW paper, Eq. 9). The oracle is Viterbi.
//!
//! Weights: `unary[label][feature]`, `pair[from][to]`, then with `ends` `start[label]`, `end[label]`. A plane
//! touches only the positions where the labelling differs from the truth.

use std::sync::Arc;

use multiplane_core::linalg;
use multiplane_core::oracle::Quality;
use multiplane_core::plane::Plane;
use multiplane_core::task::{Examples, Task};
use multiplane_infer::chain::ChainView;
use multiplane_infer::lattice::Lattice;
use multiplane_infer::viterbi::Viterbi;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::data::{SparseRows, Words};
use crate::dataset::Dataset;
use crate::losses::{CostTable, LossSpec};
use crate::problem::{Builtin, OpenError, Opened, Problem, Vocabulary, check_dim};
use crate::reference::ChainWeights;
use crate::tasks::difference::Difference;

/// Labels of letter.data: a to z, whether or not all occur.
const LETTERS: usize = 26;

/// Parameters of the task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChainSpec {
    /// Adds a feature that is always 1, after the others.
    pub bias: bool,
    /// Adds weights for the label at the start and at the end of a sequence.
    pub ends: bool,
    /// The loss of a labelling.
    pub loss: LossSpec,
    /// Factors on the loss by true label, in sorted order of the labels.
    pub class_weights: Option<Vec<f64>>,
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

    /// Score of a label for a row of the input, without loss and neighbours.
    fn unary_score(&self, x: &SparseRows, t: usize, label: u32, w: &[f64]) -> f64 {
        let row = x.row(t);
        linalg::sparse_row_score(row.indices, row.values, &w[label as usize * self.features..][..self.features])
    }

    /// Adds `amount` times the features of a label at one position.
    fn add_unary(&self, x: &SparseRows, t: usize, label: u32, amount: f64, target: &mut [f64]) {
        let row = x.row(t);
        let weights = &mut target[label as usize * self.features..][..self.features];
        linalg::add_sparse_row(amount, row.indices, row.values, weights);
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
            linalg::sparse_row_scores(row.indices, row.values, &w[..self.pair_start()], self.features, scores);
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
    /// A number for each position and label: scores, or amounts.
    memo: Vec<f64>,
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
            let start = label * self.features as u32;
            let row = x.row(t);
            out.extend_scaled(start, row.indices, scale, row.values);
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
        let (pair_start, factor) = (self.pair_start(), self.costs.factor(truth.len()));
        let ends = self.ends.then(|| &w[self.ends_start()..]);
        let unary = |t: usize, label: u32| {
            let (score, label) = (self.unary_score(x, t, label, w), label as usize);
            let start = ends.filter(|_| t == 0).map_or(0.0, |ends| ends[label]);
            let end = ends.filter(|_| t + 1 == truth.len()).map_or(0.0, |ends| ends[self.labels + label]);
            score + factor * self.costs.row(truth[t])[label] + start + end
        };
        let pair = |from: u32, to: u32| w[pair_start + from as usize * self.labels + to as usize];
        lattice.solve(unary, pair, out);
        Ok(())
    }

    fn knows_planes(&self) -> bool {
        true
    }

    /// Scores each label once per position, whatever number of labellings has it there.
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
        let mut score = |t: usize, label: u32| {
            let seen = &mut memo[t * labels + label as usize];
            if seen.is_nan() {
                *seen = self.unary_score(x, t, label, w);
            }
            *seen
        };
        for (out, y) in out.iter_mut().zip(codes.chunks_exact(len.max(1))) {
            let mut sum = 0.0;
            for (t, (&label, &right)) in y.iter().zip(truth).enumerate() {
                if label != right {
                    sum += score(t, label) - score(t, right);
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
        let sums = &mut scratch.memo;
        sums.clear();
        sums.resize(len * labels, 0.0);
        for (y, &amount) in codes.chunks_exact(len.max(1)).zip(amounts).filter(|(_, amount)| **amount != 0.0) {
            for (t, (&label, &right)) in y.iter().zip(truth).enumerate() {
                if label != right {
                    sums[t * labels + label as usize] += amount;
                    sums[t * labels + right as usize] -= amount;
                }
            }
            self.differing_singles(truth, y, |index, sign| target[index as usize] += scale * amount * sign);
        }
        for (t, sums) in sums.chunks_exact(labels).enumerate() {
            for (label, &sum) in sums.iter().enumerate().filter(|(_, sum)| **sum != 0.0) {
                self.add_unary(x, t, label as u32, scale * sum, target);
            }
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
                difference.add_row(label, t, 1.0);
                difference.add_row(right, t, -1.0);
            }
        }
        difference.write_rows(x, self.features as u32, scale, out);
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

    fn show(&self, y: &Vec<u32>, vocabulary: &Vocabulary) -> String {
        y.iter().map(|&label| vocabulary.label(label)).collect()
    }
}

/// Opens the task on a data set, with the vocabulary of a model where one is given.
pub fn open(spec: &ChainSpec, data: Dataset, vocabulary: Option<&Vocabulary>) -> Result<Box<dyn Problem>, OpenError> {
    let fingerprint = data.fingerprint();
    let Dataset::Words(words) = data else {
        return Err(OpenError::new(format!("task `chain` reads letter (letter.data), found {}", data.describe())));
    };
    let found = words.pixels.columns() + usize::from(spec.bias);
    let vocabulary = match vocabulary {
        Some(vocabulary) if vocabulary.features != found => {
            return Err(OpenError::new(format!(
                "the model was trained on letters of {} pixels, these have {}",
                vocabulary.features - usize::from(spec.bias),
                words.pixels.columns()
            )));
        }
        Some(vocabulary) => vocabulary.clone(),
        None => {
            check_dim(found, LETTERS)?;
            let labels = (b'a'..=b'z').map(|letter| char::from(letter).to_string()).collect();
            Vocabulary { labels, features: found }
        }
    };
    let costs = CostTable::new(&spec.loss, spec.class_weights.as_deref(), LETTERS)?;
    let task = Chain::new(LETTERS, found, spec.ends, costs);
    let examples = Arc::new(sequences(&words, spec.bias));
    Ok(Box::new(Opened::new("chain", task, examples, vocabulary, fingerprint, Vec::new())?))
}

/// Each word as rows of pixels and its letters.
fn sequences(words: &Words, bias: bool) -> Examples<SparseRows, Vec<u32>> {
    let columns = words.pixels.columns();
    let mut examples = Examples { inputs: Vec::new(), labels: Vec::new() };
    for word in 0..words.len() {
        let mut rows = SparseRows::new(columns + usize::from(bias));
        for letter in words.range(word) {
            let (mut indices, mut values): (Vec<u32>, Vec<f64>) = words.pixels.row(letter).iter().unzip();
            if bias {
                indices.push(columns as u32);
                values.push(1.0);
            }
            rows.push(&indices, &values);
        }
        examples.inputs.push(rows);
        examples.labels.push(words.letters[words.range(word)].iter().map(|&letter| u32::from(letter)).collect());
    }
    examples
}
