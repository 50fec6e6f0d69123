//! Sets of labels as a task: features, loss and decoder. A plane touches only the labels in which a set differs from
//! the truth, and their pairs.

use multiplane_core::example::Examples;
use multiplane_core::layout::Layout;
use multiplane_core::linalg;
use multiplane_core::oracle::{Coded, Prices, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::rounding::Magnitudes;
use multiplane_core::task::{
    Call, Case, CodedFeatures, ExampleOf, KBest, LabelledVariables, Question, RecombineLabels, ScoreMagnitudes, Task,
    TaskCapabilities,
};

use super::all_sets;
use super::coded::SetCodes;
use super::decode::SetDecoder;
use super::layout::Multilabel;
use super::marginals::SetSums;
use super::scores::SetScores;
use super::search::{self, MOST_ITERATIONS};
use crate::builtin::pairwise::EngineChoice;
use crate::builtin::pairwise::kbest::{self, ModelQuestion};
use crate::builtin::prices::{self, SetSearch};
use crate::data::SparseRows;

impl Multilabel {
    /// Scores absence and presence of every label, the loss added if there is a truth, penalties taken off.
    pub(super) fn score_labels(&self, question: Question<'_, Self>, scratch: &mut MultilabelScratch) {
        let Question { input: x, truth, w, penalty, .. } = question;
        let MultilabelScratch { rows, unary, .. } = scratch;
        rows.clear();
        rows.resize(self.labels(), 0.0);
        let row = x.row(0);
        linalg::sparse_row_scores(row.indices, row.values, &w[..self.pair_start()], self.features, rows);
        unary.clear();
        unary.extend(rows.iter().map(|&score| [0.0, score]));
        if let Some(truth) = truth {
            let factor = self.costs.factor(truth.len());
            for (k, (scores, &truth)) in unary.iter_mut().zip(truth).enumerate() {
                let [absent, present] = self.costs.row(k, truth);
                scores[0] += factor * absent;
                scores[1] += factor * present;
            }
        }
        penalty.each(self.labels(), |k, value, penalty| unary[k][value as usize] -= penalty);
    }
}

/// Working memory of decoder and planes by code.
#[derive(Debug, Default)]
pub struct MultilabelScratch {
    /// Scores of rows of weights.
    rows: Vec<f64>,
    pub(super) unary: Vec<[f64; 2]>,
    pub(super) decoder: SetDecoder,
    pub(super) coded: SetCodes,
    pub(super) sums: SetSums,
}

impl Task for Multilabel {
    type Input = SparseRows;
    type Label = Vec<u32>;
    type Scratch = MultilabelScratch;
    type Memory = ();

    fn dim(&self) -> usize {
        self.pair_start() + 4 * self.graph.edges().len()
    }

    fn features(&self, x: &SparseRows, y: &Vec<u32>, scale: f64, out: &mut Plane) {
        let row = x.row(0);
        for (k, _) in y.iter().enumerate().filter(|(_, y)| **y == 1) {
            out.extend_scaled((k * self.features) as u32, row.indices, scale, row.values);
        }
        for edge in 0..self.graph.edges().len() {
            out.push(self.pair_index(edge, y) as u32, scale);
        }
    }

    fn loss(&self, truth: &Vec<u32>, y: &Vec<u32>) -> f64 {
        self.costs.loss(truth, y)
    }

    fn prices(&self, x: &SparseRows) -> Option<Prices> {
        Some(prices::of_multilabel(x, self.labels(), self.graph.edges().len(), self.dim(), self.search()))
    }

    fn largest_loss(&self, example: ExampleOf<'_, Self>) -> Option<f64> {
        Some(self.costs.largest_loss(example.truth))
    }

    fn decode(&self, call: Call<'_, Self>, out: &mut Vec<u32>) -> Result<Quality, String> {
        let (question, scratch) = (call.question, call.scratch);
        self.score_labels(question, scratch);
        let quality = scratch.decoder.solve(&self.graph, self.scores(question.w, &scratch.unary), out)?;
        Ok(question.penalty.with_rewards(quality, self.labels()))
    }

    fn prefetch(&self, x: &SparseRows) {
        x.prefetch();
    }

    fn plane(&self, case: Case<'_, Self>, y: &Vec<u32>, out: &mut Plane) {
        let Case { input: x, truth, scale, .. } = case;
        out.clear();
        if y == truth {
            return;
        }
        let row = x.row(0);
        for (k, (&y, &truth)) in y.iter().zip(truth).enumerate().filter(|(_, (y, truth))| y != truth) {
            let sign = if y > truth { scale } else { -scale };
            out.extend_scaled((k * self.features) as u32, row.indices, sign, row.values);
        }
        for edge in 0..self.graph.edges().len() {
            let (gained, lost) = (self.pair_index(edge, y), self.pair_index(edge, truth));
            if gained != lost {
                let mut entries = [(gained as u32, scale), (lost as u32, -scale)];
                entries.sort_unstable_by_key(|(index, _)| *index);
                entries.into_iter().for_each(|(index, value)| out.push(index, value));
            }
        }
        out.set_circ(scale * self.loss(truth, y));
        out.seal();
    }

    fn capabilities(&self) -> TaskCapabilities<'_, Self> {
        let sweeps = self.search() == SetSearch::Sweeps;
        TaskCapabilities {
            variables: Some(self),
            recombination: Some(self),
            coded_planes: Some(self),
            // Bounds that message passing proves are off by more than rounding, and nobody knows by how much.
            magnitudes: if sweeps { None } else { Some(self) },
            marginals: if sweeps { None } else { Some(self) },
            kbest: Some(self),
            completion: None,
        }
    }
}

impl ScoreMagnitudes<Multilabel> for Multilabel {
    /// Every label may take the row, every pair has one of its four weights.
    fn magnitudes(&self, examples: &Examples<SparseRows, Vec<u32>>) -> Magnitudes {
        let (n, labels, pairs) = (examples.labels.len() as f64, self.labels(), self.graph.edges().len());
        let mut columns = vec![0.0; self.features];
        let (mut loss, mut longest) = (0.0, 0);
        for (x, truth) in examples.inputs.iter().zip(&examples.labels) {
            x.row(0).iter().for_each(|(index, value)| columns[index as usize] += value.abs() / n);
            loss += self.costs.largest_loss(truth) / n;
            longest = longest.max(x.nonzeros());
        }
        // In a decoder: the row, then the loss and two sums over labels or a path of messages; in a plane's score: its
        // entries, on eight sums.
        let additions = longest + 2 * labels + 4 + (2 * (labels * longest + 2 * pairs)).div_ceil(8);
        let magnitudes = Magnitudes::new(loss, additions, 1);
        let start = self.pair_start();
        (0..labels)
            .fold(magnitudes, |magnitudes, k| {
                magnitudes.with_table(k * self.features, 1, Layout::LabelMajor, columns.clone())
            })
            .with_table(start, 4, Layout::ColumnMajor, vec![1.0; pairs])
    }
}

impl LabelledVariables<Multilabel> for Multilabel {
    fn variables(&self, _: &SparseRows) -> usize {
        self.labels()
    }

    fn label_count(&self, _: &SparseRows, _: usize) -> usize {
        2
    }
}

impl Multilabel {
    /// Scores as [`score_labels`](Multilabel::score_labels) has left them.
    pub(super) fn scores<'a>(&self, w: &'a [f64], unary: &'a [[f64; 2]]) -> SetScores<'a> {
        SetScores { unary, pair: &w[self.pair_start()..] }
    }

    /// Returns the scores as energies, and what decodes them.
    fn asked(&self, w: &[f64], unary: &[[f64; 2]]) -> Result<ModelQuestion, String> {
        let model = search::model(&self.graph, self.scores(w, unary)).map_err(|error| error.to_string())?;
        let engine = match self.search() {
            SetSearch::Messages => EngineChoice::Tree,
            _ => EngineChoice::CutOrMessages,
        };
        Ok(ModelQuestion { model, engine, max_iterations: MOST_ITERATIONS })
    }
}

/// By messages on a forest, by a table of all sets of few labels, else by the engine that decodes them.
impl KBest<Multilabel> for Multilabel {
    fn top(&self, call: Call<'_, Self>, out: &mut [Vec<u32>]) -> Result<(usize, Quality), String> {
        let (w, count) = (call.question.w, out.len());
        let Some(first) = out.first_mut() else { return Ok((0, Quality::Exact)) };
        let scratch = call.scratch;
        let quality = self.decode(call.question.call(scratch, call.memory), first)?;
        let first = first.clone();
        let (list, quality) = if self.search() == SetSearch::Enumeration {
            let mut list = all_sets::best(&self.graph, self.scores(w, &scratch.unary), count);
            kbest::put_first(first, count, &mut list);
            (list, quality)
        } else {
            self.asked(w, &scratch.unary)?.list((first, quality), count)?
        };
        Ok((kbest::write_list(list, out), quality))
    }

    fn max_marginals(&self, call: Call<'_, Self>, out: &mut Vec<f64>) -> Result<Quality, String> {
        self.score_labels(call.question, call.scratch);
        let (w, unary) = (call.question.w, &call.scratch.unary);
        if self.search() == SetSearch::Enumeration {
            all_sets::max_marginals(&self.graph, self.scores(w, unary), out);
            return Ok(Quality::Exact);
        }
        self.asked(w, unary)?.max_marginals(out)
    }
}

impl RecombineLabels<Multilabel> for Multilabel {
    fn recombine(&self, case: Case<'_, Self>, w: &[f64], codes: &[u32], out: &mut Vec<u32>) -> Result<(), String> {
        let (question, Case { truth, scratch, .. }) = (case.question(w), case);
        self.score_labels(question, scratch);
        let seen = || std::iter::once(&truth[..]).chain(codes.chunks_exact(truth.len().max(1)));
        let MultilabelScratch { unary, rows, decoder, .. } = scratch;
        let pair = &w[self.pair_start()..];
        let best = match self.search() {
            SetSearch::Sweeps => {
                // Approximate, so it may miss what is there.
                let scores = SetScores { unary, pair };
                rows.clear();
                rows.extend(seen().map(|y| scores.of(&self.graph, y)));
                let better = |best: usize, at: usize| if rows[at] > rows[best] { at } else { best };
                let best = (0..rows.len()).reduce(better);
                best.and_then(|at| Some((rows[at], seen().nth(at)?)))
            }
            _ => None,
        };
        for (k, scores) in unary.iter_mut().enumerate() {
            for value in 0..2 {
                if seen().all(|y| y[k] != value) {
                    scores[value as usize] = f64::NEG_INFINITY;
                }
            }
        }
        let scores = SetScores { unary, pair };
        decoder.solve(&self.graph, scores, out)?;
        if let Some((score, y)) = best
            && score > scores.of(&self.graph, out)
        {
            out.clear();
            out.extend_from_slice(y);
        }
        Ok(())
    }
}

impl CodedFeatures<Multilabel> for Multilabel {
    fn linear_scores(&self, case: Case<'_, Self>, w: &[f64], planes: Coded<'_>, out: &mut [f64]) {
        self.score_sets(case.input, case.truth, w, planes.codes, &mut case.scratch.coded, out);
    }

    fn add_planes(&self, case: Case<'_, Self>, planes: Coded<'_>, amounts: &[f64], target: &mut [f64]) {
        let coded = &mut case.scratch.coded;
        self.add_sets(case.input, case.truth, (planes.codes, amounts), case.scale, coded, target);
    }
}
