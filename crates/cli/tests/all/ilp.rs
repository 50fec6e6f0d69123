//! Integer programmes from end to end. Without the feature `highs` the task says how to get it.

use crate::common::Scratch;
#[cfg(feature = "highs")]
use crate::common::{assert_keys, number};

/// A program without HiGHS says so, and how to build it.
#[cfg(not(feature = "highs"))]
#[test]
fn without_highs_the_task_says_how_to_get_it() {
    let scratch = Scratch::new();
    for command in ["train --task ilp --data d.safetensors", "describe task ilp"] {
        let ran = scratch.run(command);
        assert_eq!(ran.code, Some(2), "{command}");
        let error = ran.stderr.lines().find(|line| line.contains("without HiGHS")).unwrap_or_default();
        let told =
            error.contains("cargo install --path crates/cli --features highs") && error.contains("multiplane[ilp]");
        assert!(told, "{command}: {}", ran.stderr);
    }
}

/// Writes plans as LP files and a table of their features: at most three of eight items, no two neighbours of them, and a
/// number of helpers up to 2, each of whom allows one item more. What is right follows planted values, all of them
/// listed; one in `unknown` of its parts is left out.
#[cfg(feature = "highs")]
fn planner(scratch: &Scratch, name: &str, count: u64, seed: u64, unknown: u64) {
    let mut state = seed;
    let mut random = |count: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % count
    };
    let mut table = String::from("programme,variable,value,effort,help,truth\n");
    for plan in 0..count {
        let file = format!("{name}{plan}.lp");
        let pairs: Vec<String> = (0..7).map(|k| format!(" n{k}: x{k} + x{} <= 1\n", k + 1)).collect();
        let sum = (0..8).map(|k| format!("x{k}")).collect::<Vec<_>>().join(" + ");
        let items = sum.replace(" +", "");
        let (pairs, head) = (pairs.concat(), "Maximize\n obj: 0.5 x0\nSubject To\n");
        let text =
            format!("{head} c: {sum} - h <= 1\n{pairs}Bounds\n 0 <= h <= 2\nGeneral\n h\nBinary\n {items}\nEnd\n");
        scratch.write(&file, text);
        let features: Vec<[f64; 2]> = (0..8).map(|_| [0, 0].map(|_: u64| random(1000) as f64 / 500.0 - 0.5)).collect();
        let gain = |k: usize| 2.0 * features[k][0] - features[k][1] + if k == 0 { 0.5 } else { 0.0 };
        let is_plan = |set: &u32| set & (set >> 1) == 0 && set.count_ones() <= 3;
        let worth = |set: &u32| {
            let items: f64 = (0..8).filter(|k| set >> k & 1 == 1).map(gain).sum();
            items - 0.7 * f64::from(set.count_ones().saturating_sub(1))
        };
        let best = (0..256_u32).filter(is_plan).max_by(|one, other| worth(one).total_cmp(&worth(other))).unwrap();
        let mut line = |variable: &str, features: [f64; 3], truth: u32| {
            let truth = if random(unknown) == 0 { String::new() } else { truth.to_string() };
            let [value, effort, help] = features;
            table.push_str(&format!("{file},{variable},{value},{effort},{help},{truth}\n"));
        };
        for (k, [value, effort]) in features.iter().enumerate() {
            line(&format!("x{k}"), [*value, *effort, 0.0], best >> k & 1);
        }
        line("h", [0.0, 0.0, -1.0], best.count_ones().saturating_sub(1));
    }
    scratch.write(&format!("{name}.csv"), table);
}

/// Gains of plans are learned from plans: certified, verified, and good on others; with a gap of the oracle the bounds
/// still hold the optimum.
#[cfg(feature = "highs")]
#[test]
fn plans_are_learned() {
    let scratch = Scratch::new();
    planner(&scratch, "train", 40, 1, u64::MAX);
    planner(&scratch, "test", 30, 2, u64::MAX);
    let train = "train --task ilp --data train.csv --lambda 0.01 --clock work";
    let [found, evaluated] =
        scratch.train_and_check(&format!("{train} --gap 1%"), "train.csv", "--gap 0.5%", "test.csv");
    assert_eq!((found["n"].as_u64(), found["d"].as_u64()), (Some(40), Some(3)));
    assert!(number(&found, "gap") <= 0.01 * number(&found, "primal"));
    assert_keys(&evaluated, "task n loss accuracy exact");
    assert!(number(&evaluated, "accuracy") > 0.93, "{evaluated:?}");
    let predicted = scratch.predicted("test.csv", 30);
    let is_vector = |line: &String| line.split(' ').all(|word| word.parse::<u32>().is_ok_and(|value| value <= 2));
    assert!(predicted.iter().all(is_vector), "{predicted:?}");
    let shown = scratch.succeed("show m").stdout;
    assert!(shown.contains("value") && shown.contains("effort"), "{shown}");
    scratch.assert_same_weights(train, ["--threads 1", "--threads 2"]);

    let (primal, dual) = (number(&found, "primal"), number(&found, "dual"));
    for settings in ["task.oracle_gap=0.05", "task.loss=hamming-mean", "task.nonnegative=[0,2]"] {
        let other = scratch.json(&format!("{train} --set {settings} --gap 0.01 --passes 200 --out o"));
        assert_eq!(other["certified"], true, "{settings}");
        if settings == "task.oracle_gap=0.05" {
            assert!(number(&other, "dual") <= primal && dual <= number(&other, "primal"), "{other:?}");
        }
        if settings.starts_with("task.nonnegative") {
            assert!(scratch.weights("o")[0] >= 0.0 && scratch.weights("o")[2] >= 0.0);
        }
    }
    let checked = scratch.succeed("check --task ilp --data train.csv").stdout;
    assert!(!checked.contains("loss-at-truth") && !checked.contains("not-best"), "{checked}");
}

/// Truths that are known in part are completed in rounds, which are verified; `fixed` takes 0, which must be feasible, and is verified.
#[cfg(feature = "highs")]
#[test]
fn plans_are_completed() {
    let scratch = Scratch::new();
    planner(&scratch, "train", 40, 3, 3);
    planner(&scratch, "test", 30, 4, u64::MAX);
    let found = scratch.json("train --task ilp --data train.csv --lambda 0.01 --gap 1% --test test.csv --out m");
    assert_eq!(found["certified"], true, "{found:?}");
    assert_eq!(scratch.json("verify --model m --data train.csv")["verified"], true);
    assert!(number(&found, "test_loss") < 1.5, "{found:?}");
    let ran = scratch.run("train --task ilp --data train.csv --set task.partial=fixed --out f");
    assert!(ran.code == Some(2) && ran.stderr.contains("task.partial=masked completes truths"), "{}", ran.stderr);
    planner(&scratch, "whole", 40, 6, u64::MAX);
    let is_left_out = |line: &&str| ["x0,", "x1,"].iter().any(|item| line.contains(item));
    let without = |line: &str| line.rsplit_once(',').map_or(String::new(), |(start, _)| format!("{start},"));
    let text = scratch.text("whole.csv");
    let lines = text.lines().map(|line| if is_left_out(&line) { without(line) } else { line.into() } + "\n");
    scratch.write("whole.csv", lines.collect::<String>());
    scratch.succeed("train --task ilp --data whole.csv --set task.partial=fixed --lambda 0.01 --out f");
    assert_eq!(scratch.json("verify --model f --data whole.csv")["verified"], true);
}

/// Faults of a table are told with their place, and nothing is written.
#[cfg(feature = "highs")]
#[test]
fn bad_tables_are_refused() {
    let scratch = Scratch::new();
    planner(&scratch, "train", 2, 5, u64::MAX);
    let good = scratch.text("train.csv");
    for (line, message) in [
        ("train0.lp,x9,1,1,0,0", "bad.csv:20:11: train0.lp has no variable x9"),
        ("train7.lp,x0,1,1,0,0", "bad.csv:20:1: train7.lp: No such file"),
        ("train0.lp,x0,1,1,0", "bad.csv:20:1: found 5 fields, expected 6"),
    ] {
        scratch.write("bad.csv", format!("{good}{line}\n"));
        let before = scratch.snapshot().len();
        let ran = scratch.run("train --task ilp --data bad.csv --out bad");
        assert!(ran.code == Some(2) && ran.stderr.contains(message), "{line}: {}", ran.stderr);
        assert_eq!(scratch.snapshot().len(), before);
    }
}
