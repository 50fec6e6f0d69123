//! Poses as a task: features, loss, planes, and the decoder.

use std::ops::Range;
use std::sync::Arc;

use multiplane_core::oracle::{Prices, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::task::{Call, Case, CompleteTruths, ExampleOf, Task, TaskCapabilities};
use multiplane_infer::parts::{Limb, PartPlace, PartTree, Rest, Spring};
use serde::{Deserialize, Serialize};

use super::body::{Body, MOST};
use super::place::{Pose, distance};
use crate::builtin::groups::nearest;
use crate::data::poses::PoseImage;
use crate::problem::TaskVocabulary;
use crate::problem::tables::{Axis, WeightTable};

/// Seconds of a call for a product of a template, and for a cell of a part; of a plane for a number; see
/// [`prices`](crate::builtin::prices).
const PRODUCT: f64 = 4e-10;
const CELL: f64 = 3e-8;
const NUMBER: f64 = 1e-9;

/// Templates that are multiplied at a time.
const LANES: usize = 8;

/// The facts that a model remembers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PoseVocabulary {
    /// The number of channels of a cell.
    pub channels: usize,
    /// `[limb][type of its end]`: the mean offset of the end from the beginning in training, columns and rows, in
    /// cells.
    pub anchors: Vec<[f64; 2]>,
    /// The mean length of a torso in training, in cells: the unit of offsets.
    pub unit: f64,
    /// How the channels of the training data were made, if their container says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub features_id: Option<String>,
}

impl TaskVocabulary for PoseVocabulary {}

impl PoseVocabulary {
    /// Returns the type of a joint: that of the nearest anchor of its limb. `None` if an end of it is not marked.
    pub(super) fn type_of(&self, body: &Body, truth: &Pose, joint: usize) -> Option<u8> {
        let limb = body.limb_of(joint);
        let [parent, child] = body.limbs[limb].map(|end| truth.joint(end));
        let (parent, child) = (parent?.map(f64::from), child?.map(f64::from));
        let anchors = &self.anchors[limb * body.types..][..body.types];
        Some(nearest(anchors.iter().copied(), [child[0] - parent[0], child[1] - parent[1]]) as u8)
    }
}

/// Returns the tables of the weights.
pub(super) fn tables(body: &Body, template: usize, channels: usize) -> Vec<WeightTable> {
    let side = template as isize / 2;
    let around = || (-side..=side).map(|step| step.to_string());
    let limb = || Axis::own("limb", body.limbs.iter().map(|[from, to]| format!("{from}-{to}")));
    let kind = |name: &'static str| (body.types > 1).then(|| Axis::numbers(name, body.types));
    let axis = || Axis::own("axis", ["column", "row"]);
    let seen = [Axis::own("row", around()), Axis::own("column", around()), Axis::numbers("channel", channels)];
    let table = |name: &'static str, first: Axis, others: &[Axis]| {
        let axes: Vec<Axis> = std::iter::once(first).chain(kind("type")).chain(others.iter().cloned()).collect();
        WeightTable::new(name, axes)
    };
    let mut tables = vec![
        table("template", Axis::numbers("joint", body.joints()), &seen),
        table("spring", limb(), &[axis()]),
        table("offset", limb(), &[axis()]),
    ];
    let of_parents = kind("type of parent").zip(kind("type"));
    tables.extend(of_parents.map(|(parent, child)| WeightTable::new("pair", [limb(), parent, child])));
    tables
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
    /// `[limb][type of its end]`.
    rests: Vec<Rest>,
    places: Vec<PartPlace>,
    /// `[group of templates][number of a template][template in the group]`.
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
        self.body.joints() * self.body.types * self.window()
    }

    /// Returns the number of weights of springs, and of offsets: two of each type of each limb.
    pub(super) fn springs(&self) -> usize {
        2 * self.body.limbs.len() * self.body.types
    }

    /// Returns where the scores of pairs of types are among the weights: none with one type, whose score is the same
    /// for all poses.
    pub(super) fn pairs(&self) -> Range<usize> {
        let (begin, types) = (self.springs_from() + 2 * self.springs(), self.body.types);
        begin..begin + if types > 1 { self.body.limbs.len() * types * types } else { 0 }
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

    /// Returns the offset of a limb, columns and rows, in units, from that at rest of the type of its end.
    pub(super) fn offset(&self, limb: usize, y: &Pose) -> Option<[f64; 2]> {
        let [parent, child] = self.body.limbs[limb].map(|joint| y.joint(joint));
        let (parent, child) = (parent?.map(f64::from), child?.map(f64::from));
        let anchor = self.vocabulary.anchors[self.end(limb, y)];
        Some([0, 1].map(|axis| (child[axis] - parent[axis] - anchor[axis]) / self.vocabulary.unit))
    }

    /// Returns the number of the end of a limb among the types of all limbs.
    pub(super) fn end(&self, limb: usize, y: &Pose) -> usize {
        limb * self.body.types + usize::from(y.kind(self.body.limbs[limb][1]))
    }

    /// Adds `scale` times the features of a pose, of joints that are placed and limbs between them.
    fn add(&self, x: &PoseImage, y: &Pose, scale: f64, dense: &mut [f64]) {
        let (types, pairs) = (self.body.types, self.pairs());
        let (templates, limbs) = dense.split_at_mut(self.springs_from());
        for (joint, place) in y.placed() {
            let own = &mut templates[(joint * types + usize::from(y.kind(joint))) * self.window()..][..self.window()];
            self.each_row(x, place, |begin, channels| {
                own[begin..].iter_mut().zip(channels).for_each(|(sum, &value)| *sum += scale * f64::from(value));
            });
        }
        let (springs, limbs) = limbs.split_at_mut(self.springs());
        let (offsets, together) = limbs.split_at_mut(self.springs());
        for limb in 0..self.body.limbs.len() {
            let Some(offset) = self.offset(limb, y) else { continue };
            let end = self.end(limb, y);
            for (axis, d) in offset.into_iter().enumerate() {
                springs[2 * end + axis] -= scale * d * d;
                offsets[2 * end + axis] += scale * d;
            }
            if !pairs.is_empty() {
                let [parent, child] = self.body.limbs[limb].map(|joint| usize::from(y.kind(joint)));
                together[(limb * types + parent) * types + child] += scale;
            }
        }
    }

    /// Writes the scores of all joints at all cells, without loss: `[joint][type][cell]`.
    fn scores(&self, x: &PoseImage, w: &[f64], scratch: &mut PoseScratch) {
        let PoseScratch { scores, templates, .. } = scratch;
        let (window, size) = (self.window(), (x.rows * x.columns) as usize);
        let units = self.body.joints() * self.body.types;
        templates.clear();
        templates.resize(units.div_ceil(LANES) * window, [0.0; LANES]);
        for (unit, own) in w[..self.springs_from()].chunks_exact(window).enumerate() {
            let group = &mut templates[unit / LANES * window..][..window];
            group.iter_mut().zip(own).for_each(|(lanes, &weight)| lanes[unit % LANES] = weight);
        }
        scores.clear();
        scores.resize(units * size, 0.0);
        for (group, templates) in templates.chunks_exact(window).enumerate() {
            for cell in 0..size {
                let mut sums = [0.0; LANES];
                let place = [cell as u32 % x.columns, cell as u32 / x.columns];
                self.each_row(x, place, |begin, channels| sums = multiplied(sums, &templates[begin..], channels));
                let own = group * LANES..units.min((group + 1) * LANES);
                own.zip(sums).for_each(|(unit, sum)| scores[unit * size + cell] = sum);
            }
        }
    }

    /// Adds the loss: 1 at all cells, less near the truth, over the number of marked joints.
    fn add_loss(&self, x: &PoseImage, truth: &Pose, scores: &mut [f64]) {
        let Some(marks) = &truth.marks else { return };
        let (share, reach) = (1.0 / marks.joints.iter().flatten().count() as f64, self.alpha * marks.torso);
        let (size, types) = ((x.rows * x.columns) as usize, self.body.types);
        let of_joints = marks.joints.iter().flat_map(|joint| std::iter::repeat_n(joint, types));
        for (scores, joint) in scores.chunks_exact_mut(size).zip(of_joints) {
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
        let PoseScratch { tree, scores, rests, places, .. } = scratch;
        let is_left_out = |joint: usize| truth.is_some_and(|truth| truth.joint(joint).is_none());
        let (springs, offsets) = w[self.springs_from()..].split_at(self.springs());
        let (unit, types) = (self.vocabulary.unit, self.body.types);
        let rest = |(end, &anchor): (usize, &[f64; 2])| {
            let spring = |k: usize| Spring { stiffness: springs[k] / (unit * unit), slope: offsets[k] / unit };
            Rest { anchor, springs: [spring(2 * end), spring(2 * end + 1)] }
        };
        rests.clear();
        rests.extend(self.vocabulary.anchors.iter().enumerate().map(rest));
        let pairs = if types > 1 { &w[self.pairs()] } else { &[0.0; MOST][..self.body.limbs.len()] };
        let limb = |&limb: &usize| {
            let [parent, child] = self.body.limbs[limb];
            let pairs = &pairs[limb * types * types..][..types * types];
            let whole = !is_left_out(parent) && !is_left_out(child);
            whole.then(|| Limb { child, parent, rests: &rests[limb * types..][..types], pairs })
        };
        let limbs: Vec<Limb<'_>> = self.body.leaves_first.iter().filter_map(limb).collect();
        places.resize(self.body.joints(), PartPlace::default());
        tree.solve(scores, (x.columns as usize, types), &limbs, places).map_err(|error| error.to_string())?;
        let place = |(joint, place): (usize, &PartPlace)| {
            (!is_left_out(joint)).then(|| [place.cell % x.columns, place.cell / x.columns])
        };
        *out = Pose::new(places.iter().enumerate().map(place)).with_types(|joint| places[joint].kind);
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
        self.pairs().end
    }

    fn nonnegative(&self) -> Vec<Range<usize>> {
        let springs = self.springs_from();
        std::iter::once(springs..springs + self.springs()).collect()
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
        let places = f64::from(x.rows * x.columns) * (self.body.joints() * self.body.types) as f64;
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
        let (size, types) = ((x.rows * x.columns) as usize, self.body.types);
        let marked = truth.marks.iter().flat_map(|marks| marks.joints.iter().enumerate());
        for (joint, [column, row]) in marked.filter_map(|(joint, place)| Some((joint, (*place)?))) {
            let (own, cell) = (joint * types * size, (row * x.columns + column) as usize);
            let kind = truth.joint(joint).map(|_| usize::from(truth.kind(joint)));
            for (of, scores) in scratch.scores[own..][..types * size].chunks_exact_mut(size).enumerate() {
                let known = scores[cell];
                scores.fill(f64::NEG_INFINITY);
                if kind.is_none_or(|kind| kind == of) {
                    scores[cell] = known;
                }
            }
        }
        let mut best = Pose::default();
        self.place(x, None, w, scratch, &mut best)?;
        best.marks.clone_from(&truth.marks);
        Ok(best)
    }
}
