//! Sentences as a task: features, loss and decoder. Labellings are heads by word, counted from 1; 0 is the root.

use multiplane_core::example::Examples;
use multiplane_core::layout::Layout;
use multiplane_core::oracle::{Coded, Prices, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::rounding::Magnitudes;
use multiplane_core::task::{
    CodedFeatures, ExampleOf, LabelCodes, QuestionOf, RecombineLabels, ScoreMagnitudes, Task, TaskCapabilities,
    WorkspaceOf,
};
use multiplane_infer::arborescence::Arborescence;

use super::arcs::ArcSums;
use super::coded::{self, CodedArcs};
use super::input::Sentence;
use super::layout::{ArborescenceTask, ArcScores, UNKNOWN};
use super::marginals::TreeSums;
use crate::builtin::prices;

/// Working memory of the decoder, of planes and of sums.
#[derive(Debug, Default)]
pub struct ArborescenceScratch {
    pub(super) arcs: ArcScores,
    pub(super) engine: Arborescence,
    pub(super) planes: ArcSums,
    pub(super) sums: TreeSums,
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

    fn decode(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut Vec<u32>,
    ) -> Result<Quality, String> {
        let (x, ArborescenceScratch { arcs, engine, .. }) = (question.input, work.scratch);
        self.score_arcs(x, w, question.truth, arcs);
        engine.solve(self.view(x.words(), &arcs.scores), out).map_err(|error| error.to_string())?;
        Ok(Quality::Exact)
    }

    fn prefetch(&self, x: &Sentence) {
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
        let (truth, planes) = (example.truth, &mut work.scratch.planes);
        out.clear();
        planes.arcs.clear();
        for (word, (&head, &right)) in y.iter().zip(truth).enumerate().filter(|(_, (head, right))| head != right) {
            planes.arcs.extend([(head, word, 1.0), (right, word, -1.0)]);
        }
        if planes.arcs.is_empty() {
            return out.seal();
        }
        planes.write(self, example.input, scale, out);
        out.set_circ(scale * self.loss(truth, y));
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

/// Roundings of an arc's score beside those of its products: loss, contractions.
const PER_WORD: usize = 4;

impl ScoreMagnitudes<ArborescenceTask> for ArborescenceTask {
    /// Every word gives its row to the root or to one bucket; for every feature of heads, to one direction, as large as that
    /// feature gets in the sentence.
    fn magnitudes(&self, examples: &Examples<Sentence, Vec<u32>>) -> Magnitudes {
        let (n, d, fixed) = (examples.labels.len() as f64, self.features, self.fixed_rows());
        let (mut columns, mut pairs) = (vec![0.0; d], vec![Vec::new(); d]);
        let (mut loss, mut additions, mut rows) = (0.0, 0, 0);
        for x in &examples.inputs {
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

impl LabelCodes<ArborescenceTask> for ArborescenceTask {
    fn encode(&self, y: &Vec<u32>, code: &mut Vec<u32>) {
        code.clone_from(y);
    }

    fn is_code(&self, truth: &Vec<u32>, code: &[u32]) -> bool {
        code.len() == truth.len() && self.is_tree(code)
    }
}

impl RecombineLabels<ArborescenceTask> for ArborescenceTask {
    /// Only arcs that are known are scored; all others are forbidden.
    fn recombine(
        &self,
        example: ExampleOf<'_, Self>,
        w: &[f64],
        codes: &[u32],
        work: WorkspaceOf<'_, Self>,
        out: &mut Vec<u32>,
    ) -> Result<(), String> {
        let (x, truth, ArborescenceScratch { arcs, engine, .. }) = (example.input, example.truth, work.scratch);
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
    fn compile(&self, example: ExampleOf<'_, Self>, codes: &[u32], _: &mut ArborescenceScratch, out: &mut Vec<u32>) {
        coded::compile(example.truth, codes, out);
    }

    fn linear_scores(
        &self,
        example: ExampleOf<'_, Self>,
        w: &[f64],
        planes: Coded<'_>,
        scratch: &mut ArborescenceScratch,
        out: &mut [f64],
    ) {
        scratch.coded.score(self, (example.input, example.truth), w, planes, out);
    }

    fn add_planes(
        &self,
        example: ExampleOf<'_, Self>,
        planes: Coded<'_>,
        amounts: &[f64],
        scale: f64,
        scratch: &mut ArborescenceScratch,
        target: &mut [f64],
    ) {
        scratch.coded.add(self, (example.input, example.truth), planes, (amounts, scale), target);
    }
}
