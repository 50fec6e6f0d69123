//! Labels that are not known, completed in rounds: trained, verified, used, and refused where that cannot be.

use serde_json::{Map, Value};

use crate::common::{Scratch, number};

/// Trees of which two labels in five are not known.
fn partly_known() -> Scratch {
    let scratch = Scratch::made("trees", "jsonl", [40, 30]);
    let (mut text, mut count) = (String::new(), 0);
    for line in scratch.text("train.jsonl").lines() {
        let mut tree: serde_json::Value = serde_json::from_str(line).unwrap();
        for node in tree["nodes"].as_array_mut().unwrap() {
            count += 1;
            if count % 5 < 2 {
                node.as_object_mut().unwrap().remove("label");
            }
        }
        text += &format!("{tree}\n");
    }
    scratch.with("partly.jsonl", text)
}

/// Rounds lower the objective. The last bounds are those of the truths as completed at the weights of the model, so that
/// `verify` finds them.
#[test]
fn rounds_are_verified() {
    let scratch = partly_known();
    let train = "train --task tree --data partly.jsonl --lambda 0.05 --clock work --gap 1% --out m --set task.partial";
    let found = scratch.json(&format!("{train}=masked --record r"));
    let rounds = found["rounds"].as_array().unwrap();
    let objectives: Vec<f64> = rounds.iter().map(|round| round["objective"].as_f64().unwrap()).collect();
    assert!(objectives.windows(2).all(|two| two[1] < two[0]), "{objectives:?}");
    assert!(found["certified"] == true && number(&found, "gap") <= 0.01 * number(&found, "primal"), "{found:?}");
    assert_eq!(objectives.last(), Some(&number(&found, "primal")));
    let records = scratch.records("r");
    assert!(records.len() > rounds.len());
    // Later rounds have both bounds without a call, from planes and hinges of the rounds before.
    let is_handed_on = |record: &Map<String, Value>| {
        let bounds = [&record["dual"], &record["primal"]].map(|bound| bound.as_f64().unwrap_or(0.0));
        record["iterations"] == 0 && record["oracle_calls"] == 0 && bounds[0] > 0.0 && bounds[1] > 0.0
    };
    assert!(records.iter().any(is_handed_on), "{records:?}");
    let verified = scratch.json("verify --model m --data partly.jsonl");
    assert!(verified["verified"] == true && number(&verified, "relative_difference") < 1e-9, "{verified:?}");
    let right = number(&scratch.json("evaluate --model m --data test.jsonl"), "accuracy");
    assert!(right > 0.8, "{right}");
    let left_out = scratch.json(&format!("{train}=left-out"));
    assert!(!left_out.contains_key("rounds") && left_out["primal"] != found["primal"], "{left_out:?}");
}

/// A run that its limit ends has no bounds of its weights, and claims none.
#[test]
fn limits_leave_no_gap() {
    let scratch = partly_known();
    let train = "train --task tree --data partly.jsonl --lambda 0.05 --clock work --gap 0.0001% --out m";
    for calls in [1, 100, 400] {
        let found = scratch.json(&format!("{train} --set task.partial=masked --calls {calls}"));
        let proven = found["stop_reason"] == "gap";
        assert!(found["certified"] == proven && found["gap"].is_null() != proven, "{found:?}");
        assert_eq!(scratch.run("verify --model m --data partly.jsonl").code, Some(0), "{calls}");
    }
}

/// Each reason why there are no rounds is told, and nothing is written.
#[test]
fn what_has_no_rounds_is_refused() {
    let scratch = partly_known();
    for (rest, message) in [
        ("train --passes 3", "task.partial = masked: rounds need a gap to stop at"),
        ("train --patience 2 --test partly.jsonl", "task.partial = masked: not with patience"),
        ("train --checkpoint c", "task.partial = masked: takes several runs, of which there are no checkpoints"),
        ("train --set task.rescaling=slack", "task.partial = masked: not with a kernel or task.rescaling = slack"),
        ("path --eps 10%", "task.partial = masked: a path completes no truths"),
    ] {
        let (command, rest) = rest.split_once(' ').unwrap();
        let ran =
            scratch.run(&format!("{command} --task tree --data partly.jsonl --set task.partial=masked --out m {rest}"));
        assert!(ran.code == Some(2) && ran.stderr.contains(message), "{rest}: {:?} {}", ran.code, ran.stderr);
        assert!(!scratch.path("m").exists(), "{rest}");
    }
}
