//! Answers, planes, completions and measures of poses against all poses in small grids.

use std::sync::Arc;

use multiplane_core::example::Example;
use multiplane_core::oracle::Quality;
use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_core::task::{CompleteTruths, Question, Task};

use super::task::PoseScratch;
use super::*;
use crate::builtin::task::BuiltinTask;
use crate::data::container::Matrix;
use crate::data::poses::{PoseArrays, PoseImage, Poses};
use crate::dataset::Dataset;
use crate::entry::TaskSpec;

/// Three grids of a few cells with two channels; torsos are marked, the third joint only at times.
fn random(rng: &mut Rng) -> PoseArrays {
    let (mut grid_sizes, mut numbers, mut joints): (Vec<[i64; 2]>, Vec<f32>, _) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..3 {
        let (rows, columns) = (1 + rng.below(3), 2 + rng.below(3));
        grid_sizes.push([rows as i64, columns as i64]);
        numbers.extend((0..2 * rows * columns).map(|_| rng.unit() as f32));
        joints.extend([[0.0, 0.0], [columns as f64 - 0.5, rows as f64 - 0.5]]);
        let third = [rng.below(columns) as f64, rng.below(rows) as f64];
        joints.push(if rng.below(3) == 0 { [f64::NAN; 2] } else { third });
    }
    let cells = numbers.len() / 2;
    PoseArrays { grid_sizes, channels: Matrix::new(numbers, cells, 2), parts: 3, joints }
}

fn spec(seed: u64) -> PoseSpec {
    PoseSpec {
        edges: ["0-1,1-2", "2-0,1-0", "1-2,0-1"][seed as usize % 3].into(),
        torso: "0-1".into(),
        alpha: [0.3, 0.9, 2.0][seed as usize / 2 % 3],
        template: [1, 3][seed as usize % 2],
        types: [1, 2][seed as usize / 3 % 2],
        ..PoseSpec::default()
    }
}

/// All poses of the joints that `like` has.
fn all(x: &PoseImage, types: usize, like: &Pose) -> Vec<Pose> {
    let (size, units) = ((x.rows * x.columns) as usize, (x.rows * x.columns) as usize * types);
    let place = |code: usize| [code as u32 % x.columns, code as u32 / x.columns];
    let mut all: Vec<Pose> = (0..units.pow(3))
        .map(|code| {
            let unit = |k: usize| code / units.pow(k as u32) % units;
            let of = |(k, joint): (usize, Option<[u32; 2]>)| joint.map(|_| place(unit(k) % size));
            Pose::new(like.joints().enumerate().map(of).collect::<Vec<_>>()).with_types(|k| (unit(k) / size) as u8)
        })
        .collect();
    all.dedup();
    all
}

fn score(task: &PoseTask, x: &Arc<PoseImage>, y: &Pose, w: &[f64]) -> f64 {
    let mut features = Plane::new();
    task.features(x, y, 1.0, &mut features);
    features.seal();
    features.view().score(w)
}

/// Answers with and without loss, the hinge of `verify`, and the best poses that agree with what is marked are those of
/// enumeration; planes are differences of features.
#[test]
fn answers_are_those_of_enumeration() {
    let mut completed = 0;
    for seed in 0..40 {
        let mut rng = Rng::new(seed, 3);
        let data = Dataset::new(Poses::new(&random(&mut rng)).unwrap());
        let (task, examples) = examples(&spec(seed), &data).unwrap();
        let mut scratch = PoseScratch::default();
        for round in 0..4 {
            let mut w: Vec<f64> = (0..task.dim()).map(|_| 2.0 * rng.unit() - 1.0).collect();
            task.nonnegative().into_iter().flatten().for_each(|k| w[k] = [0.0, w[k].abs()][round % 2]);
            for (index, (input, truth)) in examples.inputs.iter().zip(&examples.labels).enumerate() {
                let example = Example { index, input, truth };
                let whole = Pose::new(vec![Some([0, 0]); 3]);
                let mut y = Pose::default();
                for (question, like) in
                    [(Question::plain(example, &w), &whole), (Question::augmented(example, &w), truth)]
                {
                    let value =
                        |y: &Pose| score(&task, input, y, &w) + question.truth.map_or(0.0, |truth| task.loss(truth, y));
                    let best = all(input, task.body.types, like).iter().map(value).fold(f64::NEG_INFINITY, f64::max);
                    let quality = task.decode(question.call(&mut scratch, &mut ()), &mut y).unwrap();
                    assert_eq!(quality, Quality::Exact);
                    assert!((value(&y) - best).abs() < 1e-12, "{seed}: {y:?}, {} instead of {best}", value(&y));
                    if question.truth.is_some() {
                        let hinge = (best - score(&task, input, truth, &w)).max(0.0);
                        let found = task.reference_hinge(input, truth, &w);
                        assert!((found - hinge).abs() < 1e-11, "{seed}: {found}, expected {hinge}");
                    }
                }
                if task.is_partly_known(truth) {
                    let best = task.best_agreeing(example, &w, &mut scratch).unwrap();
                    let is_typed = |joint: usize| truth.joint(joint).is_some();
                    let agrees = |y: &&Pose| {
                        let is_kept = |joint: usize| !is_typed(joint) || y.kind(joint) == truth.kind(joint);
                        truth
                            .marks
                            .as_ref()
                            .unwrap()
                            .joints
                            .iter()
                            .zip(y.joints())
                            .all(|(known, own)| known.is_none() || *known == own)
                            && (0..3).all(is_kept)
                    };
                    let scores = all(input, task.body.types, &whole);
                    let most =
                        scores.iter().filter(agrees).map(|y| score(&task, input, y, &w)).fold(f64::MIN, f64::max);
                    assert!(agrees(&&best) && (score(&task, input, &best, &w) - most).abs() < 1e-12, "{seed}");
                    assert_eq!(
                        (task.loss(&best, &whole), task.is_partly_known(&best)),
                        (task.loss(truth, &whole), false)
                    );
                    completed += 1;
                }
            }
        }
    }
    assert!(completed > 50, "{completed}");
}

/// Distances are in torsos, cut off at alpha, and the mean is over marked joints.
#[test]
fn losses_and_measures_by_hand() {
    let joints = vec![[0.0, 0.0], [4.0, 3.0], [f64::NAN; 2]];
    let arrays =
        PoseArrays { grid_sizes: vec![[4, 6]], channels: Matrix::new(vec![0.5_f32; 24], 24, 1), parts: 3, joints };
    let data = Dataset::new(Poses::new(&arrays).unwrap());
    let spec = PoseSpec { edges: "0-1,1-2".into(), torso: "0-1".into(), alpha: 0.5, ..PoseSpec::default() };
    let (task, examples) = examples(&spec, &data).unwrap();
    let truth = &examples.labels[0];
    let near = Pose::new([Some([0, 1]), Some([0, 3]), Some([5, 3])]); // 1 and 4 of a torso of 5
    assert_eq!(task.loss(truth, &near), (1.0 / 2.5 + 1.0) / 2.0);
    assert_eq!((task.loss(truth, truth), task.errors(truth, &near)), (0.0, (1, 2)));
    assert_eq!(task.show(&near, &PoseVocabulary::default()), "0 1; 0 3; 5 3");
    assert_eq!(task.show(truth, &PoseVocabulary::default()), "0 0; 4 3; -");
    let vocabulary =
        PoseVocabulary { channels: 1, anchors: vec![[4.0, 3.0], [0.0, 0.0]], unit: 5.0, features_id: None };
    assert_eq!(task.vocabulary, vocabulary);
    let shares = |at: f64| measures::found(truth, &near, measures::Yardstick::Torso, at).0;
    assert_eq!([0.1, 0.2, 0.79, 0.8].map(shares), [0, 1, 1, 2]);
    assert_eq!(measures::found(truth, &near, measures::Yardstick::Body, 0.25), (1, 2), "the box is 4 wide");
}

/// An image of weight 2 counts as two images, and one of weight 0 as none, when offsets and torsos are averaged.
#[test]
fn weights_count_images() {
    let image = |joint: [f64; 2]| [[0.0, 0.0], joint, [f64::NAN; 2]];
    let of = |images: &[[[f64; 2]; 3]]| {
        let channels = Matrix::new(vec![0.5_f32; 24 * images.len()], 24 * images.len(), 1);
        let joints = images.concat();
        Dataset::new(
            Poses::new(&PoseArrays { grid_sizes: vec![[4, 6]; images.len()], channels, parts: 3, joints }).unwrap(),
        )
    };
    let spec = PoseSpec { edges: "0-1,1-2".into(), torso: "0-1".into(), ..PoseSpec::default() };
    let learned = |data: &Dataset| examples(&spec, data).unwrap().0.vocabulary;
    let (near, far, apart) = (image([2.0, 0.0]), image([5.0, 0.0]), image([0.0, 3.0]));
    let weighted = learned(&of(&[near, far, apart]).with_weights(vec![2.0, 1.0, 0.0]).unwrap());
    assert_eq!(weighted, learned(&of(&[near, near, far])));
    assert_eq!((weighted.anchors[0], weighted.unit), ([3.0, 0.0], 3.0));
}

/// Types are groups of offsets, the largest first; a joint whose limb is not marked is left out, and its mark stays.
#[test]
fn types_are_groups_of_offsets() {
    let (up, down, gone) = ([2.0, 0.0], [2.0, 3.0], [f64::NAN; 2]);
    let images: Vec<[[f64; 2]; 3]> = [down, up, down, [3.0, 3.0], gone].map(|hand| [[0.0, 1.0], hand, gone]).to_vec();
    let channels = Matrix::new(vec![0.5_f32; 24 * 5], 24 * 5, 1);
    let joints = images.concat();
    let arrays = PoseArrays { grid_sizes: vec![[4, 6]; 5], channels, parts: 3, joints };
    let edges = "0-1,0-2".into();
    let spec = PoseSpec { edges, torso: "0-1,0-2".into(), types: 2, ..PoseSpec::default() };
    let fault = examples(&spec, &Dataset::new(Poses::new(&arrays).unwrap())).err().unwrap().to_string();
    assert!(fault.starts_with("image 4 has no marked torso"), "{fault}");
    let mut arrays = arrays;
    arrays.joints[14] = [5.0, 1.0]; // the last image has its third joint instead of its second
    let data = Dataset::new(Poses::new(&arrays).unwrap());
    let (task, examples) = examples(&spec, &data).unwrap();
    let anchors = &task.vocabulary.anchors;
    assert_eq!(anchors[..2], [[2.328125, 2.0], [2.0, -1.0]], "three below, one above");
    assert_eq!(anchors[2..], [[5.0, 0.0], [5.0, 0.0]], "one offset for both");
    let kinds = |k: usize| [0, 1].map(|joint| examples.labels[k].kind(joint));
    assert_eq!([kinds(0), kinds(1), kinds(3)], [[0, 0], [1, 1], [0, 0]], "the root has the type of its first limb");
    let last = &examples.labels[4];
    assert_eq!(last.joints().collect::<Vec<_>>(), [None, None, Some([5, 1])]);
    assert_eq!(last.marks.as_ref().unwrap().joints, [Some([0, 1]), None, Some([5, 1])]);
    let problem = spec.open(data, None).unwrap();
    let found = problem.predictor().evaluate(&vec![0.0; problem.dim()], 1).unwrap();
    let share = ["pdj", "accuracy"].map(|name| (100.0 * found.get(name).unwrap()).round());
    assert_eq!(share, [10.0, 10.0], "the last root is left out, and found");
}

/// Data and settings that cannot be trained on are refused with the reason.
#[test]
fn faults_are_named() {
    let sound = || random(&mut Rng::new(1, 3));
    let fault = |spec: &PoseSpec, arrays: &PoseArrays| {
        examples(spec, &Dataset::new(Poses::new(arrays).unwrap())).err().unwrap().to_string()
    };
    let with = |edges: &str, torso: &str| PoseSpec { edges: edges.into(), torso: torso.into(), ..PoseSpec::default() };
    let tree = "must join 3 joints, from 0 to 2, in a tree";
    let pairs = "must be less than 256 pairs of joints from 0, such as 0-1,1-2";
    let cases = [
        (with("0-1,1-0", "0-1"), tree),
        (with("0-1,2-3", "0-1"), tree),
        (with("7-1,1-2", "0-1"), tree),
        (with("0-1,1-1", "0-1"), pairs),
        (with("0-1;1-2", "0-1"), pairs),
        (with("", "0-1"), pairs),
        (with("0-1,1-2", "0-3"), "torso = 0-3: must be of joints 0 to 2"),
        (with("0-1", "0-1"), "found 3 joints in each image, but task.edges has 0 to 1"),
        (PoseSpec { alpha: 0.0, ..PoseSpec::default() }, "alpha = 0: must be a number above 0"),
        (PoseSpec { types: 0, ..PoseSpec::default() }, "types = 0: must be 1 to 16"),
        (PoseSpec { template: 2, ..PoseSpec::default() }, "template = 2: must be an odd number of cells, at most 9"),
    ];
    for (spec, expected) in cases {
        let found = fault(&spec, &sound());
        assert!(found.contains(expected), "{found}, expected {expected}");
    }
    let torso = |change: &dyn Fn(&mut PoseArrays)| {
        let mut arrays = sound();
        change(&mut arrays);
        fault(&with("0-1,1-2", "0-1"), &arrays)
    };
    let advice = "(task.torso = 0-1): leave it out, or name another pair of joints";
    assert_eq!(torso(&|a| a.joints[4] = a.joints[3]), format!("image 1 has a torso of length 0 {advice}"));
    let unmarked = torso(&|a| (a.joints[6], a.joints[8]) = ([f64::NAN; 2], [0.0; 2]));
    assert_eq!(unmarked, format!("image 2 has no marked torso {advice}"));
    let empty = torso(&|a| a.joints[..3].fill([f64::NAN; 2]));
    assert_eq!(empty, "image 0 has no marked joint: leave it out");
}
