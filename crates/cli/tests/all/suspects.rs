//! `suspects`: labels that were made wrong are found, scores of rows are margins, and pages and tables say the same.

use std::collections::BTreeSet;

use crate::common::refusals::assert_refused;
use crate::common::{Scratch, samples};
use serde_json::Value;

/// Made sentences, in which every 20th tag is another one; returns the numbers of these tokens.
fn sentences(scratch: &Scratch) -> BTreeSet<usize> {
    scratch.succeed("data make chunks --n 120 --out right.txt");
    let (mut text, mut token, mut wrong) = (String::new(), 0, BTreeSet::new());
    for line in scratch.text("right.txt").lines() {
        let mut fields: Vec<&str> = line.split(' ').collect();
        if fields.len() == 3 {
            if token % 20 == 7 {
                fields[2] = if fields[2] == "O" { "B-NP" } else { "O" };
                wrong.insert(token);
            }
            token += 1;
        }
        text += &(fields.join(" ") + "\n");
    }
    scratch.write("wrong.txt", &text);
    wrong
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Nine in ten wrong tags are among the most suspicious tenth, as each sentence is judged by a model that was trained
/// without it; every tag is judged once, and table and page list the same ones.
#[test]
fn wrong_labels_come_first() {
    let scratch = Scratch::new();
    let wrong = sentences(&scratch);
    scratch.succeed("train --task chain --data wrong.txt --lambda 0.01 --gap 5% --quiet --out model");
    let done = scratch.succeed("suspects --model model --data wrong.txt --json --csv all.csv --html page.html");
    assert!(done.stderr.contains("the model was trained on this data: 5 others"), "{}", done.stderr);
    let found = lines(&done.stdout);
    let text = scratch.text("wrong.txt");
    let sentences: Vec<Vec<&str>> = text.trim().split("\n\n").map(|sentence| sentence.lines().collect()).collect();
    let starts: Vec<usize> = sentences.iter().scan(0, |at, one| Some(std::mem::replace(at, *at + one.len()))).collect();
    let place = |one: &Value| (one["example"].as_u64().unwrap() as usize, one["part"].as_u64().unwrap() as usize);
    let mut tokens = Vec::new();
    for one in &found {
        let (example, part) = place(one);
        assert_eq!(one["given"], sentences[example][part].rsplit(' ').next().unwrap());
        assert_ne!(one["given"], one["rival"]);
        tokens.push(starts[example] + part);
    }
    let all: usize = sentences.iter().map(Vec::len).sum();
    assert_eq!((tokens.len(), tokens.iter().collect::<BTreeSet<_>>().len()), (all, all));
    assert!(found.windows(2).all(|two| two[0]["score"].as_f64() >= two[1]["score"].as_f64()));
    let hits = tokens[..all / 10].iter().filter(|token| wrong.contains(token)).count();
    assert!(10 * hits >= 9 * wrong.len(), "{hits} of {}", wrong.len());

    let table = scratch.text("all.csv");
    assert_eq!(table.lines().count(), all + 1);
    let (example, part) = place(&found[0]);
    assert!(table.lines().nth(1).unwrap().starts_with(&format!("{example},{part},")));
    let word = sentences[example][part].split(' ').next().unwrap();
    assert!(scratch.text("page.html").contains(&format!("<mark>{word}</mark>")));
    let again = scratch.succeed("suspects --model model --data wrong.txt --json --top 3 --threads 2").stdout;
    assert_eq!(lines(&again), found[..3]);
}

/// With `--cv 0` the score of a row's label is its margin: below 0 where it is the prediction, above where it is not.
#[test]
fn scores_of_rows_are_margins() {
    let scratch = Scratch::new().with("right.svm", samples::rows(60, &[1, 2, 3], 4));
    let scratch = scratch.with("wrong.svm", samples::rows(60, &[2, 3, 1], 4));
    scratch.succeed("train --task multiclass --data right.svm --lambda 0.1 --quiet --out model");
    let margins = lines(&scratch.succeed("predict --model model --data wrong.svm --confidence --json").stdout);
    let found = lines(&scratch.succeed("suspects --model model --data wrong.svm --cv 0 --json").stdout);
    let default = scratch.succeed("suspects --model model --data wrong.svm --json");
    assert_eq!(lines(&default.stdout), found, "on other data the model itself judges");
    let mut others = 0;
    for one in &found {
        let of_example = &margins[one["example"].as_u64().unwrap() as usize];
        let part = one["part"].as_u64().unwrap() as usize;
        let predicted = of_example["labels"].as_str().unwrap().split(' ').nth(part).unwrap();
        let (score, margin) = (one["score"].as_f64().unwrap(), of_example["margins"][part].as_f64().unwrap());
        if one["given"] == predicted {
            assert!((score + margin).abs() <= 1e-9 * (1.0 + margin.abs()), "{one}, margin {margin}");
        } else {
            assert_eq!(one["rival"], predicted);
            assert!(score >= margin - 1e-9, "{one}, margin {margin}");
            others += 1;
        }
    }
    assert!(others > 0);
}

/// A task without max-marginals is judged box by box, and classes row by row; the table says how many are in doubt.
#[test]
fn whole_examples_and_rows() {
    let scratch = Scratch::new();
    scratch.succeed("data make boxes --n 12 --out boxes.safetensors");
    scratch.succeed("train --task box --data boxes.safetensors --lambda 0.01 --gap 10% --quiet --out boxes");
    let found = lines(&scratch.succeed("suspects --model boxes --data boxes.safetensors --cv 2 --json").stdout);
    assert_eq!(found.len(), 12);
    assert!(found.iter().all(|one| one["part"].is_null() && (0.0..=1.0).contains(&one["score"].as_f64().unwrap())));
    let rows = samples::rows(60, &[1, 2, 3], 4);
    let scratch = scratch.with("rows.svm", &rows);
    scratch.succeed("train --task multiclass --data rows.svm --lambda 0.1 --quiet --out rows");
    let text = scratch.succeed("suspects --model rows --data rows.svm --top 4").stdout;
    assert!(text.starts_with("60 labels; the model prefers another answer for "), "{text}");
    assert_eq!(text.lines().count(), 7, "{text}");
}

/// Folds that are none, and outputs that would overwrite what is read.
#[test]
fn refusals() {
    let scratch = Scratch::new().with("rows.svm", samples::rows(20, &[1, 2], 3));
    scratch.succeed("train --task multiclass --data rows.svm --lambda 0.1 --quiet --out model");
    for (options, message) in [
        ("--cv 1", "cv = 1: must be 0 or a whole number >= 2"),
        ("--cv many", "cv = many: must be 0"),
        ("--cv 21", "21 folds of 20 examples: expected between 2 and 20"),
        ("--csv model", "model"),
        ("--html rows.svm", "rows.svm"),
    ] {
        assert_refused(&scratch, &format!("suspects --model model --data rows.svm {options}"), message);
    }
}
