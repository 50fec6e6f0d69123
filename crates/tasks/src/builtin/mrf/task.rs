//! Pairwise models as a task: features, losses and the decoder.

use multiplane_core::example::Examples;
use multiplane_core::layout::Layout;
use multiplane_core::oracle::{Prices, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::rounding::Magnitudes;
use multiplane_core::task::{
    ExampleOf, LabelCodes, QuestionOf, RecombineLabels, ScoreMagnitudes, Task, TaskCapabilities, WorkspaceOf,
};

use super::decode::MrfScratch;
use super::input::MrfInput;
use super::layout::MrfTask;
use super::planes::{add_features, score};
use super::prices;
use super::scores::LONG;
use crate::builtin::pairwise::{Labelling, UNLABELLED, push_filled};
use crate::builtin::several::labels::Apart;
use crate::data::container::Matrix;

/// Roundings of a node's or edge's score beside the products of its features: the loss, and being added up.
const PER_TERM: usize = 4;

/// Sums that a long row's product is added up in; see `linalg::widened_row_scores`.
const LANES: usize = 8;

impl Task for MrfTask {
    type Input = MrfInput;
    type Label = Labelling;
    type Scratch = MrfScratch;
    type Memory = ();

    fn dim(&self) -> usize {
        self.features
    }

    fn features(&self, x: &MrfInput, y: &Labelling, scale: f64, out: &mut Plane) {
        let mut dense = vec![0.0; self.features];
        add_features(x, &y.labels, scale, &mut dense);
        push_filled(&dense, out);
    }

    fn loss(&self, truth: &Labelling, y: &Labelling) -> f64 {
        truth.loss(y)
    }

    fn largest_loss(&self, example: ExampleOf<'_, Self>) -> Option<f64> {
        let costs = example.truth.costs();
        let wrong = example.truth.labelled().filter(|&node| example.input.labels(node) > 1);
        Some(wrong.map(|node| costs.at(node)).sum())
    }

    fn prices(&self, x: &MrfInput) -> Option<Prices> {
        Some(prices::of_model(self, x))
    }

    fn score(&self, x: &MrfInput, y: &Labelling, w: &[f64], _: &mut Plane) -> (f64, f64) {
        score(x, &y.labels, w)
    }

    fn decode(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut Labelling,
    ) -> Result<Quality, String> {
        self.label((question.input, w, question.truth), Apart::default(), work.scratch, out)
    }

    fn plane(
        &self,
        example: ExampleOf<'_, Self>,
        y: &Labelling,
        scale: f64,
        work: WorkspaceOf<'_, Self>,
        out: &mut Plane,
    ) {
        self.write_plane(example.input, (example.truth, y), scale, &mut work.scratch.dense, out);
    }

    fn capabilities(&self) -> TaskCapabilities<'_, Self> {
        TaskCapabilities {
            codes: Some(self),
            recombination: Some(self),
            magnitudes: Some(self),
            top: Some(self),
            diverse: Some(self),
            max_marginals: Some(self),
            ..TaskCapabilities::none()
        }
    }
}

impl LabelCodes<MrfTask> for MrfTask {
    fn encode(&self, y: &Labelling, code: &mut Vec<u32>) {
        code.clone_from(&y.labels);
    }

    fn is_code(&self, truth: &Labelling, code: &[u32]) -> bool {
        // The number of a node's labels is told by the truth of data, which is read with it.
        let counts = truth.judge.as_ref().map_or(&[][..], |judge| &judge.counts);
        truth.admits(code, |node| counts.get(node).copied().unwrap_or(UNLABELLED) as usize)
    }
}

impl RecombineLabels<MrfTask> for MrfTask {
    fn recombine(
        &self,
        example: ExampleOf<'_, Self>,
        w: &[f64],
        codes: &[u32],
        work: WorkspaceOf<'_, Self>,
        out: &mut Labelling,
    ) -> Result<(), String> {
        let question = (example.input, w, example.truth);
        self.combine(question, codes, work.scratch, out).map_err(|error| error.to_string())
    }
}

impl ScoreMagnitudes<MrfTask> for MrfTask {
    /// Every labelled node gives the features of one of its labels, every edge of such nodes those of one pair.
    fn magnitudes(&self, examples: &Examples<MrfInput, Labelling>) -> Magnitudes {
        let n = examples.labels.len() as f64;
        let mut columns = vec![0.0; self.features];
        let (mut loss, mut most, mut rows) = (0.0, 0, 0);
        let mut largest = Vec::new();
        for (x, truth) in examples.inputs.iter().zip(&examples.labels) {
            let costs = truth.costs();
            let mut add = |(matrix, features): (&Matrix, &[u32]), rows: std::ops::Range<usize>| {
                largest.clear();
                largest.resize(features.len(), 0.0f64);
                for row in rows {
                    largest
                        .iter_mut()
                        .zip(matrix.row(row).iter())
                        .for_each(|(most, value)| *most = most.max(value.abs()));
                }
                features.iter().zip(&largest).for_each(|(&feature, most)| columns[feature as usize] += most / n);
            };
            for node in truth.labelled() {
                add(x.unary(), x.unary_rows(node));
                loss += costs.at(node) / n;
            }
            for (edge, ends) in x.edges().iter().enumerate() {
                if ends.iter().all(|&end| truth.is_labelled(end as usize)) {
                    add(x.pair(), x.pair_rows(edge));
                }
            }
            let terms = x.nodes() + x.edges().len();
            most = most.max(self.features / LANES + LANES + LONG + PER_TERM * terms);
            rows = rows.max(terms);
        }
        Magnitudes::new(loss, most, rows).with_table(0, 1, Layout::LabelMajor, columns)
    }
}
