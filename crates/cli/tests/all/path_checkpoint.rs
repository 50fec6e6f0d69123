//! Checkpoints of paths and grids, end to end: killed, interrupted and ended ones go on to the same bytes, and what
//! cannot be resumed is refused.
#![cfg(unix)]

use std::fs;

use crate::common::refusals::{assert_all_refused, assert_refused};
use crate::common::{Running, Scratch, has_begun, kill, number, samples};
use serde_json::Value;

/// A path of a second or so in the test profile, on the work clock.
const PATH: &str = "path --task chain --data letter.data --lambda-min 0.002 --clock work --seed 3 --quiet";

fn words(n: usize) -> Scratch {
    Scratch::new().with("letter.data", samples::letters(n, 48))
}

/// Model and records of two runs are the same, to the byte.
fn assert_same(scratch: &Scratch) {
    for (name, plain) in [("model", "plain"), ("record", "plain.record")] {
        assert!(scratch.bytes(name) == scratch.bytes(plain), "{name} differs from {plain}");
    }
}

/// Killed at random moments and resumed each time by the checkpoint alone, a path, and a grid with every warm start,
/// ends with the same model and the same records. `MULTIPLANE_KILLS` sets how often (3 each if it is not set).
#[test]
fn killed_paths_end_the_same() {
    let kills: u32 = std::env::var("MULTIPLANE_KILLS").map_or(3, |kills| kills.parse().unwrap());
    let scratch = words(250);
    let mut chance = 54321u64;
    for extra in [
        "--eps 0.05",
        "--solver bcfw-gap-cache --eps 0.1",
        "--grid 6 --gap 0.01",
        "--grid 1,0.1,0.01,0.004 --gap 0.005 --warm-start keep-dual",
        "--solver mp-bcfw --grid 1,0.1,0.01,0.004 --gap 0.005 --warm-start none",
    ] {
        let path = format!("{PATH} {extra}");
        let whole = scratch.succeed(&format!("{path} --out plain --record plain.record"));
        let (mut killed, mut runs) = (0, 0);
        while killed < kills {
            runs += 1;
            assert!(runs <= 20 + 5 * kills, "{extra}: runs end before they can be killed");
            let first = format!("{path} --out model --record record --checkpoint c --checkpoint-every 0.02");
            killed += kill(&scratch, [&first, "path --resume c --quiet"], 6, whole.seconds, &mut chance);
            assert_same(&scratch);
        }
    }
}

/// A signal writes a checkpoint and the path so far, at whatever place it comes, and the resumed path ends with the same
/// bytes and the same report.
#[test]
fn interrupted_paths_end_the_same() {
    let scratch = words(300);
    let report = |arguments: &str| {
        let mut report = scratch.json(arguments);
        for key in ["model", "wall_seconds"] {
            report.remove(key);
        }
        report
    };
    let path = format!("{PATH} --eps 0.01");
    let expected = report(&format!("{path} --out plain --record plain.record"));
    // In the search for the beginning, after it, and later.
    for (signal, lines, begun) in [("INT", 0, false), ("TERM", 3, true), ("INT", 40, true)] {
        for name in ["c", "c.prev", "model", "record"] {
            let _ = fs::remove_file(scratch.path(name));
        }
        let first = format!("{path} --out model --record record --checkpoint c");
        let mut running = Running::start(&mut scratch.command(&first));
        running.wait_until(|| {
            let record = if scratch.path("record").exists() { scratch.text("record") } else { return false };
            record.lines().count() >= lines && (!begun || has_begun(&record))
        });
        running.signal(signal);
        let ran = running.finish();
        let told = "interrupted before the path had a first point: c goes on from here\n";
        let is_told = ran.stderr.is_empty() || (!begun && ran.stderr == told);
        assert!(ran.code == Some(130) && is_told, "{signal} after {lines}: {}", ran.stderr);
        assert!(!begun || scratch.path("model").exists(), "there is something to save after the first point");
        assert_eq!(report("path --resume c --quiet"), expected, "{signal} after {lines}");
        assert_same(&scratch);
    }
}

/// Writing checkpoints changes nothing; a path that a budget ended goes on with another as if that had been its own,
/// and draws its curves where it was told to.
#[test]
fn ended_paths_go_on() {
    let scratch = words(40);
    for (extra, end) in [("--eps 0.1", "passes"), ("--grid 5 --warm-start keep-dual", "passes")] {
        let path = format!("{PATH} {extra} --test letter.data");
        let long = scratch.json(&format!("{path} --passes 500 --out plain --record plain.record --svg plain.svg"));
        assert_eq!(long["stop_reason"], "lambda-min");
        let short = format!("{path} --passes 25 --out model --record record --svg svg --checkpoint c");
        let first = scratch.json(&format!("{short} --checkpoint-every 0.001"));
        assert_eq!((&first["stop_reason"], number(&first, "passes") >= 25.0), (&Value::from(end), true));
        let bytes = scratch.bytes("model");
        scratch.succeed("path --resume c --quiet");
        assert!(scratch.bytes("model") == bytes, "without a new stop it ends at once");
        scratch.succeed("path --resume c --passes 500 --quiet");
        assert_same(&scratch);
        assert!(scratch.bytes("svg") == scratch.bytes("plain.svg"));
        scratch.succeed("path --resume c --quiet --out again"); // complete: it only writes the model
        assert!(scratch.bytes("again") == scratch.bytes("plain"));
        // The whole command once more does no harm.
        scratch.succeed(&format!("{path} --passes 500 --resume c --out again"));
        assert!(scratch.bytes("again") == scratch.bytes("plain"));
    }
    // A budget too small for a first point: the search goes on from where it was.
    let ran = scratch.run(&format!("{PATH} --eps 0.1 --passes 3 --record record --out model --checkpoint d"));
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("before the path had its first point; the newest sound checkpoint is d"));
    assert_eq!(scratch.run(&format!("{PATH} --eps 0.1 --passes 3")).code, Some(1), "nor is it bad input without one");
    scratch.succeed("path --resume d --passes 500 --quiet");
    scratch.succeed(&format!("{PATH} --eps 0.1 --passes 500 --out plain --record plain.record"));
    assert_same(&scratch);
}

/// What would not be the same path is refused with what differs, and nothing is touched.
#[test]
fn what_cannot_be_resumed_is_refused() {
    let scratch = words(20).with("other.data", samples::letters(21, 48));
    scratch.succeed(&format!("{PATH} --eps 0.2 --passes 25 --out model --record record --checkpoint c"));
    scratch.succeed(&format!("{PATH} --grid 4 --passes 25 --out grid --checkpoint g"));
    scratch.succeed("train --task chain --data letter.data --passes 2 --quiet --out plain --checkpoint t");
    assert_all_refused(
        &scratch,
        "",
        [
            ("path --resume t", "error: t: it is the checkpoint of a training run, not of a path: `multiplane train"),
            ("train --resume c", "error: c: it is the checkpoint of a path, not of a training run: `multiplane path"),
            ("train --resume g", "error: g: it is the checkpoint of a grid, not of a training run: `multiplane path"),
            ("path --resume c --eps 0.1", "error: eps: the checkpoint has 0.2, found 0.1: a path is resumed as it was"),
            ("path --resume c --lambda-min 0.1", "error: lambda_min: the checkpoint has 0.002, found 0.1"),
            ("path --resume c --kappa 0.5", "error: kappa: the checkpoint has 0.9, found 0.5"),
            ("path --resume c --grid 1,0.1", "it is the checkpoint of a path, not of a grid"),
            ("path --resume c --lambda 0.1", "error: lambda: the checkpoint has 1/n, found 0.1"),
            ("path --resume c --seed 4", "error: seed: the checkpoint has 3, found 4"),
            ("path --resume c --task binary", "error: task: the checkpoint has chain, found binary"),
            ("path --resume c --solver bcfw", "error: solver: the checkpoint has auto, found bcfw"),
            ("path --resume c --data other.data", "other.data: this is not the training data of the checkpoint"),
            ("path --resume c --cv 4", "--cv: cross-validation has no checkpoints"),
            ("path --resume c --svg c", "would overwrite"),
            ("path --resume g --grid 5", "error: points.even.count: the checkpoint has 4, found 5"),
            ("path --resume g --lambda-min 0.1", "error: points.even.to: the checkpoint has 0.002, found 0.1"),
            ("path --resume g --warm-start none", "error: warm_start: the checkpoint has keep-primal, found null"),
            ("path --resume g --gap 0.3", "error: gap.absolute: the checkpoint has 0.1, found 0.3"),
            ("path --resume missing", "error: missing: the checkpoint could not be read: "),
            ("path --resume model", "error: model: it is a model, not a checkpoint"),
            (
                "verify --model model --data letter.data --checkpoint c",
                "a path or grid is not verified by a checkpoint",
            ),
            (
                "verify --model plain --data letter.data --checkpoint c",
                "it is the checkpoint of a path, not of a training",
            ),
            ("predict --model c --data letter.data", "error: c: it is a checkpoint, not a model"),
        ],
    );
    assert_refused(&scratch, &format!("{PATH} --cv 4 --checkpoint d"), "--cv: cross-validation has no checkpoints");
    assert_refused(&scratch, &format!("{PATH} --checkpoint-every 4"), "give --checkpoint PATH");
}
