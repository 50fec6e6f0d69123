//! Sets of labels from end to end: data are made, a model is trained, certified, verified and used.

use crate::common::{Scratch, assert_keys, number, samples};
use serde_json::json;

/// Weights by the contract for every choice of pairs; what is certified is verified, planes of the checkpoint included;
/// resumed runs go on; the same sets in .gz are the same data.
#[test]
fn sets_of_labels() {
    let scratch = Scratch::made("scenes", "multilabel", [150, 100]);
    scratch.write("train.gz", samples::gzip(scratch.bytes("train.multilabel")));
    for (settings, d) in [
        ("", 6 * 24 + 15 * 4),
        ("--set task.bias=true --set task.scale=standard", 6 * 25 + 15 * 4),
        ("--set task.pairwise=none", 6 * 24),
        ("--set task.pairwise=tree", 6 * 24 + 5 * 4),
        ("--set task.pairwise=edges --set task.pairwise.edges=[[0,4],[5,0]]", 6 * 24 + 2 * 4),
        ("--set task.loss=hamming-sum --set task.label_weights=[1,2,1,1,1,3]", 6 * 24 + 15 * 4),
    ] {
        let train = format!("train --task multilabel --data train.multilabel {settings} --gap 1% --clock work");
        let [found, _] = scratch.train_and_check(&train, "train.gz", "--gap 0.1%", "test.multilabel");
        assert_eq!((&found["n"], &found["d"]), (&json!(150), &json!(d)), "{settings}");
        assert_eq!(scratch.weights("m").len(), d, "{settings}");
        assert!(number(&found, "gap") <= 0.01 * number(&found, "primal"), "{settings}");
        scratch.succeed(
            &format!("{train} --quiet --out again").replace("train.multilabel", "train.gz --format multilabel"),
        );
        assert_eq!(scratch.weights("again"), scratch.weights("m"), "{settings}");
    }
}

/// Predictions are lists of names, and measures are those of counting them; labels that training never saw are errors, with
/// one warning, and predictions may be empty.
#[test]
fn predictions_are_lists() {
    let scratch = Scratch::trained("multilabel --lambda 0.01 --gap 1%", "scenes", "multilabel", [150, 100]);
    let evaluated = scratch.json("evaluate --model m --data test.multilabel");
    assert_keys(&evaluated, "task n loss accuracy exact hamming example_f1 micro_f1 macro_f1");
    let predicted = scratch.succeed("predict --model m --data test.multilabel").stdout;
    let set = |line: &str| -> Vec<String> {
        let list = line.split(' ').next().filter(|word| !word.contains(':')).unwrap_or_default();
        list.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
    };
    let (mut wrong, mut exact, mut common, mut both) = (0, 0, 0, 0);
    let truth = scratch.text("test.multilabel");
    assert_eq!(predicted.lines().count(), 100);
    for (line, row) in predicted.lines().zip(truth.lines()) {
        let (y, truth) = (set(line), set(row));
        let right = y.iter().filter(|name| truth.contains(name)).count();
        wrong += y.len() + truth.len() - 2 * right;
        exact += usize::from(y.len() == right && truth.len() == right);
        common += right;
        both += y.len() + truth.len();
    }
    assert!(predicted.lines().any(|line| line.contains(',')) && predicted.lines().any(str::is_empty), "{predicted}");
    let near = |key: &str, value: f64| assert!((number(&evaluated, key) - value).abs() < 1e-12, "{key}: {evaluated:?}");
    near("hamming", wrong as f64 / 600.0);
    near("loss", wrong as f64 / 600.0);
    near("accuracy", 1.0 - wrong as f64 / 600.0);
    near("exact", exact as f64 / 100.0);
    near("micro_f1", 2.0 * common as f64 / both as f64);

    scratch.write("new.multilabel", "sea,ship 1:1 30:2\nsea 1:1\n");
    let ran = scratch.succeed("evaluate --model m --data new.multilabel");
    let warnings = ran.complaints("warning:");
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].contains("1 example has a label that training never saw"), "{warnings:?}");
    assert!(warnings[1].contains("features 25 to 30"), "{warnings:?}");
}

/// Pairs are worth having: the labels of these scenes depend on each other.
#[test]
fn pairs_help() {
    let scratch = Scratch::new();
    scratch.succeed("data make scenes --out train.multilabel --n 800 --seed 1");
    scratch.succeed("data make scenes --out test.multilabel --n 4000 --seed 2");
    let loss = |pairwise: &str| {
        let train = format!(
            "train --task multilabel --set task.pairwise={pairwise} --set task.bias=true --lambda 0.05 --gap 0.1%"
        );
        number(&scratch.json(&format!("{train} --data train.multilabel --test test.multilabel --out m")), "test_loss")
    };
    let (full, tree, none) = (loss("full"), loss("tree"), loss("none"));
    assert!(full < none && tree < none, "full {full}, tree {tree}, none {none}");
}

/// What cannot be used is refused with one clear error.
#[test]
fn misuse_is_refused() {
    let scratch = Scratch::made("scenes", "multilabel", [150, 100])
        .with("two.multilabel", "a,b 1:1\na,c,a 1:2\n")
        .with("plain.svm", "1 1:1\n2 1:2\n");
    for (arguments, message) in [
        ("--data two.multilabel", "error: two.multilabel:2:5: found label `a` twice, expected every label once"),
        ("--data train.multilabel --set task.pairwise=all", "unknown pairwise `all`: expected one of `full`"),
        ("--data train.multilabel --set task.pairwise=edges --set task.pairwise.edges=[[0,6]]", "from 0 to 5"),
        ("--data train.multilabel --set task.label_weights=[1]", "expected one for each of 6 labels"),
        ("--data train.multilabel --format libsvm", "error: train.multilabel:"),
    ] {
        let ran = scratch.run(&format!("train --task multilabel {arguments} --out out"));
        assert_eq!((ran.code, ran.stderr.contains(message)), (Some(2), true), "{arguments}: {}", ran.stderr);
    }
    let ran = scratch.run("train --task multiclass --data train.multilabel --out out");
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    scratch.succeed("train --task multilabel --data plain.svm --passes 2 --quiet --out m"); // one label each is a set, too
}

/// Pairs of labels that no memory would hold are refused before anything is made of them.
#[test]
fn pairs_are_not_too_many() {
    let labels: Vec<String> = (0..5000).map(|label| format!("l{label}")).collect();
    let scratch = Scratch::new().with("many", format!("{} 1:1\nl1 2:1\n", labels.join(",")));
    let train = "train --task multilabel --data many --passes 1 --out m";
    let ran = scratch.run(train);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    let expected =
        "5000 labels have 12497500 pairs with weights, expected at most 1048576: use task.pairwise=tree or none";
    assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    scratch.succeed(&format!("{train} --set task.pairwise=none"));
}
