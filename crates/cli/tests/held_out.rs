//! Test data out of the training file: folds, and examples drawn.

mod common;

use common::refusals::{assert_all_refused, assert_refused};
use common::{Scratch, number, samples};

const TRAIN: &str = "train --task chain --passes 8 --clock work --quiet";

/// Folds of one file are trained and tested on as two files are: model, records and report are the same.
#[test]
fn folds_are_test_data() {
    let scratch = Scratch::new();
    scratch.succeed("data make letters --out all.data --n 40");
    let fold = |line: &&str| line.split('\t').nth(5) == Some("0");
    let (test, train): (Vec<String>, Vec<String>) = {
        let text = scratch.text("all.data");
        let (test, train): (Vec<&str>, Vec<&str>) = text.lines().partition(fold);
        let owned = |lines: Vec<&str>| lines.into_iter().map(|line| format!("{line}\n")).collect();
        (owned(test), owned(train))
    };
    assert!(!test.is_empty() && !train.is_empty());
    scratch.write("test.data", test.concat());
    scratch.write("train.data", train.concat());
    let two = scratch.json(&format!("{TRAIN} --data train.data --test test.data --out two --record two.record"));
    for (name, folds) in [("one", "--set data.folds=1-9 --set data.test_folds=0"), ("rest", "--set data.test_folds=0")]
    {
        let found = scratch.json(&format!("{TRAIN} --data all.data {folds} --out {name} --record {name}.record"));
        assert!(scratch.bytes(name) == scratch.bytes("two"), "{name}");
        assert!(scratch.bytes(&format!("{name}.record")) == scratch.bytes("two.record"), "{name}");
        assert_eq!((&found["n"], &found["test_loss"]), (&two["n"], &two["test_loss"]));
    }
    assert!(number(&two, "test_loss") > 0.0);
    assert_eq!(scratch.json("verify --model one --data all.data")["verified"], true);
}

/// Examples held out are not trained on: the seed draws them, the report measures them, `verify` finds the others, and a
/// resumed run draws the same.
#[test]
fn examples_are_held_out() {
    let scratch = Scratch::new();
    scratch.succeed("data make chunks --out all.conll --n 50 --seed 1");
    let train = format!("{TRAIN} --data all.conll");
    let found = scratch.json(&format!("{train} --holdout 20% --seed 3 --out a --record a.record"));
    assert_eq!(found["n"], 40);
    assert!(found["test_loss"].is_number());
    assert!(scratch.records("a.record").iter().any(|record| record["test_loss"].is_number()));
    assert_eq!(scratch.json("verify --model a --data all.conll")["verified"], true);
    let same = scratch.json(&format!("{train} --set data.holdout=10 --seed 3 --out b"));
    assert_eq!(same["test_loss"], found["test_loss"]);
    assert!(scratch.bytes("a") == scratch.bytes("b"));
    let fingerprint = |model: &str| scratch.json(&format!("show {model}"))["fingerprint"].clone();
    scratch.succeed(&format!("{train} --holdout 10 --seed 4 --out c"));
    assert_ne!(fingerprint("a"), fingerprint("c"));

    let short = train.replace("--passes 8", "--passes 3");
    scratch.succeed(&format!("{short} --holdout 20% --seed 3 --out d --checkpoint checkpoint"));
    scratch.succeed("train --resume checkpoint --passes 8 --quiet");
    assert!(scratch.bytes("d") == scratch.bytes("a"));
    assert_refused(
        &scratch,
        "train --resume checkpoint --holdout 30%",
        "data.holdout: the checkpoint has 20%, found 30%",
    );
    let path = scratch
        .json("path --grid 1,0.1 --cv 2 --task chain --data all.conll --holdout 20% --clock work --quiet --out p");
    assert_eq!(path["n"], 40);
}

/// Nonsense is refused with one error.
#[test]
fn nonsense_is_refused() {
    let scratch =
        Scratch::new().with("letter.data", samples::letters(6, 8)).with("three.svm", samples::rows(9, &[1, 2], 3));
    let on = |data: &str| format!("train --task {data} --out new");
    let (chain, rows) = (on("chain --data letter.data"), on("binary --data three.svm"));
    assert_all_refused(
        &scratch,
        "",
        [
            (
                format!("{rows} --holdout 9"),
                "data.holdout = 9: 9 of 9 examples, expected at least 1, and at least 1 left",
            ),
            (format!("{rows} --holdout 1%"), "data.holdout = 1%: 0 of 9 examples"),
            (format!("{rows} --holdout 0.2"), "must be a share above 0% and below 100% as in 20%"),
            (
                format!("{rows} --holdout 20% --test three.svm"),
                "data.holdout: there are test data already, those of data.test",
            ),
            (format!("{rows} --set data.test_folds=0"), "data.test_folds: this format has no folds (letter.data has)"),
            (
                format!("{chain} --set data.test_folds=0 --test letter.data"),
                "data.test_folds: there are test data already",
            ),
            (
                format!("{chain} --set data.folds=0-2 --set data.test_folds=2"),
                "data.test_folds: fold 2 is one of data.folds, which are trained on",
            ),
            (format!("{chain} --set data.test_folds=77"), "data.test_folds: found fold 77, expected some of the folds"),
            (format!("{chain} --set data.test_folds=3-1"), "must be fold numbers as in 0,3 or 0-7"),
            (format!("{rows} --stream --holdout 2"), "the examples of a stream are read once"),
        ],
    );
}
