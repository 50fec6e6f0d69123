//! `predict --top`, `predict --confidence` and `predict --marginals`: more than the best labelling.

use crate::common::refusals::assert_refused;
use crate::common::{Running, Scratch, number, object, samples};
use serde_json::Value;

fn floats(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|value| value.as_f64().unwrap_or(f64::INFINITY)).collect()
}

/// Lists and margins of one model on its data, as objects by example.
fn asked(scratch: &Scratch, model: &str, data: &str, what: &str) -> Vec<serde_json::Map<String, Value>> {
    let ran = scratch.succeed(&format!("predict --model {model} --data {data} {what} --json"));
    let objects: Vec<_> = ran.stdout.lines().map(object).collect();
    let numbers = objects.iter().map(|one| number(one, "example") as usize);
    assert!(numbers.eq(0..objects.len()), "examples are numbered from 0");
    objects
}

/// Scores and margins of classes are those of the weights in the file, and lists are complete.
#[test]
fn classes_by_hand() {
    let scratch = Scratch::new().with("three.svm", samples::rows(50, &[1, 2, 3], 4));
    scratch.succeed("train --task multiclass --data three.svm --lambda 0.01 --passes 30 --quiet --out m");
    let w = scratch.weights("m");
    let (tops, margins) =
        (asked(&scratch, "m", "three.svm", "--top 7"), asked(&scratch, "m", "three.svm", "--confidence"));
    let predicted = scratch.succeed("predict --model m --data three.svm").stdout;
    let text = scratch.text("three.svm");
    assert_eq!((tops.len(), margins.len()), (50, 50));
    for (k, row) in text.lines().enumerate() {
        let mut scores = [0.0; 3];
        for entry in row.split_whitespace().skip(1) {
            let (index, value) = entry.split_once(':').unwrap();
            let (index, value): (usize, f64) = (index.parse().unwrap(), value.parse().unwrap());
            scores
                .iter_mut()
                .enumerate()
                .for_each(|(class, score)| *score += w[class * w.len() / 3 + index - 1] * value);
        }
        let top = tops[k]["top"].as_array().unwrap();
        assert_eq!((top.len(), &tops[k]["exact"]), (3, &true.into()), "three classes, though seven were asked for");
        for one in top {
            let class: usize = one["labels"].as_str().unwrap().parse().unwrap();
            assert!((one["score"].as_f64().unwrap() - scores[class - 1]).abs() < 1e-12, "row {k}");
            assert_eq!(one["numbers"], serde_json::json!([class - 1]));
        }
        assert_eq!(top[0]["labels"], *predicted.lines().nth(k).unwrap());
        scores.sort_by(|a, b| b.total_cmp(a));
        let found = floats(&margins[k]["margins"]);
        assert!(found.len() == 1 && (found[0] - (scores[0] - scores[1])).abs() < 1e-12, "row {k}: {found:?}");
    }
}

/// Margins are what lists say: the score of the best labelling less that of the first one with another label there. Lines
/// say what objects say, to a file as to standard output, on any number of threads.
#[test]
fn margins_follow_from_lists() {
    let scratch = Scratch::new().with("letter.data", samples::letters(30, 64));
    scratch.succeed("train --task chain --data letter.data --lambda 0.01 --passes 3 --quiet --out chain");
    scratch.succeed("data make scenes --out scenes.svm --n 15 --seed 1");
    scratch.succeed("train --task multilabel --data scenes.svm --passes 3 --quiet --out sets");
    let mut held = 0;
    for (model, data) in [("chain", "letter.data"), ("sets", "scenes.svm")] {
        let lists = asked(&scratch, model, data, "--top 300");
        let margins = asked(&scratch, model, data, "--confidence");
        let predicted = scratch.succeed(&format!("predict --model {model} --data {data}")).stdout;
        assert_eq!((lists.len(), margins.len()), (predicted.lines().count(), predicted.lines().count()));
        for ((list, margin), line) in lists.iter().zip(&margins).zip(predicted.lines()) {
            let top = list["top"].as_array().unwrap();
            assert_eq!((&top[0]["labels"], &margin["labels"]), (&line.into(), &line.into()));
            let score = |one: &Value| one["score"].as_f64().unwrap();
            assert!(top.windows(2).all(|pair| score(&pair[0]) >= score(&pair[1]) - 1e-9), "in order");
            let mut texts: Vec<&str> = top.iter().map(|one| one["labels"].as_str().unwrap()).collect();
            texts.sort_unstable();
            texts.dedup();
            assert_eq!(texts.len(), top.len(), "all different");
            let first = floats(&top[0]["numbers"]);
            let runners_up = margin["runners_up"].clone();
            for (v, margin) in floats(&margin["margins"]).into_iter().enumerate() {
                let other = top.iter().find(|one| floats(&one["numbers"])[v] != first[v]);
                let Some(other) = other else { continue };
                held += 1;
                let others = top.iter().filter(|one| floats(&one["numbers"])[v] != first[v]);
                let best: Vec<f64> = others
                    .filter(|one| score(one) >= score(other) - 1e-9)
                    .map(|one| floats(&one["numbers"])[v])
                    .collect();
                assert!(best.contains(&floats(&runners_up)[v]), "variable {v}: {runners_up}");
                assert!((score(&top[0]) - score(other) - margin).abs() < 1e-9, "variable {v}: {margin}");
            }
        }
        let lines =
            scratch.succeed(&format!("predict --model {model} --data {data} --top 3 --threads 2 --out top")).stdout;
        assert_eq!(lines, "");
        let lines = scratch.text("top");
        assert_eq!(lines, scratch.succeed(&format!("predict --model {model} --data {data} --top 3")).stdout);
        let first: Vec<&str> = lines.lines().next().unwrap().split('\t').collect();
        let best = &lists[0]["top"][0];
        assert_eq!(first, ["0", "1", &best["score"].to_string(), best["labels"].as_str().unwrap()]);
        assert_eq!(lines.lines().filter(|line| line.split('\t').nth(1) == Some("1")).count(), lists.len());
        let lines = scratch.succeed(&format!("predict --model {model} --data {data} --confidence")).stdout;
        let first: Vec<&str> = lines.lines().next().unwrap().split('\t').collect();
        assert_eq!((first.len(), first[0], Some(first[1])), (3, "0", predicted.lines().next()));
        assert_eq!(first[2].split(' ').count(), floats(&margins[0]["margins"]).len());
    }
    assert!(held > 100, "only {held} margins were held against lists");
}

/// Where the decoder is approximate lists say so, and margins are lower bounds: no labelling listed is nearer than that.
#[test]
fn approximate_decoders_are_honest() {
    let scratch = Scratch::new();
    scratch.succeed("data make rotamers --out g.safetensors --n 12 --seed 1");
    let train = "train --task mrf --data g.safetensors --set task.inference=trws --set task.max_iterations=1";
    scratch.succeed(&format!("{train} --passes 2 --quiet --out g"));
    let ran = scratch.succeed("predict --model g --data g.safetensors --top 4 --json");
    let unproven = ran.stdout.lines().filter(|line| object(line)["exact"] == false).count();
    assert!(unproven > 0 && ran.stdout.lines().count() == 12, "{}", ran.stdout);
    let [warning] = ran.complaints("warning: the lists of")[..] else { panic!("no warning: {}", ran.stderr) };
    assert!(warning.contains(&format!("the lists of {unproven} of 12 examples are not proven")), "{warning}");
    let lists: Vec<_> = ran.stdout.lines().map(object).collect();
    let ran = scratch.succeed("predict --model g --data g.safetensors --confidence --json");
    let [warning] = ran.complaints("warning: the margins of")[..] else { panic!("no warning: {}", ran.stderr) };
    let (mut held, mut bounds, mut positive) = (0, 0, 0);
    for (list, margin) in lists.iter().zip(ran.stdout.lines().map(object)) {
        bounds += usize::from(margin["exact"] == false);
        let (top, margins) = (list["top"].as_array().unwrap(), floats(&margin["margins"]));
        assert_eq!(top[0]["numbers"], margin["numbers"]);
        positive += margins.iter().filter(|margin| **margin > 0.0).count();
        for other in &top[1..] {
            let apart = top[0]["score"].as_f64().unwrap() - other["score"].as_f64().unwrap();
            let numbers = floats(&top[0]["numbers"]).into_iter().zip(floats(&other["numbers"])).zip(&margins);
            for (_, margin) in numbers.filter(|((one, other), _)| one != other) {
                assert!(*margin <= apart + 1e-9, "{margin} above {apart}");
                held += 1;
            }
        }
    }
    assert!(bounds > 0 && held > 30 && positive > 30, "{bounds} {held} {positive}");
    assert!(warning.contains(&format!("the margins of {bounds} of 12 examples are lower bounds")), "{warning}");
}

/// What cannot be asked for is refused with the rule, and nothing is written.
#[test]
fn bad_questions_are_refused() {
    let scratch = Scratch::new().with("two.svm", samples::rows(30, &[-1, 1], 4));
    scratch.succeed("train --task binary --data two.svm --passes 3 --quiet --out m");
    let refused = |options: &str, message: &str| {
        assert_refused(&scratch, &format!("predict --model m --data two.svm --out labels {options}"), message);
    };
    for bad in ["0", "-1", "1.5", "many", "100001", "99999999999999999999"] {
        refused(&format!("--top {bad}"), &format!("top = {bad}: must be a whole number from 1 to 100000"));
    }
    refused("--top 2 --confidence", "cannot be used with");
}

/// Probabilities are those of all labellings by `exp(score)`, of tags and of heads; a stream gets the same. Tasks without
/// them are refused.
#[test]
fn marginals_are_sums_over_lists() {
    let tags = "the D\nold A\ndog N\n\na D\ndog N\n\nold A\ndogs N\nbark V\n";
    let word =
        |id: usize, form: &str, tag: &str, head: usize| format!("{id}\t{form}\t_\t{tag}\t_\t_\t{head}\tdep\t_\t_\n");
    let bank = [word(1, "a", "D", 2), word(2, "dog", "N", 3), word(3, "barks", "V", 0), "\n".into()].concat()
        + &[word(1, "dogs", "N", 2), word(2, "bark", "V", 0)].concat();
    let scratch = Scratch::new().with("tags.conll", tags).with("bank.conllu", &bank);
    scratch.succeed("train --task chain --data tags.conll --lambda 0.05 --passes 20 --quiet --out tags");
    let parser = "--set task.structure=arborescence --lambda 0.05 --passes 20 --quiet --out heads";
    scratch.succeed(&format!("train --task tree --data bank.conllu {parser}"));
    for (model, data, names) in [("tags", "tags.conll", vec!["A", "D", "N", "V"]), ("heads", "bank.conllu", vec![])] {
        let lists = asked(&scratch, model, data, "--top 1000");
        let marginals = asked(&scratch, model, data, "--marginals");
        assert_eq!(lists.len(), marginals.len());
        for (list, found) in lists.iter().zip(&marginals) {
            let top = list["top"].as_array().unwrap();
            let shares: Vec<f64> = top.iter().map(|one| one["score"].as_f64().unwrap().exp()).collect();
            let table = found["marginals"].as_array().unwrap();
            let heads: Vec<String> = (0..=table.len()).map(|head| head.to_string()).collect();
            let columns = if names.is_empty() { serde_json::json!(heads) } else { serde_json::json!(names) };
            assert_eq!((&found["example"], &found["names"]), (&list["example"], &columns));
            for (v, row) in table.iter().enumerate() {
                let row = floats(row);
                assert_eq!(row.len(), columns.as_array().unwrap().len());
                for (label, found) in row.iter().enumerate() {
                    let with = top.iter().zip(&shares).filter(|(one, _)| floats(&one["numbers"])[v] == label as f64);
                    let share = with.map(|(_, share)| share).sum::<f64>() / shares.iter().sum::<f64>();
                    assert!((found - share).abs() < 1e-9, "{model}: {found} of {v} {label}, expected {share}");
                }
            }
        }
    }
    let said = scratch.succeed("predict --model tags --data tags.conll --marginals --threads 2 --out file").stdout;
    let file = scratch.text("file");
    assert_eq!((said.as_str(), file.lines().count()), ("", 3));
    let input = std::fs::File::open(scratch.path("tags.conll")).unwrap();
    let stream = Running::start_on(&mut scratch.command("predict --model tags --data - --marginals"), input).finish();
    assert_eq!((stream.code, stream.stdout), (Some(0), file));
    scratch.succeed("data make scenes --out scenes.svm --n 15 --seed 1");
    scratch.succeed("train --task multilabel --data scenes.svm --passes 1 --quiet --out sets");
    let refused = "--marginals: task `multilabel` has no probabilities of labels, tasks chain, tree have";
    assert_refused(&scratch, "predict --model sets --data scenes.svm --marginals --out new", refused);
    for other in ["--top 2", "--confidence", "--columns"] {
        assert_refused(
            &scratch,
            &format!("predict --model tags --data tags.conll --marginals {other}"),
            "cannot be used with",
        );
    }
}
