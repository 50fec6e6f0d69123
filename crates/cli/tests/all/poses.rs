//! Poses from end to end: data are made, a model is trained, certified, verified and used.

use crate::common::refusals::assert_refused;
use crate::common::{Scratch, number};
use serde_json::json;

/// Whatever the template and the loss, what is certified is verified, resumed runs go on, and threads change no byte.
/// Joints are found, by their neighbours too.
#[test]
fn poses_are_trained_and_verified() {
    let scratch = Scratch::made("poses", "safetensors", [15, 10]);
    for (settings, from, d) in [
        ("--set task.template=1 --lambda 0.003", 14 * 8, 14 * 8 + 52),
        ("--set task.template=3 --set task.alpha=0.2 --set task.torso=8-3 --lambda 0.01", 14 * 72, 14 * 72 + 52),
        ("--set task.template=1 --set task.types=2 --lambda 0.003", 28 * 8, 28 * 8 + 104 + 52),
    ] {
        let train = format!("train --task pose --data train.safetensors {settings} --gap 5% --passes 60 --clock work");
        let [found, evaluated] =
            scratch.train_and_check(&train, "train.safetensors", "--passes 70", "test.safetensors");
        assert_eq!((&found["n"], &found["d"]), (&json!(15), &json!(d)), "{settings}");
        scratch.succeed(&format!("{train} --quiet --threads 2 --out again"));
        assert_eq!(scratch.bytes("again"), scratch.bytes("m"), "{settings}");
        let curve = ["pdj_0.05", "pdj_0.1", "pdj", "pdj_0.3", "pdj_0.4", "pdj_0.5"].map(|key| number(&evaluated, key));
        assert!(curve.is_sorted() && curve[5] <= 1.0 && curve[2] > 0.6, "{settings}: {evaluated:?}");
        assert!((number(&evaluated, "accuracy") - curve[2]).abs() < 1e-12, "{settings}");
        assert!(number(&evaluated, "pck") >= curve[2], "{settings}: a body is longer than its torso");
        let springs = scratch.weights("m")[from..from + 26].to_vec();
        assert!(
            springs.iter().all(|&weight| weight >= 0.0) && springs.iter().any(|&weight| weight > 0.0),
            "{springs:?}"
        );
    }
}

/// A prediction is a line of columns and rows, inside of the image.
#[test]
fn predictions_are_poses() {
    let scratch =
        Scratch::trained("pose --lambda 0.01 --gap 5% --set task.template=1", "poses", "safetensors", [12, 6]);
    for line in scratch.predicted("test.safetensors", 6) {
        let joints: Vec<(u32, u32)> = line
            .split("; ")
            .map(|joint| joint.split_once(' ').unwrap())
            .map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap()))
            .collect();
        assert!(joints.len() == 14 && joints.iter().all(|&(x, y)| x < 20 && y < 24), "{line}");
    }
}

/// Settings that cannot be are refused before anything is trained.
#[test]
fn settings_are_checked() {
    let scratch = Scratch::made("poses", "safetensors", [3, 2]);
    let train = "train --task pose --data train.safetensors";
    assert_refused(&scratch, &format!("{train} --set task.alpha=0"), "task.alpha = 0: must be a number above 0");
    assert_refused(&scratch, &format!("{train} --set task.types=17"), "task.types = 17: must be 1 to 16");
    assert_refused(&scratch, &format!("{train} --set task.template=4"), "task.template = 4: must be an odd number");
    let three = format!("{train} --set task.edges=0-1,1-2 --set task.torso=0-1");
    assert_refused(&scratch, &three, "found 14 joints in each image");
    assert_refused(&scratch, &format!("{train} --set task.edges=0-1,2-3"), "task.edges = 0-1,2-3: must join 3 joints");
    assert_refused(&scratch, &format!("{train} --set task.torso=0-99"), "task.torso = 0-99: must be of joints 0 to 13");
    assert_refused(&scratch, &format!("{train} --set task.torso=8-3,"), "such as 0-1,1-2; found \"\" as pair 2");
    assert_refused(&scratch, "train --task box --data train.safetensors", "it has no tensor `map_sizes`");
}
