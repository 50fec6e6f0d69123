//! Boxes as a task: features, loss, planes, and the decoder.

use std::sync::Arc;

use multiplane_core::example::Memory;
use multiplane_core::oracle::{Prices, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_core::task::{Call, Case, Task};
use multiplane_infer::boxes::{BinKernel, BoxEngine, BoxLoss, BoxQuestion, FoundBox, Norm, Places, Rect, cells};
use serde::{Deserialize, Serialize};

use super::boxed::Boxed;
use super::measures::{Answered, FOUND, Overlaps};
use super::reference;
use super::spec::{BoxSearch, BoxSpec};
use crate::builtin::kernelized::{KernelFacts, KernelVocabulary};
use crate::builtin::task::BuiltinTask;
use crate::data::boxes::BoxImage;
use crate::kernel::Kernel;
use crate::metrics::Measure;
use crate::problem::tables::{Axis, WeightTable};
use crate::problem::{FeatureSpace, TaskVocabulary};

/// Seconds of a call for a point in a cell, and for a number of a plane; see [`prices`](crate::builtin::prices).
const POINT: f64 = 1e-7;
const NUMBER: f64 = 1e-9;

/// Points that a call with a kernel passes, for each point of the image in each cell.
const PASSED: f64 = 2000.0;

/// Boxes that an example remembers.
const REMEMBERED: usize = 4;

/// The facts that a model remembers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BoxVocabulary {
    /// The number of words in each vocabulary.
    pub words: Vec<usize>,
    /// The sizes of the windows, width and height; empty for branch and bound.
    pub windows: Vec<(u32, u32)>,
    /// How the words of the training data were made, if their container says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub features_id: Option<String>,
    /// The kernel, its gamma a number, where windows are rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<Kernel>,
    /// The rows of the kernel.
    #[serde(skip)]
    pub space: FeatureSpace,
}

impl TaskVocabulary for BoxVocabulary {
    fn space(&mut self) -> Option<&mut FeatureSpace> {
        Some(&mut self.space)
    }
}

impl KernelVocabulary for BoxVocabulary {
    fn of_kernel(&mut self) -> KernelFacts<'_> {
        KernelFacts { features: 0, width: 0, kernel: &mut self.kernel, space: &mut self.space }
    }
}

impl BoxVocabulary {
    pub(super) fn all_words(&self) -> usize {
        self.words.iter().sum()
    }
}

/// Returns the tables of the weights.
pub(super) fn tables(spec: &BoxSpec, vocabulary: &BoxVocabulary) -> Vec<WeightTable> {
    let cells = (0..spec.levels).flat_map(|level| {
        let parts = 1 << level;
        (0..parts * parts).map(move |k| format!("{parts}x{parts}:{},{}", k / parts, k % parts))
    });
    let mut axes = vec![Axis::own("cell", cells), Axis::numbers("word", vocabulary.all_words())];
    let numbers = BinKernel::from(spec.bin_kernel).numbers();
    axes.extend((numbers > 1).then(|| Axis::numbers("number", numbers)));
    let bins = WeightTable::new("bin", axes);
    std::iter::once(bins).chain(table_of_none(spec)).collect()
}

/// Returns the weight tables for `rows` windows.
pub(super) fn tables_of_rows(spec: &BoxSpec, rows: usize) -> Vec<WeightTable> {
    let coefficients = WeightTable::new("coefficient", [Axis::numbers("row", rows)]);
    std::iter::once(coefficients).chain(table_of_none(spec)).collect()
}

fn table_of_none(spec: &BoxSpec) -> Option<WeightTable> {
    spec.none.then(|| WeightTable::new("none", [Axis::numbers("none", 1)]))
}

/// Boxes in maps of words.
#[derive(Clone, Debug)]
pub struct BoxTask {
    spec: BoxSpec,
    vocabulary: BoxVocabulary,
    norm: Norm,
    kernel: BinKernel,
    loss: BoxLoss,
}

/// Working memory of a thread.
#[derive(Debug, Default)]
pub struct BoxScratch {
    engine: BoxEngine,
    found: Vec<FoundBox>,
    dense: Vec<f64>,
}

/// The last boxes that an example was answered: where they still score high, little else is searched.
#[derive(Clone, Debug, Default)]
pub struct BoxMemory(Vec<Rect>);

impl Memory for BoxMemory {
    fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<Rect>()
    }
}

impl BoxTask {
    /// Makes a task with these words and windows.
    pub(super) fn new(spec: &BoxSpec, vocabulary: BoxVocabulary) -> Self {
        let (norm, kernel, loss) = (spec.normalise.into(), spec.bin_kernel.into(), spec.loss.into());
        BoxTask { spec: spec.clone(), vocabulary, norm, kernel, loss }
    }

    /// Returns what a model remembers.
    pub fn vocabulary(&self) -> &BoxVocabulary {
        &self.vocabulary
    }

    /// Returns true if "no box" is an answer.
    pub(super) fn has_none(&self) -> bool {
        self.spec.none
    }

    /// Returns the largest overlap of two boxes in a list.
    pub(super) fn apart(&self) -> f64 {
        self.spec.apart
    }

    /// Returns the loss of a box.
    pub(super) fn loss_of(&self, truth: &Boxed, rect: Rect) -> f64 {
        self.loss.loss(truth.boxes(), rect)
    }

    /// Returns the weight tables for `rows` windows.
    pub(super) fn tables_of_rows(&self, rows: usize) -> Vec<WeightTable> {
        tables_of_rows(&self.spec, rows)
    }

    /// Writes a list of boxes, the best first, with "no box" in its place if it has a score; returns its length.
    pub(super) fn write_list(found: &[FoundBox], none: Option<f64>, out: &mut [Boxed]) -> usize {
        let rank = none.map(|none| found.iter().take_while(|one| one.score >= none).count());
        let mut list: Vec<Boxed> = found.iter().map(|one| Boxed::new(vec![one.rect])).collect();
        rank.into_iter().for_each(|rank| list.insert(rank, Boxed::default()));
        list.truncate(out.len());
        let count = list.len();
        out.iter_mut().zip(list).for_each(|(to, one)| *to = one);
        count
    }

    /// Returns the number of weights of cells.
    fn bins(&self) -> usize {
        cells(self.spec.levels) * self.vocabulary.all_words() * self.kernel.numbers()
    }

    /// Adds `scale` times the features of an image with these boxes: the mean over them.
    fn add(&self, x: &BoxImage, y: &Boxed, scale: f64, dense: &mut [f64]) {
        if y.boxes().is_empty() {
            dense[self.bins()..].iter_mut().for_each(|none| *none += scale);
        }
        let words = self.vocabulary.all_words();
        let mut histogram = vec![0.0; cells(self.spec.levels) * words];
        for &rect in y.boxes() {
            histogram.fill(0.0);
            for (cell, own) in rect.pyramid(self.spec.levels).zip(histogram.chunks_exact_mut(words)) {
                x.map.words_in(cell).for_each(|word| own[word as usize] += 1.0);
            }
            let norm = self.norm_of(x, rect, &histogram);
            if norm > 0.0 {
                let share = scale / y.boxes().len() as f64;
                for (own, count) in dense.chunks_exact_mut(self.kernel.numbers()).zip(&histogram) {
                    let map = self.kernel.map(count / norm);
                    own.iter_mut().zip(map).for_each(|(sum, value)| *sum += share * value);
                }
            }
        }
    }

    fn norm_of(&self, x: &BoxImage, rect: Rect, histogram: &[f64]) -> f64 {
        match self.norm {
            Norm::None => x.map.points() as f64,
            Norm::Area => rect.area() as f64,
            Norm::L1 => histogram.iter().sum(),
            Norm::L2 => histogram.iter().map(|count| count * count).sum::<f64>().sqrt(),
        }
    }

    fn question<'a>(&'a self, x: &'a BoxImage, truth: Option<&'a Boxed>, w: &'a [f64]) -> BoxQuestion<'a> {
        let places = match self.spec.search {
            BoxSearch::BranchAndBound => Places::Grid { stride: self.spec.stride, most: self.spec.max_sets },
            BoxSearch::Windows => Places::Windows { sizes: &self.vocabulary.windows, stride: self.spec.stride },
        };
        BoxQuestion {
            map: &x.map,
            scores: &w[..self.bins()],
            levels: self.spec.levels,
            norm: self.norm,
            kernel: self.kernel,
            loss: truth.map(|truth| (self.loss, truth.boxes())),
            places,
        }
    }

    /// Returns the score of "no box", loss included, if that is an answer.
    fn of_none(&self, truth: Option<&Boxed>, w: &[f64]) -> Option<f64> {
        let loss = truth.map_or(0.0, |truth| truth.loss(self.loss, &Boxed::default()));
        self.spec.none.then(|| w[self.bins()] + loss)
    }
}

fn push(dense: &[f64], out: &mut Plane) {
    let filled = (0..).zip(dense).filter(|(_, value)| **value != 0.0);
    filled.for_each(|(column, &value)| out.push(column, value));
}

impl Task for BoxTask {
    type Input = Arc<BoxImage>;
    type Label = Boxed;
    type Scratch = BoxScratch;
    type Memory = BoxMemory;

    fn dim(&self) -> usize {
        self.bins() + usize::from(self.spec.none)
    }

    fn features(&self, x: &Arc<BoxImage>, y: &Boxed, scale: f64, out: &mut Plane) {
        let mut dense = vec![0.0; self.dim()];
        self.add(x, y, scale, &mut dense);
        push(&dense, out);
    }

    fn loss(&self, truth: &Boxed, y: &Boxed) -> f64 {
        truth.loss(self.loss, y)
    }

    fn prices(&self, x: &Arc<BoxImage>) -> Option<Prices> {
        let points = (cells(self.spec.levels) * x.map.points()) as f64;
        let passed = if self.kernel == BinKernel::Linear { POINT } else { PASSED * NUMBER };
        Some(Prices::of_sizes(1e-5 + passed * points, 6e-7 + NUMBER * self.dim() as f64))
    }

    fn decode(&self, call: Call<'_, Self>, out: &mut Boxed) -> Result<Quality, String> {
        let Call { question, scratch: BoxScratch { engine, found, .. }, memory } = call;
        let asked = self.question(question.input, question.truth, question.w);
        let bound = engine.search(asked, &memory.0, (1, 1.0), found);
        let none = self.of_none(question.truth, question.w);
        let best = found.first().filter(|best| none.is_none_or(|none| best.score >= none));
        let score = best.map(|best| best.score).or(none).ok_or("there are no sizes of windows")?;
        *out = Boxed::new(best.map(|best| best.rect).into_iter().collect());
        if let Some(best) = found.first() {
            memory.0.retain(|known| *known != best.rect);
            memory.0.insert(0, best.rect);
            memory.0.truncate(REMEMBERED);
        }
        Ok(if bound <= score { Quality::Exact } else { Quality::UpperBound(bound) })
    }

    fn plane(&self, case: Case<'_, Self>, y: &Boxed, out: &mut Plane) {
        let Case { input, truth, scale, scratch: BoxScratch { dense, .. }, .. } = case;
        out.clear();
        if y != truth {
            dense.clear();
            dense.resize(self.dim(), 0.0);
            self.add(input, y, scale, dense);
            self.add(input, truth, -scale, dense);
            push(dense, out);
            out.set_circ(scale * self.loss(truth, y));
        }
        out.seal();
    }
}

impl BuiltinTask for BoxTask {
    type Vocabulary = BoxVocabulary;

    fn show(&self, y: &Boxed, _: &BoxVocabulary) -> String {
        let of = |rect: &Rect| format!("{} {} {} {}", rect.left, rect.top, rect.right, rect.bottom);
        y.boxes().iter().map(of).collect::<Vec<_>>().join("; ")
    }

    /// All boxes one by one, by tables of sums of plain scores; and the truth, which need not lie on the grid.
    fn reference_hinge(&self, x: &Arc<BoxImage>, truth: &Boxed, w: &[f64]) -> f64 {
        let largest = reference::largest(self.question(x, Some(truth), w), self.of_none(Some(truth), w));
        let of = |&rect: &Rect| reference::score(self.question(x, None, w), rect);
        let of_truth = match truth.boxes() {
            [] => w[self.bins()],
            boxes => boxes.iter().map(of).sum::<f64>() / boxes.len() as f64,
        };
        (largest - of_truth).max(0.0)
    }

    fn errors(&self, truth: &Boxed, y: &Boxed) -> (usize, usize) {
        (usize::from(truth.overlap(y) <= FOUND), 1)
    }

    fn is_known(&self, truth: &Boxed) -> bool {
        self.spec.none || !truth.boxes().is_empty()
    }

    fn measures(&self, _: &BoxVocabulary) -> Vec<Box<dyn Measure<Boxed>>> {
        vec![Box::new(Overlaps), Box::new(Answered)]
    }

    /// The best boxes apart from each other (greedy non-maximum suppression), and "no box" if that is an answer.
    fn top(&self, call: Call<'_, Self>, out: &mut [Boxed]) -> Result<(usize, Quality), String> {
        let Call { question, scratch: BoxScratch { engine, found, .. }, memory } = call;
        let asked = self.question(question.input, question.truth, question.w);
        engine.search(asked, &memory.0, (out.len(), self.spec.apart), found);
        let quality = if engine.has_ended() { Quality::Exact } else { Quality::Heuristic };
        let none = self.of_none(question.truth, question.w);
        Ok((BoxTask::write_list(found, none, out), quality))
    }

    /// Boxes with one side moved by a stride.
    fn neighbours(&self, x: &Arc<BoxImage>, y: &Boxed, most: usize, rng: &mut Rng) -> Vec<Boxed> {
        let (stride, whole) = (self.spec.stride, x.map.whole());
        let near = |rect: Rect| {
            let moved = |change: &dyn Fn(&mut Rect)| {
                let mut near = rect;
                change(&mut near);
                near.common(whole)
            };
            [
                moved(&|near| near.left = near.left.saturating_sub(stride)),
                moved(&|near| near.left = near.left.saturating_add(stride)),
                moved(&|near| near.top = near.top.saturating_sub(stride)),
                moved(&|near| near.top = near.top.saturating_add(stride)),
                moved(&|near| near.right = near.right.saturating_add(stride)),
                moved(&|near| near.right = near.right.saturating_sub(stride)),
                moved(&|near| near.bottom = near.bottom.saturating_add(stride)),
                moved(&|near| near.bottom = near.bottom.saturating_sub(stride)),
            ]
        };
        let mut all: Vec<Rect> = y.boxes().iter().flat_map(|&rect| near(rect)).collect();
        all.retain(|near| !near.is_empty() && !y.boxes().contains(near));
        rng.shuffle(&mut all);
        all.truncate(most);
        all.into_iter().map(|rect| Boxed::new(vec![rect])).collect()
    }

    fn is_labelling_of(&self, x: &Arc<BoxImage>, y: &Boxed) -> bool {
        let is_inside = |rect: &Rect| !rect.is_empty() && rect.common(x.map.whole()) == *rect;
        y.boxes().iter().all(is_inside) && (self.spec.none || !y.boxes().is_empty())
    }

    fn weight_tables(&self) -> Vec<WeightTable> {
        tables(&self.spec, &self.vocabulary)
    }
}
