//! Pairwise models from end to end: data are made, a model is trained, certified, verified and used; bad files are refused.

use crate::common::{Scratch, assert_keys, number};
use serde_json::json;

/// One weight per feature, certified and verified with every loss and engine, planes of the checkpoint included; resumed
/// runs go on; learned weights are better than none.
#[test]
fn chains_of_rotamers() {
    let scratch = Scratch::made("rotamers", "safetensors", [60, 40]);
    for settings in
        ["", "--set task.loss=hamming-sum --lambda 1", "--set task.inference=trws --set task.max_iterations=30"]
    {
        let train = format!("train --task mrf --data train.safetensors {settings} --gap 2% --clock work");
        let [found, evaluated] = scratch.train_and_check(&train, "train.safetensors", "--gap 1%", "test.safetensors");
        assert_eq!((&found["n"], &found["d"]), (&json!(60), &json!(5)), "{settings}");
        assert_eq!(scratch.weights("m").len(), 5, "{settings}");
        assert!(number(&found, "gap") <= 0.02 * number(&found, "primal"), "{settings}: {found:?}");
        assert_keys(&evaluated, "task n loss accuracy exact");
        assert!(number(&evaluated, "accuracy") > 0.8, "{settings}: {evaluated:?}");
    }
}

/// A prediction is a line of numbers, one per node, those without a label in the data among them.
#[test]
fn predictions_are_numbers() {
    let scratch = Scratch::trained("mrf --gap 5%", "rotamers", "safetensors", [60, 40]);
    for line in scratch.predicted("test.safetensors", 40) {
        let labels: Vec<u32> = line.split(' ').map(|word| word.parse().unwrap()).collect();
        assert!((8..=14).contains(&labels.len()) && labels.iter().all(|&label| label < 6), "{line}");
    }
}

/// A tensor's bytes in a container.
fn tensor(bytes: &[u8], name: &str) -> std::ops::Range<usize> {
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let offset = |place: usize| header[name]["data_offsets"][place].as_u64().unwrap() as usize + 8 + length;
    offset(0)..offset(1)
}

/// What is wrong with a container is told with the file, the array and the example; nothing is written.
#[test]
fn bad_files_are_refused() {
    let scratch = Scratch::made("rotamers", "safetensors", [60, 40]);
    let good = scratch.bytes("train.safetensors");
    let integer = |name: &str, at: usize, value: i64| {
        let mut bytes = good.clone();
        let start = tensor(&bytes, name).start + 8 * at;
        bytes[start..start + 8].copy_from_slice(&value.to_le_bytes());
        bytes
    };
    let single = |name: &str, at: usize, value: f32| {
        let mut bytes = good.clone();
        let start = tensor(&bytes, name).start + 4 * at;
        bytes[start..start + 4].copy_from_slice(&value.to_le_bytes());
        bytes
    };
    for (bytes, message) in [
        (good[..good.len() - 5].to_vec(), "cut short"),
        (integer("node_offsets", 60, 7), "node_offsets[60]: found 7"),
        (integer("label_offsets", 1, 0), "label_offsets: found a node without a label at row 0 (example 0, its row 0)"),
        (integer("labels", 9, 6), "labels: found 6 at row 9 (example"),
        (integer("labels", 9, -2), "labels: found -2 at row 9 (example"),
        (integer("edges", 1, 99), "edges: found node 99 of an example with"),
        (integer("edges", 1, 0), "edges: found an edge from node 0 to itself at row 0 (example 0, its row 0)"),
        (integer("pair_offsets", 1, 0), "pair_offsets: found 0 rows for the edge at row 0 (example 0, its row 0)"),
        (integer("pair_feature_columns", 0, 7), "found no column of feature 5"),
        (integer("unary_feature_columns", 0, 1), "unary_feature_columns: found 1 twice"),
        (integer("unary_feature_columns", 0, -1), "tensor `unary_feature_columns`: found -1"),
        (single("unary_features", 4, f32::NAN), "unary_features: found NaN in row 1, column 1"),
        (single("pair_features", 5, f32::INFINITY), "pair_features: found inf in row 1, column 2"),
    ] {
        scratch.write("bad.safetensors", bytes);
        let ran = scratch.run("train --task mrf --data bad.safetensors --out out");
        let told = ran.complaints("error:");
        assert!(ran.code == Some(2) && told.len() == 1, "{message}: {}", ran.stderr);
        assert!(told[0].contains("bad.safetensors") && told[0].contains(message), "{message}: {}", ran.stderr);
        assert!(!scratch.path("out").exists());
    }
    for (arguments, message) in [
        ("--set task.loss=node-weighted", "task.loss=node-weighted needs node_weights"),
        ("--set task.inference=tree", "task.inference=tree needs models without cycles, and example 0 has one"),
        (
            "--set task.inference=min-cut",
            "unknown inference `min-cut`: expected one of `auto`, `tree`, `brute`, `trws`",
        ),
        ("--set task.max_iterations=0", "task.max_iterations = 0: must be at least 1"),
    ] {
        let ran = scratch.run(&format!("train --task mrf --data train.safetensors {arguments} --out out"));
        assert!(ran.code == Some(2) && ran.stderr.contains(message), "{arguments}: {}", ran.stderr);
    }
    let ran = scratch.run("train --task graph --data train.safetensors --out out");
    assert!(ran.code == Some(2) && ran.stderr.contains("reads graphs, found pairwise models"), "{}", ran.stderr);
}
