//! Boxes from end to end: data are made, a model is trained, certified, verified and used.

use crate::common::refusals::assert_refused;
use crate::common::{Scratch, number};
use serde_json::json;

/// Whatever the norm and the search, what is certified is verified, resumed runs go on, and threads change no byte.
/// Objects are found, unless the norm likes boxes of a few points.
#[test]
fn boxes_are_trained_and_verified() {
    let scratch = Scratch::made("boxes", "safetensors", [15, 10]);
    for (settings, d, least) in [
        ("", 8 * 5, 0.8),
        ("--set task.normalise=l2 --set task.stride=2", 8 * 5, 0.4),
        ("--set task.normalise=area --set task.loss=missed --set task.none=true", 8 * 5 + 1, 0.0),
        ("--set task.normalise=l1 --set task.search=windows --set task.windows=3 --set task.levels=3", 8 * 21, 0.3),
    ] {
        let train = format!(
            "train --task box --data train.safetensors {settings} --lambda 0.001 --gap 5% --passes 20 --clock work"
        );
        let [found, evaluated] =
            scratch.train_and_check(&train, "train.safetensors", "--passes 30", "test.safetensors");
        assert_eq!((&found["n"], &found["d"]), (&json!(15), &json!(d)), "{settings}");
        scratch.succeed(&format!("{train} --quiet --threads 2 --out again"));
        assert_eq!(scratch.bytes("again"), scratch.bytes("m"), "{settings}");
        let (overlap, share) = (number(&evaluated, "overlap"), number(&evaluated, "found"));
        assert!(share >= least && (0.0..=1.0).contains(&overlap), "{settings}: {evaluated:?}");
        assert_eq!(number(&evaluated, "accuracy"), share, "{settings}");
    }
}

/// A hint says that a lambda of 1/n learns next to nothing; at a smaller lambda there is none.
#[test]
fn a_large_default_lambda_is_hinted_at() {
    let scratch = Scratch::made("boxes", "safetensors", [20, 2]);
    let train = "train --task box --data train.safetensors --set task.normalise=area --gap 1% --out m";
    let [told, smaller] = ["", " --lambda 0.0001"].map(|lambda| scratch.succeed(&format!("{train}{lambda}")).stderr);
    assert!(
        told.contains("is hardly below 1, the most that w = 0 can have: a lambda below 1/n may learn more"),
        "{told}"
    );
    assert!(!smaller.contains("hardly below"), "{smaller}");
}

/// A prediction is a line of four sides, inside of the image.
#[test]
fn predictions_are_boxes() {
    let scratch = Scratch::trained("box --lambda 0.01 --gap 5%", "boxes", "safetensors", [30, 20]);
    for line in scratch.predicted("test.safetensors", 20) {
        let sides: Vec<u32> = line.split(' ').map(|side| side.parse().unwrap()).collect();
        let [left, top, right, bottom] = sides[..] else { panic!("{line}") };
        assert!(left < right && right <= 32 && top < bottom && bottom <= 24, "{line}");
    }
}

/// Lists hold the prediction first; `evaluate` measures the best boxes, and the lists on demand.
#[test]
fn lists_of_boxes_are_measured() {
    let scratch = Scratch::trained("box --lambda 0.01 --gap 5%", "boxes", "safetensors", [30, 20]);
    let best = scratch.predicted("test.safetensors", 20);
    let out = scratch.succeed("predict --model m --data test.safetensors --top 3").stdout;
    let lines: Vec<Vec<&str>> = out.lines().map(|line| line.split('\t').collect()).collect();
    let first: Vec<&str> = lines.iter().filter(|line| line[1] == "1").map(|line| line[3]).collect();
    assert_eq!(first, best);
    assert!(lines.len() > 20 && lines.iter().all(|line| "123".contains(line[1])), "{out}");
    let plain = scratch.json("evaluate --model m --data test.safetensors");
    assert_eq!((&plain["precision"], &plain["recall"]), (&plain["found"], &plain["found"]));
    let listed = scratch.json("evaluate --model m --data test.safetensors --top 3");
    let detections = &listed["detections"];
    assert_eq!((&detections["listed"], &detections["right"]), (&json!(lines.len()), &json!(20)));
    assert!(number(&listed, "average_precision") <= 1.0 && number(&listed, "area") >= number(&plain, "overlap"));
    assert_eq!(detections["overlap_recall"].as_array().unwrap().len(), 21);
    let refused = "predict --model m --data test.safetensors --confidence";
    assert_refused(&scratch, refused, "--confidence: task `box` knows its best labelling only");
}

/// Settings that cannot be are refused before anything is trained.
#[test]
fn settings_are_checked() {
    let scratch = Scratch::made("boxes", "safetensors", [3, 2]);
    let train = "train --task box --data train.safetensors";
    assert_refused(&scratch, &format!("{train} --set task.levels=5"), "task.levels = 5: must be 1 to 4");
    assert_refused(&scratch, &format!("{train} --set task.stride=0"), "task.stride = 0: must be at least 1");
    assert_refused(&scratch, &format!("{train} --set task.words=[9]"), "found vocabularies of [8] words");
    assert_refused(&scratch, "train --task graph --data train.safetensors", "box");
}
