//! `evaluate --report`: scores label by label, confusions and chunks, held against counts of the predictions.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::{Scratch, samples};
use serde_json::{Map, Value};

fn close(found: &Value, expected: f64) {
    assert!((found.as_f64().unwrap() - expected).abs() < 1e-12, "{found}, expected {expected}");
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// That a report says of pairs of true and predicted labels what counting them says; of labels that no model knows the
/// pairs say `?`.
fn assert_counts(report: &Value, pairs: &[(String, String)]) {
    assert_eq!(report["variables"], pairs.len());
    let labels = report["labels"].as_array().unwrap();
    for (row, label) in labels.iter().enumerate() {
        let name = label["label"].as_str().unwrap();
        let support = pairs.iter().filter(|(truth, _)| truth == name).count();
        let predicted = pairs.iter().filter(|(_, found)| found == name).count();
        let correct = pairs.iter().filter(|(truth, found)| truth == name && found == name).count();
        assert_eq!((&label["support"], &label["predicted"]), (&support.into(), &predicted.into()), "{name}");
        close(&label["precision"], share(correct, predicted));
        close(&label["recall"], share(correct, support));
        close(&label["f1"], share(2 * correct, support + predicted));
        for (column, other) in labels.iter().enumerate() {
            let other = other["label"].as_str().unwrap();
            let both = pairs.iter().filter(|(truth, found)| truth == name && found == other).count();
            assert_eq!(report["confusion"][row][column], both, "{name}, {other}");
        }
    }
    let wrong = pairs.iter().filter(|(truth, found)| truth != found).count() as u64;
    let listed = report["confusions"].as_array().unwrap();
    assert_eq!(listed.iter().map(|one| one["count"].as_u64().unwrap()).sum::<u64>(), wrong);
    assert!(listed.windows(2).all(|two| two[0]["count"].as_u64() >= two[1]["count"].as_u64()));
    let f1 = |label: &&Value| label["f1"].as_f64().unwrap();
    let met = || labels.iter().filter(|label| label["support"] != 0 || label["predicted"] != 0);
    close(&report["macro"]["f1"], met().map(|label| f1(&label)).sum::<f64>() / met().count() as f64);
    let weighted: f64 = labels.iter().map(|label| f1(&label) * label["support"].as_f64().unwrap()).sum();
    close(&report["weighted"]["f1"], weighted / pairs.len() as f64);
}

/// Trains, and returns the report on the test set with its predictions and its text.
fn reported(scratch: &Scratch, task: &str, format: &str) -> (Map<String, Value>, String, String) {
    scratch.succeed(&format!("train --task {task} --data train.{format} --quiet --out model"));
    let found = scratch.json(&format!("evaluate --model model --data test.{format} --report"));
    let predicted = scratch.succeed(&format!("predict --model model --data test.{format}")).stdout;
    (found, predicted, scratch.text(&format!("test.{format}")))
}

/// Classes, two and more, with labels that training never saw.
#[test]
fn classes() {
    for labels in [&[-1, 1][..], &[1, 2, 3]] {
        let task = if labels.len() == 2 { "binary" } else { "multiclass" };
        let rows = samples::rows(60, labels, 4);
        let scratch = Scratch::new().with("train.svm", &rows).with("test.svm", format!("{rows}9 1:1\n"));
        let (found, predicted, test) = reported(&scratch, &format!("{task} --lambda 0.1 --passes 5"), "svm");
        let plain = scratch.json("evaluate --model model --data test.svm");
        assert!(plain.iter().all(|(key, value)| found[key] == *value), "a report changes nothing else");
        let truth = |line: &str| match line.split(' ').next().unwrap() {
            "9" => "?".to_owned(),
            label => label.to_owned(),
        };
        let pairs: Vec<_> =
            test.lines().zip(predicted.lines()).map(|(line, found)| (truth(line), found.to_owned())).collect();
        assert!(pairs.iter().any(|(truth, found)| truth != found && truth != "?"), "data without errors shows little");
        assert_counts(&found["report"], &pairs);
        assert_eq!(found["report"]["chunks"], Value::Null);
        let text = scratch.succeed("evaluate --model model --data test.svm --report").stdout;
        assert!(text.contains("  weighted mean ") && text.contains("most frequent mistakes"), "{text}");
    }
}

/// Chunks of a sentence: (begin, end, type), for tags B and I.
fn spans(tags: &[&str]) -> BTreeSet<(usize, usize, String)> {
    let (mut spans, mut open): (BTreeSet<_>, Option<(usize, String)>) = (BTreeSet::new(), None);
    for t in 0..=tags.len() {
        let (kind, chunk) = tags.get(t).and_then(|tag| tag.split_once('-')).unwrap_or(("O", ""));
        let goes_on = kind == "I" && open.as_ref().is_some_and(|(_, of)| of == chunk);
        if !goes_on {
            spans.extend(open.take().map(|(begin, of)| (begin, t, of)));
            open = (kind != "O").then(|| (t, chunk.to_owned()));
        }
    }
    spans
}

/// Tags of chunks: every count is that of the predictions, chunks those of spans; the text has conlleval's lines.
#[test]
fn chunks() {
    let scratch = Scratch::made("chunks", "conll", [25, 40]);
    let (found, predicted, test) = reported(&scratch, "chain --passes 4", "conll");
    let mut pairs = Vec::new();
    let mut counts: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    for (line, sentence) in predicted.lines().zip(test.trim_end().split("\n\n")) {
        let tags: Vec<&str> = line.split(' ').collect();
        let truth: Vec<&str> = sentence.lines().map(|token| token.rsplit(' ').next().unwrap()).collect();
        pairs.extend(truth.iter().zip(&tags).map(|(truth, tag)| (truth.to_string(), tag.to_string())));
        let (truth, tags) = (spans(&truth), spans(&tags));
        truth.iter().for_each(|span| counts.entry(span.2.clone()).or_default()[0] += 1);
        tags.iter().for_each(|span| counts.entry(span.2.clone()).or_default()[1] += 1);
        truth.intersection(&tags).for_each(|span| counts.entry(span.2.clone()).or_default()[2] += 1);
    }
    let report = &found["report"];
    assert_counts(report, &pairs);
    let all = counts.values().fold([0; 3], |sum, of| [0, 1, 2].map(|k| sum[k] + of[k]));
    let check = |found: &Value, [chunks, predicted, correct]: [usize; 3]| {
        let expected = (&chunks.into(), &predicted.into(), &correct.into());
        assert_eq!((&found["chunks"], &found["predicted"], &found["correct"]), expected);
        close(&found["precision"], share(correct, predicted));
        close(&found["recall"], share(correct, chunks));
        close(&found["f1"], share(2 * correct, chunks + predicted));
    };
    check(&report["chunks"], all);
    assert!(all[2] < all[0], "chunks without errors show little");
    assert_eq!((&report["chunks"]["f1"], &report["chunks"]["tokens"]), (&found["f1"], &pairs.len().into()));
    let types = report["chunks"]["types"].as_array().unwrap();
    assert_eq!(types.len(), counts.len());
    for (found, (name, counts)) in types.iter().zip(&counts) {
        assert_eq!(found["type"], name.as_str());
        check(found, *counts);
    }
    let text = scratch.succeed("evaluate --model model --data test.conll --report").stdout;
    let [chunks, found, correct] = all;
    let head =
        format!("processed {} tokens with {chunks} phrases; found: {found} phrases; correct: {correct}.", pairs.len());
    assert!(text.contains(&head), "{head}: {text}");
    for (name, [chunks, found, correct]) in counts {
        let [precision, recall, f1] =
            [share(correct, found), share(correct, chunks), share(2 * correct, found + chunks)]
                .map(|part| 100.0 * part);
        let line = format!("{name:>17}: precision: {precision:6.2}%; recall: {recall:6.2}%; FB1: {f1:6.2}  {found}\n");
        assert!(text.contains(&line), "{line}: {text}");
    }
}

/// Sets of labels: each label's counts are those of the predictions, and the score of all together is the measure.
#[test]
fn sets() {
    let scratch = Scratch::made("scenes", "multilabel", [150, 50]);
    let (found, predicted, truth) = reported(&scratch, "multilabel --lambda 0.01 --gap 5%", "multilabel");
    let has = |line: &str, name: &str| line.split(' ').next().unwrap().split(',').any(|one| one == name);
    let report = &found["report"];
    for label in report["labels"].as_array().unwrap() {
        let name = label["label"].as_str().unwrap();
        let pairs = || truth.lines().zip(predicted.lines()).map(|(truth, found)| (has(truth, name), has(found, name)));
        let count = |is: fn((bool, bool)) -> bool| pairs().filter(|pair| is(*pair)).count();
        let (support, predicted, correct) =
            (count(|pair| pair.0), count(|pair| pair.1), count(|pair| pair.0 && pair.1));
        assert_eq!((&label["support"], &label["predicted"]), (&support.into(), &predicted.into()), "{name}");
        close(&label["precision"], share(correct, predicted));
        close(&label["recall"], share(correct, support));
    }
    assert_eq!(report["labels"].as_array().unwrap().len(), 6);
    close(&report["micro"]["f1"], found["micro_f1"].as_f64().unwrap());
    close(&report["macro"]["f1"], found["macro_f1"].as_f64().unwrap());
    assert_eq!((&report["confusion"], &report["confusions"]), (&Value::Null, &Value::Null));
    // A label that training never saw is missed.
    scratch.write("new.multilabel", "sea,ship 1:1\n");
    let ran = scratch.succeed("evaluate --model model --data new.multilabel --report");
    assert!(ran.stdout.contains("\n  all labels ") && ran.stdout.contains("\n  ?  "), "{}", ran.stdout);
}

/// Trees and graphs have reports, kernels and slack rescaling too; what has no shared labels, and paths, are refused.
#[test]
fn other_tasks() {
    let scratch = Scratch::new().with("two.svm", samples::rows(30, &[-1, 1], 3));
    scratch.make_each_kind();
    for (train, data, has_report) in [
        ("--task tree", "trees.jsonl", true),
        ("--task tree --set task.structure=arborescence", "trees.jsonl", false),
        ("--task graph", "graphs", true),
        ("--task binary --set task.kernel=rbf", "two.svm", true),
        ("--task binary --set task.rescaling=slack", "two.svm", true),
        ("--task mrf", "mrfs", false),
    ] {
        scratch.succeed(&format!("train {train} --data {data} --lambda 0.1 --passes 3 --quiet --out model"));
        let ran = scratch.run(&format!("evaluate --model model --data {data} --report --json"));
        assert_eq!(ran.code, Some(if has_report { 0 } else { 2 }), "{train}: {}", ran.stderr);
        if !has_report {
            assert!(ran.stderr.contains("--report: labellings of task"), "{train}: {}", ran.stderr);
            continue;
        }
        let found = ran.object();
        let right: u64 = (found["report"]["labels"].as_array().unwrap().iter())
            .map(|label| label["correct"].as_u64().unwrap())
            .sum();
        close(&found["accuracy"], right as f64 / found["report"]["variables"].as_f64().unwrap());
    }
    scratch.succeed("path --task binary --data two.svm --grid 1,0.1 --gap 5% --quiet --out grid");
    let ran = scratch.run("evaluate --model grid --data two.svm --report");
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("--report is of one model, and grid holds 2"), "{}", ran.stderr);
    scratch.succeed("evaluate --model grid --data two.svm --report --lambda 0.1");
}
