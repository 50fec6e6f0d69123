//! Poses as a task: features, loss, planes, and the decoder.

use std::ops::Range;
use std::sync::Arc;

use multiplane_core::oracle::{Prices, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::task::{Call, Case, CompleteTruths, ExampleOf, Task, TaskCapabilities};
use multiplane_infer::parts::{Limb, PartTree, Spring};
use serde::{Deserialize, Serialize};

use super::body::Body;
use super::place::{Pose, distance};
use crate::data::poses::PoseImage;
use crate::problem::TaskVocabulary;
use crate::problem::tables::{Axis, WeightTable};

/// Seconds of a call for a product of a template, and for a cell of a part; of a plane for a number; see
/// [`prices`](crate::builtin::prices).
const PRODUCT: f64 = 4e-10;
const CELL: f64 = 3e-8;
const NUMBER: f64 = 1e-9;

/// Joints whose templates are multiplied at a time.
const LANES: usize = 8;

/// The facts that a model remembers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PoseVocabulary {
    /// The number of channels of a cell.
    pub channels: usize,
    /// The mean offset of the end of each limb from its beginning in training, columns and rows, in cells.
    pub anchors: Vec<[f64; 2]>,
    /// The mean length of a torso in training, in cells: the unit of offsets.
    pub unit: f64,
}

impl TaskVocabulary for PoseVocabulary {}

/// Returns the tables of the weights.
pub(super) fn tables(body: &Body, template: usize, channels: usize) -> Vec<WeightTable> {
    let side = template as isize / 2;
    let around = || (-side..=side).map(|step| step.to_string());
    let limb = || Axis::own("limb", body.limbs.iter().map(|[from, to]| format!("{from}-{to}")));
    let axis = || Axis::own("axis", ["column", "row"]);
    vec![
        WeightTable::new(
            "template",
            [
                Axis::numbers("joint", body.joints()),
                Axis::own("row", around()),
                Axis::own("column", around()),
                Axis::numbers("channel", channels),
            ],
        ),
        WeightTable::new("spring", [limb(), axis()]),
        WeightTable::new("offset", [limb(), axis()]),
    ]
}

/// Poses in grids of channels.
#[derive(Clone, Debug)]
pub struct PoseTask {
    pub(super) body: Body,
    pub(super) vocabulary: PoseVocabulary,
    alpha: f64,
    pub(super) template: usize,
}

/// Working memory of a thread.
#[derive(Debug, Default)]
pub struct PoseScratch {
    tree: PartTree,
    scores: Vec<f64>,
    limbs: Vec<Limb>,
    cells: Vec<u32>,
    /// `[group of joints][number of a template][joint in the group]`.
    templates: Vec<[f64; LANES]>,
    dense: Vec<f64>,
}

impl PoseTask {
    /// Makes a task of a body with the facts of a model.
    pub(super) fn new(body: Body, vocabulary: PoseVocabulary, alpha: f64, template: usize) -> Self {
        PoseTask { body, vocabulary, alpha, template }
    }

    /// Returns the numbers of a template.
    fn window(&self) -> usize {
        self.template * self.template * self.vocabulary.channels
    }

    /// Returns the number of weights of templates.
    pub(super) fn springs_from(&self) -> usize {
        self.body.joints() * self.window()
    }

    /// Calls `each` with the parts of a template that lie in the grid: where its numbers begin, and the channels there.
    fn each_row<'x>(&self, x: &'x PoseImage, place: [u32; 2], mut each: impl FnMut(usize, &'x [f32])) {
        let (rows, columns, depth) = (x.rows as usize, x.columns as usize, self.vocabulary.channels);
        let ([column, row], side) = (place.map(|at| at as usize), self.template / 2);
        let (left, right) = (column.saturating_sub(side), (column + side + 1).min(columns));
        for y in row.saturating_sub(side)..(row + side + 1).min(rows) {
            let begin = ((y + side - row) * self.template + left + side - column) * depth;
            each(begin, &x.channels[(y * columns + left) * depth..(y * columns + right) * depth]);
        }
    }

    /// Returns the offset of a limb, columns and rows, in units.
    pub(super) fn offset(&self, limb: usize, y: &Pose) -> Option<[f64; 2]> {
        let [parent, child] = self.body.limbs[limb].map(|joint| y.joint(joint));
        let (parent, child, anchor) = (parent?.map(f64::from), child?.map(f64::from), self.vocabulary.anchors[limb]);
        Some([0, 1].map(|axis| (child[axis] - parent[axis] - anchor[axis]) / self.vocabulary.unit))
    }

    /// Adds `scale` times the features of a pose, of joints that are placed and limbs between them.
    fn add(&self, x: &PoseImage, y: &Pose, scale: f64, dense: &mut [f64]) {
        let (templates, limbs) = dense.split_at_mut(self.springs_from());
        for (joint, place) in y.placed() {
            let own = &mut templates[joint * self.window()..][..self.window()];
            self.each_row(x, place, |begin, channels| {
                own[begin..].iter_mut().zip(channels).for_each(|(sum, &value)| *sum += scale * f64::from(value));
            });
        }
        let (springs, offsets) = limbs.split_at_mut(2 * self.body.limbs.len());
        for limb in 0..self.body.limbs.len() {
            for (axis, d) in self.offset(limb, y).into_iter().flatten().enumerate() {
                springs[2 * limb + axis] -= scale * d * d;
                offsets[2 * limb + axis] += scale * d;
            }
        }
    }

    /// Writes the scores of all joints at all cells, without loss: `[joint][cell]`.
    fn scores(&self, x: &PoseImage, w: &[f64], scratch: &mut PoseScratch) {
        let PoseScratch { scores, templates, .. } = scratch;
        let (joints, window, size) = (self.body.joints(), self.window(), (x.rows * x.columns) as usize);
        templates.clear();
        templates.resize(joints.div_ceil(LANES) * window, [0.0; LANES]);
        for (joint, own) in w[..self.springs_from()].chunks_exact(window).enumerate() {
            let group = &mut templates[joint / LANES * window..][..window];
            group.iter_mut().zip(own).for_each(|(lanes, &weight)| lanes[joint % LANES] = weight);
        }
        scores.clear();
        scores.resize(joints * size, 0.0);
        for (group, templates) in templates.chunks_exact(window).enumerate() {
            for cell in 0..size {
                let mut sums = [0.0; LANES];
                let place = [cell as u32 % x.columns, cell as u32 / x.columns];
                self.each_row(x, place, |begin, channels| sums = multiplied(sums, &templates[begin..], channels));
                let own = group * LANES..joints.min((group + 1) * LANES);
                own.zip(sums).for_each(|(joint, sum)| scores[joint * size + cell] = sum);
            }
        }
    }

    /// Adds the loss: 1 at all cells, less near the truth, over the number of marked joints.
    fn add_loss(&self, x: &PoseImage, truth: &Pose, scores: &mut [f64]) {
        let Some(marks) = &truth.marks else { return };
        let (share, reach) = (1.0 / marks.joints.iter().flatten().count() as f64, self.alpha * marks.torso);
        let size = (x.rows * x.columns) as usize;
        for (scores, joint) in scores.chunks_exact_mut(size).zip(&marks.joints) {
            let Some([column, row]) = *joint else { continue };
            scores.iter_mut().for_each(|score| *score += share);
            let near = |at: u32, length: u32| {
                at.saturating_sub(reach as u32)..at.saturating_add(reach as u32).saturating_add(1).min(length)
            };
            for (r, c) in near(row, x.rows).flat_map(|r| near(column, x.columns).map(move |c| (r, c))) {
                let loss = (distance([column, row], [c, r]) / reach).min(1.0);
                scores[(r * x.columns + c) as usize] -= share * (1.0 - loss);
            }
        }
    }

    /// Places all joints but those that `truth` leaves out, by the scores in `scratch`.
    fn place(
        &self,
        x: &PoseImage,
        truth: Option<&Pose>,
        w: &[f64],
        scratch: &mut PoseScratch,
        out: &mut Pose,
    ) -> Result<(), String> {
        let PoseScratch { tree, scores, limbs, cells, .. } = scratch;
        let is_left_out = |joint: usize| truth.is_some_and(|truth| truth.joint(joint).is_none());
        let (springs, offsets) = w[self.springs_from()..].split_at(2 * self.body.limbs.len());
        let unit = self.vocabulary.unit;
        limbs.clear();
        for &limb in &self.body.leaves_first {
            let [parent, child] = self.body.limbs[limb];
            let spring = |k: usize| Spring { stiffness: springs[k] / (unit * unit), slope: offsets[k] / unit };
            let (anchor, springs) = (self.vocabulary.anchors[limb], [spring(2 * limb), spring(2 * limb + 1)]);
            if !is_left_out(parent) && !is_left_out(child) {
                limbs.push(Limb { child, parent, anchor, springs });
            }
        }
        cells.resize(self.body.joints(), 0);
        tree.solve(scores, x.columns as usize, limbs, cells).map_err(|error| error.to_string())?;
        let place = |(joint, &cell): (usize, &u32)| (!is_left_out(joint)).then(|| [cell % x.columns, cell / x.columns]);
        *out = Pose::new(cells.iter().enumerate().map(place));
        Ok(())
    }
}

/// Adds the products of channels and a part of the templates of several joints.
fn multiplied(mut sums: [f64; LANES], templates: &[[f64; LANES]], channels: &[f32]) -> [f64; LANES] {
    for (lanes, &value) in templates.iter().zip(channels) {
        let value = f64::from(value);
        sums.iter_mut().zip(lanes).for_each(|(sum, weight)| *sum += value * weight);
    }
    sums
}

fn push(dense: &[f64], out: &mut Plane) {
    let filled = (0..).zip(dense).filter(|(_, value)| **value != 0.0);
    filled.for_each(|(column, &value)| out.push(column, value));
}

impl Task for PoseTask {
    type Input = Arc<PoseImage>;
    type Label = Pose;
    type Scratch = PoseScratch;
    type Memory = ();

    fn dim(&self) -> usize {
        self.springs_from() + 4 * self.body.limbs.len()
    }

    fn nonnegative(&self) -> Vec<Range<usize>> {
        let springs = self.springs_from();
        std::iter::once(springs..springs + 2 * self.body.limbs.len()).collect()
    }

    fn features(&self, x: &Arc<PoseImage>, y: &Pose, scale: f64, out: &mut Plane) {
        let mut dense = vec![0.0; self.dim()];
        self.add(x, y, scale, &mut dense);
        push(&dense, out);
    }

    fn loss(&self, truth: &Pose, y: &Pose) -> f64 {
        let Some(marks) = &truth.marks else { return 0.0 };
        let (marked, reach) = (marks.joints.iter().flatten().count(), self.alpha * marks.torso);
        let sum: f64 = truth.distances(y).map(|distance| (distance / reach).min(1.0)).sum();
        sum / marked.max(1) as f64
    }

    fn prices(&self, x: &Arc<PoseImage>) -> Option<Prices> {
        let places = f64::from(x.rows * x.columns) * self.body.joints() as f64;
        let call = 1e-5 + places * (CELL + PRODUCT * self.window() as f64);
        Some(Prices::of_sizes(call, 6e-7 + NUMBER * self.dim() as f64))
    }

    fn decode(&self, call: Call<'_, Self>, out: &mut Pose) -> Result<Quality, String> {
        let Call { question, scratch, .. } = call;
        self.scores(question.input, question.w, scratch);
        if let Some(truth) = question.truth {
            self.add_loss(question.input, truth, &mut scratch.scores);
        }
        self.place(question.input, question.truth, question.w, scratch, out)?;
        Ok(Quality::Exact)
    }

    fn plane(&self, case: Case<'_, Self>, y: &Pose, out: &mut Plane) {
        let Case { input, truth, scale, scratch: PoseScratch { dense, .. }, .. } = case;
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

    fn capabilities(&self) -> TaskCapabilities<'_, Self> {
        TaskCapabilities { completion: Some(self), ..TaskCapabilities::none() }
    }
}

impl CompleteTruths<Self> for PoseTask {
    fn is_partly_known(&self, truth: &Pose) -> bool {
        truth.marks.is_some() && !truth.is_whole()
    }

    fn best_agreeing(&self, partly: ExampleOf<'_, Self>, w: &[f64], scratch: &mut PoseScratch) -> Result<Pose, String> {
        let (x, truth) = (partly.input, partly.truth);
        self.scores(x, w, scratch);
        let size = (x.rows * x.columns) as usize;
        for (joint, [column, row]) in truth.placed() {
            let (own, cell) = (&mut scratch.scores[joint * size..][..size], (row * x.columns + column) as usize);
            let known = own[cell];
            own.fill(f64::NEG_INFINITY);
            own[cell] = known;
        }
        let mut best = Pose::default();
        self.place(x, None, w, scratch, &mut best)?;
        best.marks.clone_from(&truth.marks);
        Ok(best)
    }
}
