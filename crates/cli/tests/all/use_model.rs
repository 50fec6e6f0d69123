//! What a model is for: `predict`, `evaluate` and `verify`, and what they say of data that training never saw.

use crate::common::{Ran, Scratch, assert_keys, number, samples};

/// Words and rows with a model on each.
fn trained() -> Scratch {
    let scratch = Scratch::new()
        .with("letter.data", samples::letters(40, 64))
        .with("three.svm", samples::rows(50, &[1, 2, 3], 4))
        .with("two.svm", samples::rows(50, &[-1, 1], 4));
    for (task, data) in [("chain", "letter.data"), ("multiclass", "three.svm"), ("binary", "two.svm")] {
        scratch.succeed(&format!("train --task {task} --data {data} --lambda 0.01 --passes 30 --quiet --out {task}"));
    }
    scratch
}

/// One line per example: a word of the right length, or a label of training; the same to a file as to standard
/// output.
#[test]
fn predictions_are_one_line_each() {
    let scratch = trained();
    let words = scratch.succeed("predict --model chain --data letter.data").stdout;
    let truth = scratch.text("letter.data").lines().fold(String::new(), |mut truth, line| {
        let fields: Vec<&str> = line.split('\t').collect();
        truth += fields[1];
        truth + if fields[2] == "-1" { "\n" } else { "" }
    });
    let lengths = |text: &str| text.lines().map(str::len).collect::<Vec<_>>();
    assert_eq!(lengths(&words), lengths(&truth));
    let right = words.lines().zip(truth.lines()).filter(|(word, true_word)| word == true_word).count();
    assert!(right >= 30, "only {right} of 40 words are right: {words}");

    for (task, data, labels) in [("multiclass", "three.svm", "1 2 3"), ("binary", "two.svm", "-1 1")] {
        let found = scratch.succeed(&format!("predict --model {task} --data {data}")).stdout;
        assert_eq!(found.lines().count(), 50);
        let labels: Vec<&str> = labels.split(' ').collect();
        assert!(labels.iter().all(|label| found.lines().any(|line| line == *label)), "{task} lacks a label");
        assert!(found.lines().all(|line| labels.contains(&line)), "{found}");
        let ran = scratch.succeed(&format!("predict --model {task} --data {data} --out labels"));
        assert_eq!((ran.stdout.as_str(), scratch.text("labels")), ("", found));
    }
}

/// The numbers of `evaluate` are those of counting the predictions by hand, and the loss is the training loss that
/// `train` reported.
#[test]
fn evaluation_counts_predictions() {
    let scratch = trained();
    for (task, data) in [("multiclass", "three.svm"), ("binary", "two.svm")] {
        let found = scratch.json(&format!("evaluate --model {task} --data {data}"));
        assert_keys(&found, "task n loss accuracy exact");
        assert_eq!((&found["task"], &found["n"]), (&task.into(), &50.into()));
        let predicted = scratch.succeed(&format!("predict --model {task} --data {data}")).stdout;
        let truth = scratch.text(data);
        let wrong = predicted.lines().zip(truth.lines()).filter(|(y, row)| row.split(' ').next() != Some(y)).count();
        assert!(wrong > 0, "data without errors shows little");
        assert_eq!(number(&found, "loss"), wrong as f64 / 50.0);
        assert!((number(&found, "accuracy") - (1.0 - wrong as f64 / 50.0)).abs() < 1e-12);
        assert_eq!(found["accuracy"], found["exact"], "one variable per example");
        let text = scratch.succeed(&format!("evaluate --model {task} --data {data}")).stdout;
        assert!(text.starts_with(&format!("{task} on 50 examples\n")), "{text}");
    }
    let train = "train --task chain --data letter.data --calls 5 --out early";
    let summary = scratch.json(&format!("{train} --test letter.data"));
    let found = scratch.json("evaluate --model early --data letter.data");
    assert!(number(&found, "loss") > 0.0);
    assert_eq!(found["loss"], summary["train_loss"]);
    assert_eq!(found["loss"], summary["test_loss"]);
}

/// A model's own claim is true on its own data, whatever the wrapping and in the folds it was trained on; on other
/// data the question is refused.
#[test]
fn verify_confirms_or_refuses() {
    let scratch = trained();
    scratch.write("letter.gz", samples::gzip(scratch.bytes("letter.data")));
    scratch.succeed("train --task chain --data letter.gz --set data.folds=1,2 --passes 5 --quiet --out folds");
    scratch.succeed("train --task chain --data letter.data --solver ssg --passes 5 --quiet --out ssg");
    for pair in ["chain letter.data", "chain letter.gz", "folds letter.data", "ssg letter.gz", "binary two.svm"] {
        let (model, data) = pair.split_once(' ').unwrap();
        let found = scratch.json(&format!("verify --model {model} --data {data}"));
        assert_eq!(found["verified"], true, "{pair}");
        let (primal, reported) = (number(&found, "primal"), number(&found, "reported_primal"));
        assert!((primal - reported).abs() <= 1e-9 * reported, "{pair}: {found:?}");
        let text = scratch.succeed(&format!("verify --model {model} --data {data}")).stdout;
        let dual = if pair.starts_with("ssg") { "" } else { "dual not checked: --checkpoint does that\n" };
        assert!(text.ends_with(&format!("true\n{dual}")) && text.starts_with("primal recomputed "), "{text}");
    }
    scratch.write("other.data", samples::letters(41, 64));
    for arguments in [
        "--model chain --data other.data",
        "--model chain --data letter.data --set data.folds=1",
        "--model folds --data letter.data --set data.folds=3",
        "--model multiclass --data two.svm",
    ] {
        let ran = scratch.run(&format!("verify {arguments} --json"));
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments}");
        assert!(ran.stderr.contains("this is not the data that the model was trained on"), "{}", ran.stderr);
    }
}

/// One warning with the number of unseen labels, one with the number of unseen features, none without any; from
/// `predict` and `evaluate` and of the `--test` data of `train`.
#[test]
fn what_training_never_saw_is_warned_of_once() {
    let scratch = trained();
    let labels = "2 examples have a label that training never saw: no answer can be right there";
    let features = "features 5 to 9 (5 in all) were never seen in training: ignored";
    for (content, warnings) in [
        ("1 1:1\n2 1:0.5 4:1\n", &[][..]),
        ("1 1:1\n2 9:1\n", &[features][..]),
        ("1 1:1\n9 1:1\n-4 2:1\n", &[labels][..]),
        ("1 1:1\n9 7:1\n-4 9:1\n", &[labels, features][..]),
    ] {
        scratch.write("new.svm", content);
        let check = |ran: &Ran, prefix: &str| {
            let expected: Vec<String> = warnings.iter().map(|text| format!("warning: {prefix}{text}")).collect();
            assert_eq!(ran.complaints(""), expected, "for {content:?}");
        };
        let ran = scratch.succeed("predict --model multiclass --data new.svm");
        check(&ran, "");
        assert_eq!(ran.stdout.lines().count(), content.lines().count());
        check(&scratch.succeed("evaluate --model multiclass --data new.svm"), "");
        let train = "train --task multiclass --data three.svm --test new.svm --passes 3 --record record --json";
        let ran = scratch.succeed(train);
        check(&ran, "test data: ");
        assert!(number(&ran.object(), "test_loss").is_finite());
    }
}

/// An unseen label is an error and nothing worse: it costs exactly 1, and the other examples count as before.
/// Unseen features change no number.
#[test]
fn what_training_never_saw_is_counted_as_promised() {
    let scratch = trained();
    let rows = scratch.text("three.svm");
    let known = scratch.json("evaluate --model multiclass --data three.svm");

    scratch.write("new.svm", rows.clone() + "9 1:1\n-4 2:1\n");
    let found = scratch.json("evaluate --model multiclass --data new.svm");
    let expected = (number(&known, "loss") * 50.0 + 2.0) / 52.0;
    assert!((number(&found, "loss") - expected).abs() < 1e-12);
    assert!((number(&found, "accuracy") - (1.0 - expected)).abs() < 1e-12);

    scratch.write("new.svm", rows.replace('\n', " 5:3 70:-8\n"));
    let found = scratch.json("evaluate --model multiclass --data new.svm");
    assert_eq!(found, known);

    scratch.write("new.svm", "8 1:1\n9 1:1\n");
    for task in ["multiclass", "binary"] {
        let found = scratch.json(&format!("evaluate --model {task} --data new.svm"));
        assert_eq!((number(&found, "loss"), number(&found, "accuracy")), (1.0, 0.0), "{task}");
    }
}
