//! Boxes with a kernel: the score of a window is a weight of its own, the image of coefficients of windows.

use std::sync::Arc;

use multiplane_core::example::Examples;
use multiplane_core::layout::Layout;
use multiplane_core::oracle::{Prices, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_core::rounding::Magnitudes;
use multiplane_core::task::{Call, ScoreMagnitudes, Task, TaskCapabilities};
use multiplane_infer::boxes::{FoundBox, take_apart};

use super::boxed::Boxed;
use super::task::{BoxTask, BoxVocabulary};
use super::window_rows::WindowedImage;
use crate::builtin::task::BuiltinTask;
use crate::metrics::Measure;
use crate::problem::tables::WeightTable;

/// Seconds of a call for a window; see [`prices`](crate::builtin::prices).
const WINDOW: f64 = 2e-8;

/// The windows of images as answers. Weights: `[row]`, then that of "no box".
#[derive(Clone, Debug)]
pub(super) struct WindowTask {
    /// The task without a kernel: loss, measures, texts.
    pub(super) boxes: BoxTask,
    /// Rows of all images.
    pub(super) rows: usize,
}

impl WindowTask {
    /// Returns the windows with their scores, and the score of "no box", if that is an answer.
    fn scored<'a>(
        &'a self,
        x: &'a WindowedImage,
        truth: Option<&'a Boxed>,
        w: &'a [f64],
    ) -> (impl Iterator<Item = FoundBox> + 'a, Option<f64>) {
        let loss = move |rect| truth.map_or(0.0, |truth| self.boxes.loss_of(truth, rect));
        let all = x.windows().map(move |(row, rect)| FoundBox { rect, score: w[row] + loss(rect) });
        let of_none = || w[self.rows] + truth.map_or(0.0, |truth| self.boxes.loss(truth, &Boxed::default()));
        (all, self.boxes.has_none().then(of_none))
    }
}

impl Task for WindowTask {
    type Input = Arc<WindowedImage>;
    type Label = Boxed;
    type Scratch = ();
    type Memory = ();

    fn dim(&self) -> usize {
        self.rows + usize::from(self.boxes.has_none())
    }

    fn features(&self, x: &Arc<WindowedImage>, y: &Boxed, scale: f64, out: &mut Plane) {
        if y.boxes().is_empty() && self.boxes.has_none() {
            out.push(self.rows as u32, scale);
        }
        let share = scale / y.boxes().len() as f64;
        y.boxes().iter().filter_map(|&rect| x.row_of(rect)).for_each(|row| out.push(row as u32, share));
    }

    fn loss(&self, truth: &Boxed, y: &Boxed) -> f64 {
        self.boxes.loss(truth, y)
    }

    fn prices(&self, x: &Arc<WindowedImage>) -> Option<Prices> {
        Some(Prices::of_sizes(1e-6 + WINDOW * x.rects.len() as f64, 1e-6))
    }

    fn decode(&self, call: Call<'_, Self>, out: &mut Boxed) -> Result<Quality, String> {
        let (all, none) = self.scored(call.question.input, call.question.truth, call.question.w);
        let better = |a: FoundBox, b: FoundBox| if b.score > a.score { b } else { a };
        let best = all.reduce(better).filter(|best| none.is_none_or(|none| best.score >= none));
        if best.is_none() && none.is_none() {
            return Err("there are no sizes of windows".into());
        }
        *out = Boxed::new(best.map(|best| best.rect).into_iter().collect());
        Ok(Quality::Exact)
    }

    fn capabilities(&self) -> TaskCapabilities<'_, Self> {
        TaskCapabilities { magnitudes: Some(self), ..TaskCapabilities::none() }
    }
}

/// A labelling of an example has 1 at one of its windows, or shares of 1 at its boxes.
impl ScoreMagnitudes<Self> for WindowTask {
    fn magnitudes(&self, examples: &Examples<Arc<WindowedImage>, Boxed>) -> Magnitudes {
        let boxes = examples.labels.iter().map(|truth| truth.boxes().len()).max().unwrap_or(0);
        let columns = vec![1.0 / examples.labels.len() as f64; self.rows];
        let of_windows = Magnitudes::new(1.0, 4 + 2 * boxes, 2).with_table(0, 1, Layout::ColumnMajor, columns);
        of_windows.with_table(self.rows, 1, Layout::ColumnMajor, vec![1.0; self.dim() - self.rows])
    }
}

impl BuiltinTask for WindowTask {
    type Vocabulary = BoxVocabulary;

    fn show(&self, y: &Boxed, vocabulary: &BoxVocabulary) -> String {
        self.boxes.show(y, vocabulary)
    }

    fn reference_hinge(&self, x: &Arc<WindowedImage>, truth: &Boxed, w: &[f64]) -> f64 {
        let boxes = truth.boxes();
        let none = self.boxes.has_none().then(|| w[self.rows] + f64::from(u8::from(!boxes.is_empty())));
        let windows = x.rects.iter().enumerate().skip(x.image.boxes.len());
        let scores = windows.map(|(k, &rect)| w[x.first + k] + self.loss(truth, &Boxed::new(vec![rect])));
        let largest = scores.chain(none).fold(f64::NEG_INFINITY, f64::max);
        let of_truth = match boxes {
            [] => w[self.rows],
            _ => (0..boxes.len()).map(|k| w[x.first + k]).sum::<f64>() / boxes.len() as f64,
        };
        (largest - of_truth).max(0.0)
    }

    fn errors(&self, truth: &Boxed, y: &Boxed) -> (usize, usize) {
        self.boxes.errors(truth, y)
    }

    fn is_known(&self, truth: &Boxed) -> bool {
        self.boxes.is_known(truth)
    }

    fn measures(&self, vocabulary: &BoxVocabulary) -> Vec<Box<dyn Measure<Boxed>>> {
        self.boxes.measures(vocabulary)
    }

    /// The best windows apart from each other (greedy non-maximum suppression), and "no box" if that is an answer.
    fn top(&self, call: Call<'_, Self>, out: &mut [Boxed]) -> Result<(usize, Quality), String> {
        let (all, none) = self.scored(call.question.input, call.question.truth, call.question.w);
        let mut found = Vec::new();
        take_apart(all.collect(), (out.len(), self.boxes.apart()), &mut found);
        Ok((BoxTask::write_list(&found, none, out), Quality::Exact))
    }

    /// Other windows.
    fn neighbours(&self, x: &Arc<WindowedImage>, y: &Boxed, most: usize, rng: &mut Rng) -> Vec<Boxed> {
        let mut all: Vec<Boxed> =
            x.windows().map(|(_, rect)| Boxed::new(vec![rect])).filter(|near| near != y).collect();
        rng.shuffle(&mut all);
        all.truncate(most);
        all
    }

    fn is_labelling_of(&self, x: &Arc<WindowedImage>, y: &Boxed) -> bool {
        y.boxes().iter().all(|&rect| x.row_of(rect).is_some()) && (self.boxes.has_none() || !y.boxes().is_empty())
    }

    fn weight_tables(&self) -> Vec<WeightTable> {
        self.boxes.tables_of_rows(self.rows)
    }
}
