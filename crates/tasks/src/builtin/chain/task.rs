//! The chain as a task: its features, loss and decoder. A plane touches only the positions where the labelling differs
//! from the truth.

use multiplane_core::example::Examples;
use multiplane_core::layout::Layout;
use multiplane_core::oracle::{Coded, Prices, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_core::rounding::Magnitudes;
use multiplane_core::task::{
    Call, Case, CodedFeatures, ExampleOf, KBest, LabelledVariables, Question, RecombineLabels, ScoreMagnitudes, Task,
    TaskCapabilities, UNLABELLED, relabelled,
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
use crate::builtin::pairwise::Labelling;
use crate::builtin::pairwise::kbest::ForestModel;
use crate::builtin::prices;
use crate::builtin::task::is_code_of;
use crate::data::SparseRows;

/// Working memory of the decoder and of planes.
#[derive(Debug, Default)]
pub struct ChainScratch {
    pub(super) unary: Vec<f64>,
    pub(super) pair: Vec<f64>,
    stretch: Vec<u32>,
    viterbi: Viterbi,
    lattice: Lattice,
    best_paths: BestPaths,
    difference: Difference,
    label_codes: LabelCodes,
    pub(super) sums: ChainSums,
}

impl Task for Chain {
    type Input = SparseRows;
    type Label = Labelling;
    type Scratch = ChainScratch;
    type Memory = ();

    fn dim(&self) -> usize {
        self.ends_start() + if self.ends { 2 * self.labels } else { 0 }
    }

    fn features(&self, x: &SparseRows, y: &Labelling, scale: f64, out: &mut Plane) {
        self.slots(x).features(y, scale, out);
    }

    fn loss(&self, truth: &Labelling, y: &Labelling) -> f64 {
        truth.table_loss(&self.costs, y)
    }

    fn prices(&self, x: &SparseRows) -> Option<Prices> {
        Some(prices::of_chain(x, self.labels, self.dim()))
    }

    fn largest_loss(&self, example: ExampleOf<'_, Self>) -> Option<f64> {
        let truth = example.truth;
        let Some(rule) = &self.rule else { return Some(truth.largest_loss(&self.costs)) };
        let factors = truth.factors(&self.costs);
        let mut unary = Vec::with_capacity(truth.len() * self.labels);
        for (t, &label) in truth.iter().enumerate() {
            match label {
                UNLABELLED => unary.resize(unary.len() + self.labels, 0.0),
                label => unary.extend(self.costs.row(label).iter().map(|cost| cost * factors.at(t))),
            }
        }
        rule.add_ends(&mut unary);
        let chain = ChainView { labels: self.labels, unary: &unary, pair: &rule.pairs };
        Some(solve_stretches(&mut Viterbi::default(), chain, truth, &mut Vec::new(), &mut Vec::new()))
    }

    fn decode(&self, call: Call<'_, Self>, out: &mut Labelling) -> Result<Quality, String> {
        let ChainScratch { unary, pair, viterbi, stretch, .. } = call.scratch;
        let chain = self.view(call.question, unary, pair);
        match call.question.truth.filter(|truth| truth.contains(&UNLABELLED)) {
            None => viterbi.solve(chain, out),
            Some(truth) => solve_stretches(viterbi, chain, truth, stretch, out),
        };
        Ok(Quality::Exact)
    }

    fn prefetch(&self, x: &SparseRows) {
        x.prefetch();
    }

    fn plane(&self, case: Case<'_, Self>, y: &Labelling, out: &mut Plane) {
        let Case { input: x, truth, scale, scratch, .. } = case;
        scratch.difference.write_plane(&self.slots(x), (truth, y), scale, || self.loss(truth, y), out);
    }

    fn capabilities(&self) -> TaskCapabilities<'_, Self> {
        TaskCapabilities::all(self)
    }
}

impl ScoreMagnitudes<Chain> for Chain {
    /// Every position gives its row to one label, every two neighbours and each end one weight.
    fn magnitudes(&self, examples: &Examples<SparseRows, Labelling>) -> Magnitudes {
        let sizes = sizes(examples, self.features, |x| x, |y| y.largest_loss(&self.costs), false);
        let n = examples.labels.len() as f64;
        let pairs: f64 = examples.inputs.iter().map(|x| x.len().saturating_sub(1) as f64 / n).sum();
        let (pair, ends, labels) = (self.pair_start(), self.ends_start(), self.labels);
        let single = |value: f64| vec![value];
        let magnitudes = sizes.by_column(labels).with_table(pair, labels * labels, Layout::ColumnMajor, single(pairs));
        if !self.ends {
            return magnitudes;
        }
        let end =
            |magnitudes: Magnitudes, start| magnitudes.with_table(start, labels, Layout::ColumnMajor, single(1.0));
        end(end(magnitudes, ends), ends + labels)
    }
}

impl LabelledVariables<Chain> for Chain {
    fn variables(&self, x: &SparseRows) -> usize {
        x.len()
    }

    fn label_count(&self, _: &SparseRows, _: usize) -> usize {
        self.labels
    }

    fn completed(&self, truth: &Labelling, labels: Vec<u32>) -> Option<Labelling> {
        Some(truth.completed(labels, self.costs.factor_of(truth)))
    }

    fn is_labelling(&self, example: ExampleOf<'_, Self>, code: &[u32]) -> bool {
        is_code_of(example.truth, code, self.labels) && self.allows(code)
    }
}

impl Chain {
    /// Scores everything, penalties taken off.
    pub(super) fn view<'a>(
        &self,
        question: Question<'a, Self>,
        unary: &'a mut Vec<f64>,
        pair: &'a mut Vec<f64>,
    ) -> ChainView<'a> {
        let Question { input: x, w, truth, penalty, .. } = question;
        self.score_positions(x, w, truth, unary);
        penalty.each(x.len(), |t, label, penalty| unary[t * self.labels + label as usize] -= penalty);
        ChainView { labels: self.labels, unary, pair: self.pairs(w, pair) }
    }
}

/// Solves each stretch of positions with labels as a chain of its own; returns the sum of their scores.
fn solve_stretches(
    viterbi: &mut Viterbi,
    chain: ChainView<'_>,
    truth: &[u32],
    stretch: &mut Vec<u32>,
    out: &mut Vec<u32>,
) -> f64 {
    let (mut scores, mut sum) = (chain.unary, 0.0);
    out.clear();
    out.extend_from_slice(truth);
    for labels in out.chunk_by_mut(|a, b| (*a == UNLABELLED) == (*b == UNLABELLED)) {
        let (unary, rest) = scores.split_at(labels.len() * chain.labels);
        scores = rest;
        if labels[0] != UNLABELLED {
            sum += viterbi.solve(ChainView { unary, ..chain }, stretch);
            labels.copy_from_slice(stretch);
        }
    }
    sum
}

impl KBest<Chain> for Chain {
    fn top(&self, call: Call<'_, Self>, out: &mut [Labelling]) -> Result<(usize, Quality), String> {
        let (truth, count) = (call.question.truth, out.len());
        if let Some(truth) = truth.filter(|truth| truth.contains(&UNLABELLED)) {
            let Some(first) = out.first_mut() else { return Ok((0, Quality::Exact)) };
            self.decode(call.question.call(call.scratch, call.memory), first)?;
            let ChainScratch { unary, pair, .. } = call.scratch;
            let chain = self.view(call.question, unary, pair);
            // The list takes finite scores: with forbidden ones a labelling is below all that are allowed.
            let terms = || chain.unary.iter().chain(chain.pair).filter(|score| score.is_finite());
            let most = terms().map(|score| score.abs()).fold(1.0, f64::max);
            let sunk = |score: &f64| score.max(-most * (4.0 * truth.len() as f64 + 1.0));
            let unary: Vec<f64> = chain.unary.iter().map(sunk).collect();
            let pair: Vec<f64> = chain.pair.iter().map(sunk).collect();
            let edges = (1..truth.len()).map(|t| (0, t - 1, t));
            let (found, quality) = ForestModel::new((self.labels, &unary), &pair, edges, Some(truth))?.list(out)?;
            let is_allowed = |y: &&Labelling| self.allows(y);
            return Ok((out[..found].iter().take_while(is_allowed).count(), quality));
        }
        let ChainScratch { unary, pair, best_paths, .. } = call.scratch;
        let (chain, mut places) = (self.view(call.question, unary, pair), out.iter_mut());
        let found = best_paths.solve(chain, count, |_, path| {
            places.next().into_iter().for_each(|place| path.clone_into(place));
        });
        Ok((found, Quality::Exact))
    }

    fn max_marginals(&self, call: Call<'_, Self>, out: &mut Vec<f64>) -> Result<Quality, String> {
        let ChainScratch { unary, pair, viterbi, .. } = call.scratch;
        viterbi.max_marginals(self.view(call.question, unary, pair), out);
        Ok(Quality::Exact)
    }

    /// If the rule forbids what was drawn, other positions change too; if those drawn cannot change, some others do.
    fn relabelled(&self, _: ExampleOf<'_, Self>, code: &[u32], changes: usize, rng: &mut Rng) -> Vec<u32> {
        let drawn = relabelled(code, |t| if code[t] == UNLABELLED { 0 } else { self.labels }, changes, rng);
        let Some(rule) = self.rule.as_ref().filter(|_| !self.allows(&drawn)) else { return drawn };
        let (len, mut unary, mut found) = (code.len(), Vec::new(), Vec::new());
        for all_change in [false, true] {
            unary.clear();
            for t in 0..len {
                unary.extend((0..self.labels as u32).map(|label| match label == code[t] {
                    true => 0.0,
                    false if all_change || drawn[t] != code[t] => 1.0 + 0.5 * f64::from(u8::from(label == drawn[t])),
                    false => -0.5 / len as f64,
                }));
            }
            rule.add_ends(&mut unary);
            let chain = ChainView { labels: self.labels, unary: &unary, pair: &rule.pairs };
            solve_stretches(&mut Viterbi::default(), chain, code, &mut Vec::new(), &mut found);
            if found != code {
                break;
            }
        }
        found
    }
}

impl RecombineLabels<Chain> for Chain {
    fn recombine(&self, case: Case<'_, Self>, w: &[f64], codes: &[u32], out: &mut Labelling) -> Result<(), String> {
        let (truth, ChainScratch { unary, pair, lattice, .. }) = (case.truth, case.scratch);
        lattice.clear();
        for (t, &label) in truth.iter().enumerate() {
            lattice.add_candidate(label);
            codes.iter().skip(t).step_by(truth.len()).for_each(|&label| lattice.add_candidate(label));
            lattice.end_position();
        }
        self.score_positions(case.input, w, Some(truth), unary);
        let (labels, pair) = (self.labels, self.pairs(w, pair));
        let unary = |t: usize, label: u32| match label {
            UNLABELLED => 0.0,
            label => unary[t * labels + label as usize],
        };
        let pair = |from: u32, to: u32| match from == UNLABELLED || to == UNLABELLED {
            true => 0.0,
            false => pair[from as usize * labels + to as usize],
        };
        lattice.solve(unary, pair, out);
        Ok(())
    }
}

impl CodedFeatures<Chain> for Chain {
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
