//! Trees from end to end: data are made, a model is trained, certified, verified and used; bad files are refused.

use crate::common::{Scratch, assert_keys, number, samples};

/// Weights as the page says, certified and verified with every loss, planes of the checkpoint included; resumed runs go on;
/// what is learned is right of most words of new sentences.
#[test]
fn roles_of_words() {
    let scratch = Scratch::made("trees", "jsonl", [60, 40]);
    for settings in ["", "--set task.loss=hamming-sum --lambda 1", "--set task.bias=true --solver mp-bcfw"] {
        let train = format!("train --task tree --data train.jsonl {settings} --gap 2% --clock work");
        let [found, evaluated] = scratch.train_and_check(&train, "train.jsonl", "--gap 1%", "test.jsonl");
        assert_eq!(found["n"], 60, "{settings}");
        let features = (number(&found, "d") - 2.0 * 81.0) / 9.0; // nine roles, edges of two types
        assert!(features.fract() == 0.0 && features > 30.0, "{settings}: {found:?}");
        assert!(number(&found, "gap") <= 0.02 * number(&found, "primal"), "{settings}: {found:?}");
        assert_keys(&evaluated, "task n loss accuracy exact");
        assert!(number(&evaluated, "accuracy") > 0.85, "{settings}: {evaluated:?}");
    }
}

/// A prediction is a line of JSON, a label per node; neither labels of the data nor compression matter, and what training
/// never saw is warned of once.
#[test]
fn predictions_are_lists() {
    let scratch = Scratch::trained("tree --gap 5%", "trees", "jsonl", [60, 40]);
    let predicted = scratch.predicted("test.jsonl", 40);
    for line in &predicted {
        let labels: Vec<String> = serde_json::from_str(line).unwrap();
        assert!(labels.iter().filter(|label| *label == "root").count() <= 2, "{line}");
    }
    let text = String::from_utf8(scratch.bytes("test.jsonl")).unwrap();
    let bare = without_labels(&text);
    scratch.write("bare.jsonl.gz", samples::gzip(bare));
    assert_eq!(scratch.predicted("bare.jsonl.gz", 40), predicted);
    scratch.write(
        "new.jsonl",
        "{\"nodes\": [{\"label\": \"root\"}, {\"features\": {\"w=new\": 1}, \"label\": \"other\", \"parent\": 0, \"type\": \"across\"}]}\n",
    );
    let ran = scratch.run("evaluate --model m --data new.jsonl --json");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for warning in [
        "1 feature was never seen in training: ignored",
        "1 node has a label that training never saw",
        "1 edge has a type that training never saw: left out",
    ] {
        assert!(ran.stderr.contains(warning), "{warning}: {}", ran.stderr);
    }
}

/// The lines without their labels.
fn without_labels(text: &str) -> String {
    let mut bare = String::new();
    for line in text.lines() {
        let mut tree: serde_json::Value = serde_json::from_str(line).unwrap();
        for node in tree["nodes"].as_array_mut().unwrap() {
            node.as_object_mut().unwrap().remove("label");
        }
        bare += &format!("{tree}\n");
    }
    bare
}

/// Trees of which no label is known are left out of what is measured; nodes without one are of the others.
#[test]
fn unknown_labels_are_not_counted() {
    let scratch = Scratch::trained("tree --gap 5%", "trees", "jsonl", [60, 40]);
    let text = String::from_utf8(scratch.bytes("test.jsonl")).unwrap();
    let all = scratch.json("evaluate --model m --data test.jsonl");
    scratch.write("more.jsonl", format!("{text}{}", without_labels(&text)));
    let more = scratch.json("evaluate --model m --data more.jsonl");
    for key in ["loss", "accuracy", "exact", "n"] {
        assert_eq!(more[key], all[key], "{key}");
    }
    scratch.write("none.jsonl", without_labels(&text));
    let ran = scratch.run("evaluate --model m --data none.jsonl --json");
    assert!(ran.stderr.contains("none of the 40 examples has a known label"), "{}", ran.stderr);
}

/// What is wrong with a file is told with line and node; nothing is written.
#[test]
fn bad_files_are_refused() {
    let scratch = Scratch::made("trees", "jsonl", [60, 40]);
    let good =
        r#"{"nodes": [{"features": {"a": 1}, "label": "x"}, {"features": {"b": 1}, "label": "y", "parent": 0}]}"#;
    for (second, message) in [
        (r#"{"nodes": [{"label": "x"}"#, "bad.jsonl:2:25: found the end of the line within JSON"),
        (
            r#"{"nodes": [{"label": "x"}, {"label": "x"}]}"#,
            "bad.jsonl:2:1: found 2 nodes without any parent, expected a tree",
        ),
        (
            r#"{"nodes": [{"label": "x"}, {"parent": 0}, {"parent": 3}, {"parent": 2}]}"#,
            "node 2: found the cycle 2 -> 3 -> 2",
        ),
        (
            r#"{"nodes": [{"parent": null}, {"parent": null}]}"#,
            "bad.jsonl:2:30: node 1: found a second root after node 0",
        ),
        (r#"{"nodes": [{}, {"parent": 5}]}"#, "bad.jsonl:2:16: node 1: found parent 5, expected one of the 2 nodes"),
        (r#"{"nodes": [{}, {"parent": 1}]}"#, "bad.jsonl:2:16: node 1: found itself as parent"),
        (r#"{"nodes": [{"feature": {}}]}"#, "found the key `feature`, expected one of `features`"),
        (r#"{"nodes": [{"features": {"a": NaN}}]}"#, "found no JSON at `NaN`: expected value"),
        (r#"{"nodes": [{"features": {"a": 1e999}}]}"#, "found no JSON at `1e999`: number out of range"),
        (
            r#"{"nodes": [{"features": [1]}]}"#,
            "node 0: found a list of features, expected names with numbers as before",
        ),
    ] {
        scratch.write("bad.jsonl", format!("{good}\n{second}\n"));
        let ran = scratch.run("train --task tree --data bad.jsonl --out out");
        let told = ran.complaints("error:");
        assert!(ran.code == Some(2) && told.len() == 1, "{message}: {}", ran.stderr);
        assert!(told[0].contains("bad.jsonl:2:") && told[0].contains(message), "{message}: {}", ran.stderr);
        assert!(!scratch.path("out").exists());
    }
    let ran = scratch.run("train --task chain --data train.jsonl --out out");
    assert!(ran.code == Some(2) && ran.stderr.contains("found trees (tree)"), "{}", ran.stderr);
    scratch.succeed("train --task tree --data train.jsonl --gap 5% --quiet --out m");
    scratch.write("dense.jsonl", "{\"nodes\": [{\"features\": [1, 2]}]}\n");
    let ran = scratch.run("predict --model m --data dense.jsonl");
    assert!(ran.code == Some(2) && ran.stderr.contains("trained on features by name"), "{}", ran.stderr);
}
