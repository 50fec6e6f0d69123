//! Sentences as a task: features, loss and decoder. Labellings are heads by word, counted from 1; 0 is the root.

use multiplane_core::example::Examples;
use multiplane_core::layout::Layout;
use multiplane_core::oracle::{Coded, Prices, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_core::rounding::Magnitudes;
use multiplane_core::task::{
    Call, Case, CodedFeatures, ExampleOf, KBest, LabelledVariables, Question, RecombineLabels, ScoreMagnitudes, Task,
    TaskCapabilities,
};
use multiplane_infer::arborescence::{Arborescence, HeadScores};

use super::arcs::ArcSums;
use super::coded::{self, CodedArcs};
use super::input::Sentence;
use super::layout::{ArborescenceTask, ArcScores, UNKNOWN};
use super::marginals::HeadSums;
use crate::builtin::prices;

/// Working memory of the decoder, of planes and of sums.
#[derive(Debug, Default)]
pub struct ArborescenceScratch {
    pub(super) arcs: ArcScores,
    pub(super) engine: Arborescence,
    pub(super) planes: ArcSums,
    pub(super) sums: HeadSums,
    coded: CodedArcs,
}

impl Task for ArborescenceTask {
    type Input = Sentence;
    type Label = Vec<u32>;
    type Scratch = ArborescenceScratch;
    type Memory = ();

    fn dim(&self) -> usize {
        (self.fixed_rows() + 2 * self.features) * self.features
    }

    fn features(&self, x: &Sentence, y: &Vec<u32>, scale: f64, out: &mut Plane) {
        for (word, &head) in y.iter().enumerate() {
            let own = x.rows().row(word);
            self.rows_of(x, head, word, |row, amount| {
                out.extend_scaled((row * self.features) as u32, own.indices, scale * amount, own.values);
            });
        }
    }

    /// Words with another head; none of a sentence whose tree is not known, which no training data has.
    fn loss(&self, truth: &Vec<u32>, y: &Vec<u32>) -> f64 {
        let wrong = truth.iter().zip(y).filter(|(t, y)| t != y && **t != UNKNOWN).count();
        self.cost(truth.len()) * wrong as f64
    }

    fn prices(&self, x: &Sentence) -> Option<Prices> {
        Some(prices::of_arborescence(x.rows(), x.columns().len(), self.dim()))
    }

    /// Not all heads can be wrong in every tree: the best tree of costs says how many.
    fn largest_loss(&self, example: ExampleOf<'_, Self>) -> Option<f64> {
        let (words, truth, mut heads) = (example.input.words(), example.truth, Vec::new());
        let cost = |at: usize| match at % (words + 1) {
            0 => 0.0,
            word => f64::from(truth[word - 1] as usize != at / (words + 1)),
        };
        let costs: Vec<f64> = (0..(words + 1) * (words + 1)).map(cost).collect();
        Some(Arborescence::default().solve(self.view(words, &costs), &mut heads).ok()? * self.cost(words))
    }

    fn decode(&self, call: Call<'_, Self>, out: &mut Vec<u32>) -> Result<Quality, String> {
        let ArborescenceScratch { arcs, engine, .. } = call.scratch;
        engine.solve(self.scored(call.question, arcs), out).map_err(|error| error.to_string())?;
        Ok(Quality::Exact)
    }

    fn prefetch(&self, x: &Sentence) {
        x.rows().prefetch();
    }

    fn plane(&self, case: Case<'_, Self>, y: &Vec<u32>, out: &mut Plane) {
        let Case { input: x, truth, scale, scratch: ArborescenceScratch { planes, .. }, .. } = case;
        out.clear();
        planes.arcs.clear();
        for (word, (&head, &right)) in y.iter().zip(truth).enumerate().filter(|(_, (head, right))| head != right) {
            planes.arcs.extend([(head, word, 1.0), (right, word, -1.0)]);
        }
        if planes.arcs.is_empty() {
            return out.seal();
        }
        planes.write(self, x, scale, out);
        out.set_circ(scale * self.loss(truth, y));
    }

    fn capabilities(&self) -> TaskCapabilities<'_, Self> {
        TaskCapabilities::all(self)
    }
}

/// Roundings of an arc's score beside those of its products: loss, contractions.
const PER_WORD: usize = 4;

impl ScoreMagnitudes<ArborescenceTask> for ArborescenceTask {
    /// Every word gives its row to the root or to one bucket; for every feature of heads, to one direction, as large as
    /// that feature gets in the sentence.
    fn magnitudes(&self, examples: &Examples<Sentence, Vec<u32>>) -> Magnitudes {
        let (n, d, fixed) = (examples.labels.len() as f64, self.features, self.fixed_rows());
        let (mut columns, mut pairs) = (vec![0.0; d], vec![Vec::new(); d]);
        let (mut loss, mut additions, mut rows) = (0.0, 0, 0);
        for x in examples.inputs.iter() {
            let (words, count) = (x.words(), x.columns().len());
            let (mut sums, mut largest, mut longest) = (vec![0.0; count], vec![0.0_f64; count], 0);
            for row in (0..words).map(|word| x.local().row(word)) {
                longest = longest.max(row.indices.len());
                for (place, value) in row.iter() {
                    sums[place as usize] += value.abs() / n;
                    largest[place as usize] = largest[place as usize].max(value.abs());
                }
            }
            for (&column, sum) in x.columns().iter().zip(&sums) {
                columns[column as usize] += sum;
            }
            for (&feature, &most) in x.columns().iter().zip(&largest) {
                let of_heads: &mut Vec<f64> = &mut pairs[feature as usize];
                of_heads.resize(d, 0.0);
                x.columns().iter().zip(&sums).for_each(|(&column, sum)| of_heads[column as usize] += most * sum);
            }
            loss += self.cost(words) * words as f64 / n;
            additions = additions.max((2 + words) * (longest + PER_WORD));
            rows = rows.max(words);
        }
        let magnitudes = Magnitudes::new(loss, additions, rows).with_table(0, fixed, Layout::LabelMajor, columns);
        let known = pairs.into_iter().enumerate().filter(|(_, columns)| !columns.is_empty());
        known.fold(magnitudes, |magnitudes, (feature, columns)| {
            magnitudes.with_table((fixed + 2 * feature) * d, 2, Layout::LabelMajor, columns)
        })
    }
}

impl LabelledVariables<ArborescenceTask> for ArborescenceTask {
    fn variables(&self, x: &Sentence) -> usize {
        x.words()
    }

    fn label_count(&self, x: &Sentence, _: usize) -> usize {
        x.words() + 1
    }

    fn is_labelling(&self, example: ExampleOf<'_, Self>, code: &[u32]) -> bool {
        code.len() == example.truth.len() && self.is_tree(code)
    }
}

impl ArborescenceTask {
    /// Scores all arcs, penalties taken off.
    pub(super) fn scored<'a>(&self, question: Question<'_, Self>, arcs: &'a mut ArcScores) -> HeadScores<'a> {
        let Question { input: x, truth, w, penalty, .. } = question;
        self.score_arcs(x, w, truth, arcs);
        let side = x.words() + 1;
        penalty.each(x.words(), |word, head, penalty| arcs.scores[head as usize * side + word + 1] -= penalty);
        self.view(x.words(), &arcs.scores)
    }
}

impl KBest<ArborescenceTask> for ArborescenceTask {
    fn top(&self, call: Call<'_, Self>, out: &mut [Vec<u32>]) -> Result<(usize, Quality), String> {
        let ArborescenceScratch { arcs, engine, .. } = call.scratch;
        let listed = engine.solve_best(self.scored(call.question, arcs), out.len());
        let listed = listed.map_err(|error| error.to_string())?;
        let found = out.iter_mut().zip(listed).map(|(out, tree)| *out = tree.heads).count();
        Ok((found, Quality::Exact))
    }

    /// One search for each arc, O(words^4): 40 words take some 20 ms. Where no tree has the arc, -inf.
    fn max_marginals(&self, call: Call<'_, Self>, out: &mut Vec<f64>) -> Result<Quality, String> {
        let ArborescenceScratch { arcs, engine, .. } = call.scratch;
        let words = self.scored(call.question, arcs).words;
        let (side, scores) = (words + 1, &mut arcs.scores);
        let (mut best, mut other) = (Vec::new(), Vec::new());
        let most = engine.solve(self.view(words, scores), &mut best).map_err(|error| error.to_string())?;
        out.clear();
        out.resize(words * side, f64::NEG_INFINITY);
        for word in 0..words {
            let column: Vec<f64> = (0..side).map(|head| scores[head * side + word + 1]).collect();
            (0..side).for_each(|head| scores[head * side + word + 1] = f64::NEG_INFINITY);
            for head in (0..side).filter(|&head| head != word + 1) {
                let at = head * side + word + 1;
                scores[at] = column[head];
                let found = if best[word] as usize == head {
                    Ok(most)
                } else {
                    engine.solve(self.view(words, scores), &mut other)
                };
                out[word * side + head] = found.unwrap_or(f64::NEG_INFINITY);
                scores[at] = f64::NEG_INFINITY;
            }
            (0..side).for_each(|head| scores[head * side + word + 1] = column[head]);
        }
        Ok(Quality::Exact)
    }

    /// A tree in which as many of the drawn words as can have another head, and as many of the others as can the same:
    /// heads cannot be drawn one by one, as they must make a tree.
    fn relabelled(&self, _: ExampleOf<'_, Self>, code: &[u32], changes: usize, rng: &mut Rng) -> Vec<u32> {
        let (words, side, mut out) = (code.len(), code.len() + 1, Vec::new());
        let mut order: Vec<usize> = (0..words).collect();
        rng.shuffle(&mut order);
        let mut scores = vec![0.0; side * side];
        for (rank, &word) in order.iter().enumerate() {
            for head in 0..side {
                let (drawn, same) = (rank < changes, head == code[word] as usize);
                let wanted = if drawn && !same { side as f64 } else { f64::from(!drawn && same) };
                scores[head * side + word + 1] = wanted + 0.5 * rng.unit() / side as f64;
            }
        }
        if Arborescence::default().solve(self.view(words, &scores), &mut out).is_err() {
            code.clone_into(&mut out);
        }
        out
    }
}

impl RecombineLabels<ArborescenceTask> for ArborescenceTask {
    /// Only arcs that are known are scored; all others are forbidden.
    fn recombine(&self, case: Case<'_, Self>, w: &[f64], codes: &[u32], out: &mut Vec<u32>) -> Result<(), String> {
        let (x, truth, ArborescenceScratch { arcs, engine, .. }) = (case.input, case.truth, case.scratch);
        let (words, side, cost) = (x.words(), x.words() + 1, self.cost(x.words()));
        arcs.scores.clear();
        arcs.scores.resize(side * side, f64::NEG_INFINITY);
        for tree in std::iter::once(&truth[..]).chain(codes.chunks_exact(words.max(1))) {
            for (word, (&head, &right)) in tree.iter().zip(truth).enumerate() {
                let score = &mut arcs.scores[head as usize * side + word + 1];
                if *score == f64::NEG_INFINITY {
                    *score = self.arc(x, head, word, w) + if head == right { 0.0 } else { cost };
                }
            }
        }
        engine.solve(self.view(words, &arcs.scores), out).map(|_| ()).map_err(|error| error.to_string())
    }
}

impl CodedFeatures<ArborescenceTask> for ArborescenceTask {
    fn compile(&self, case: Case<'_, Self>, codes: &[u32], compiled: &mut Vec<u32>) {
        coded::compile(case.truth, codes, compiled);
    }

    fn linear_scores(&self, case: Case<'_, Self>, w: &[f64], planes: Coded<'_>, out: &mut [f64]) {
        case.scratch.coded.score(self, (case.input, case.truth), w, planes, out);
    }

    fn add_planes(&self, case: Case<'_, Self>, planes: Coded<'_>, amounts: &[f64], target: &mut [f64]) {
        case.scratch.coded.add(self, (case.input, case.truth), planes, (amounts, case.scale), target);
    }
}
