//! How the task is opened: images read as examples.

use std::sync::Arc;

use multiplane_core::example::Examples;

use super::body::Body;
use super::place::{Pose, distance};
use super::spec::PoseSpec;
use super::task::{PoseTask, PoseVocabulary, tables};
use crate::builtin::groups::{WeightedPoint, means};
use crate::builtin::reading::{Reading, other_features};
use crate::data::poses::{self, PoseImage, Poses};
use crate::dataset::Dataset;
use crate::entry::{TaskEntry, TaskSpec};
use crate::problem::tables::WeightTable;
use crate::problem::{OpenError, Problem, Vocabulary, check_dim};

/// Images made ready for the task.
type PoseReading = Reading<Arc<PoseImage>, Pose, PoseVocabulary>;

/// Means are kept to this part of a cell, so that they are written and read without rounding.
const STEP: f64 = 1.0 / 64.0;

/// The task as users name it.
pub const ENTRY: TaskEntry = TaskEntry::new::<PoseSpec>("pose")
    .summary("the joints of a body in a grid of feature channels")
    .reads(&[&poses::FORMAT])
    .layout(
        "template[joint][type][row][column][channel], spring[limb][type][axis], offset[limb][type][axis], \
             pair[limb][type of parent][type]; types and pairs with task.types above 1",
    )
    .unit_loss()
    .oracle("max-product on the tree of joints, by distance transforms");

impl TaskSpec for PoseSpec {
    fn open(&self, data: Dataset, vocabulary: Option<&Vocabulary>) -> Result<Box<dyn Problem>, OpenError> {
        let (reading, task) = read(self, &data, vocabulary)?;
        reading.into_problem(ENTRY.name, task)
    }

    fn weight_tables(&self, vocabulary: &Vocabulary) -> Result<Vec<WeightTable>, OpenError> {
        Ok(tables(&Body::read(self)?, self.template, vocabulary.read::<PoseVocabulary>()?.channels))
    }
}

/// Returns the task on images with its examples: for programs that ask the oracle themselves.
///
/// # Errors
///
/// Those of opening the task: parameters and data do not fit together.
pub fn examples(spec: &PoseSpec, data: &Dataset) -> Result<(PoseTask, Examples<Arc<PoseImage>, Pose>), OpenError> {
    let (reading, task) = read(spec, data, None)?;
    Ok((task, Examples::new(reading.inputs, reading.labels)))
}

/// Reads images, with the vocabulary of a model if one is given.
fn read(spec: &PoseSpec, data: &Dataset, model: Option<&Vocabulary>) -> Result<(PoseReading, PoseTask), OpenError> {
    let body = Body::read(spec)?;
    let Some(found) = data.get::<Poses>() else {
        let found = data.describe();
        return Err(OpenError::new(format!(
            "task `{}` reads grids of channels with joints, found {found}",
            ENTRY.name
        )));
    };
    let joints = body.joints();
    if found.parts() != joints && (found.parts() > 0 || model.is_none()) {
        let (parts, last) = (found.parts(), joints - 1);
        return Err(OpenError::new(format!("found {parts} joints in each image, but task.edges has 0 to {last}")));
    }
    let inputs = found.images().to_vec();
    let (mut labels, mut warnings) = (Vec::with_capacity(inputs.len()), Vec::new());
    for (k, image) in inputs.iter().enumerate() {
        let is_marked = image.joints.iter().any(Option::is_some);
        if !is_marked && model.is_none() {
            return Err(OpenError::new(format!("image {k} has no marked joint: leave it out")));
        }
        let torso = if is_marked { torso(&body, image, spec, k).map(Some) } else { Ok(None) };
        labels.push(match torso {
            Ok(Some(torso)) => Pose::marked(&image.joints, torso),
            Ok(None) => Pose::new(vec![None; joints]),
            Err(fault) if model.is_none() => return Err(fault),
            Err(fault) => {
                warnings.push(format!("{fault}; its joints are taken for unknown"));
                Pose::new(vec![None; joints])
            }
        });
    }
    let vocabulary = match model {
        Some(model) => model.read::<PoseVocabulary>()?,
        None => learned(&body, found, &labels, |k| data.weight(k)),
    };
    if found.channels() != vocabulary.channels {
        let (found, expected) = (found.channels(), vocabulary.channels);
        return Err(OpenError::new(format!("found {found} channels in a cell, but the model has {expected}")));
    }
    warnings.extend(other_features("the channels", found.features_id(), vocabulary.features_id.as_deref()));
    if vocabulary.anchors.len() != body.limbs.len() * body.types {
        return Err(OpenError::new("the model has not as many anchors as types of limbs"));
    }
    check_dim(vocabulary.channels, joints * body.types * spec.template * spec.template)?;
    if body.types > 1 {
        for truth in labels.iter_mut().filter(|truth| truth.marks.is_some()) {
            let kinds: Vec<Option<u8>> = (0..joints).map(|joint| vocabulary.type_of(&body, truth, joint)).collect();
            *truth = std::mem::take(truth).with_types(|joint| kinds[joint].unwrap_or_default());
            // Which type it has is not known: the joint teaches nothing.
            let unknown = (0..joints).filter(|&joint| kinds[joint].is_none());
            unknown.for_each(|joint| truth.leave_out(joint));
        }
    }
    let task = PoseTask::new(body, vocabulary.clone(), spec.alpha, spec.template);
    let fingerprint = data.fingerprint();
    Ok((Reading { inputs, labels, vocabulary, fingerprint, warnings }, task))
}

/// Returns the length of the torso of an image, in cells.
fn torso(body: &Body, image: &PoseImage, spec: &PoseSpec, k: usize) -> Result<f64, OpenError> {
    let ends = |&[a, b]: &[usize; 2]| Some([image.joints[a]?, image.joints[b]?]);
    let fault = |what: &str| {
        let pairs = &spec.torso;
        Err(OpenError::new(format!(
            "image {k} has {what} (task.torso = {pairs}): leave it out, or name another pair of joints"
        )))
    };
    let mut marked = body.torso.iter().filter_map(ends).peekable();
    let is_marked = marked.peek().is_some();
    match marked.find(|[a, b]| a != b) {
        Some([a, b]) => Ok(distance(a, b)),
        None if is_marked => fault("a torso of length 0"),
        None => fault("no marked torso"),
    }
}

/// Returns what a model remembers of training data: the mean of torsos and the means of offsets, those of the groups of
/// offsets if joints have types, the largest first; an image counts by its weight.
fn learned(body: &Body, found: &Poses, labels: &[Pose], weight: impl Fn(usize) -> f64) -> PoseVocabulary {
    let rounded = |value: f64| (value / STEP).round() * STEP;
    let anchors = |&[parent, child]: &[usize; 2]| {
        let offset = |(k, image): (usize, &Arc<PoseImage>)| {
            let [parent, child] = [image.joints[parent]?, image.joints[child]?].map(|place| place.map(f64::from));
            Some(([child[0] - parent[0], child[1] - parent[1]], weight(k)))
        };
        let mut offsets: Vec<WeightedPoint> = found.images().iter().enumerate().filter_map(offset).collect();
        offsets.sort_by(|(a, _), (b, _)| a[1].atan2(a[0]).total_cmp(&b[1].atan2(b[0])));
        let mut groups = means(&offsets, body.types);
        groups.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        // Fewer offsets than types: the last one again, which no truth has.
        groups.resize(body.types, groups.last().copied().unwrap_or_default());
        groups.into_iter().map(move |(mean, _)| mean.map(rounded))
    };
    let add = |(sum, whole): (f64, f64), (k, truth): (usize, &Pose)| {
        (sum + weight(k) * truth.marks.as_ref().map_or(0.0, |marks| marks.torso), whole + weight(k))
    };
    let (sum, whole) = labels.iter().enumerate().fold((0.0, 0.0), add);
    let unit = if whole > 0.0 { rounded(sum / whole).max(STEP) } else { STEP };
    PoseVocabulary {
        channels: found.channels(),
        anchors: body.limbs.iter().flat_map(anchors).collect(),
        unit,
        features_id: found.features_id().map(str::to_string),
    }
}
