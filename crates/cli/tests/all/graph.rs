//! Graphs from end to end: data are made, a model is trained, certified, verified and used.

use crate::common::refusals::assert_refused;
use crate::common::{Scratch, number};
use serde_json::json;

/// Weights by the contract whatever edges say and whichever engine answers; what is certified is verified, planes of the
/// checkpoint included; resumed runs go on; threads change no byte.
#[test]
fn graphs_are_trained_and_verified() {
    let scratch = Scratch::made("graphs", "safetensors", [30, 20]);
    for (settings, d) in [
        ("", 3 * 4 + 2),
        ("--set task.potts=0.001 --set task.loss=balanced", 3 * 4 + 2),
        ("--set task.loss=hamming-sum --set task.class_weights=[1,2,1]", 3 * 4 + 2),
        ("--set task.inference=trws --set task.max_iterations=10", 3 * 4 + 2),
        ("--set task.pairwise=full --set task.max_iterations=10", 3 * 4 + 2 * 9),
    ] {
        let train = format!("train --task graph --data train.safetensors {settings} --gap 5% --passes 40 --clock work");
        let [found, evaluated] =
            scratch.train_and_check(&train, "train.safetensors", "--passes 60", "test.safetensors");
        assert_eq!((&found["n"], &found["d"]), (&json!(30), &json!(d)), "{settings}");
        let w = scratch.weights("m");
        assert!(w.len() == d && (d > 14 || w[12..].iter().all(|w| *w >= 0.0)), "{settings}: {w:?}");
        scratch.succeed(&format!("{train} --quiet --threads 2 --out again"));
        assert_eq!(scratch.bytes("again"), scratch.bytes("m"), "{settings}");
        assert!(number(&evaluated, "accuracy") > 0.7, "{settings}: {evaluated:?}");
    }
}

/// Every node gets a label, those without one in the data as well; only labelled ones count.
#[test]
fn predictions_are_labels_of_all_nodes() {
    let scratch = Scratch::trained("graph --lambda 0.1 --gap 2%", "graphs", "safetensors", [30, 20]);
    for line in scratch.predicted("test.safetensors", 20) {
        let labels: Vec<u32> = line.split(' ').map(|label| label.parse().unwrap()).collect();
        assert!(labels.len() == 64 && labels.iter().all(|label| *label < 3), "{line}");
    }
}

/// The task reads sets of labels, too: labellings of a complete graph.
#[test]
fn sets_of_labels_are_complete_graphs() {
    let scratch = Scratch::new();
    scratch.succeed("data make scenes --out train.multilabel --n 60 --seed 1");
    let run = |task: &str| {
        scratch.json(&format!("train --task {task} --data train.multilabel --gap 1% --clock work --out {task}"))
    };
    let (graph, multilabel) = (run("graph"), run("multilabel"));
    assert_eq!((&graph["d"], &graph["primal"]), (&multilabel["d"], &multilabel["primal"]));
    assert_eq!(scratch.weights("graph"), scratch.weights("multilabel"));
    let verified = scratch.json("verify --model graph --data train.multilabel");
    assert_eq!(verified["verified"], true, "{verified:?}");
    assert_refused(
        &scratch,
        "train --task graph --data train.multilabel --set task.potts=1",
        "no effect on sets of labels",
    );
}

/// What is wrong with a container is told with the file, the tensor, the place and the rule.
#[test]
fn bad_containers_are_told() {
    let scratch = Scratch::made("graphs", "safetensors", [30, 20]);
    let bytes = scratch.bytes("train.safetensors");
    let header = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let train = "train --task graph --data bad.safetensors";
    for cut in [bytes.len() - 1, header + 100, 20] {
        scratch.write("bad.safetensors", &bytes[..cut]);
        assert_refused(
            &scratch,
            &format!("{train} --format graph"),
            "bad.safetensors: it is not a sound safetensors file, or cut short",
        );
    }
    let text = String::from_utf8_lossy(&bytes[8..header]).into_owned();
    let renamed = |from: &str, to: &str| {
        let mut changed = bytes.clone();
        changed[8..header].copy_from_slice(text.replace(from, to).as_bytes());
        changed
    };
    scratch.write("bad.safetensors", renamed("node_offsets", "Node_offsets"));
    assert_refused(&scratch, train, "bad.safetensors: it has no tensor `node_offsets`");
    scratch.write("bad.safetensors", renamed("node_features", "Node_features"));
    assert_refused(&scratch, train, "is none of our data");
    let mut changed = bytes.clone();
    changed[header + 8..header + 16].copy_from_slice(&999_999i64.to_le_bytes());
    scratch.write("bad.safetensors", changed);
    assert_refused(&scratch, train, "bad.safetensors: node_offsets");
    let mut nan = bytes.clone();
    let end = bytes.len();
    nan[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    scratch.write("bad.safetensors", nan);
    assert_refused(&scratch, train, "(example 29, its row 111), column 1, expected finite numbers");
    for (settings, told) in [
        ("--set task.potts=-1", "potts"),
        ("--set task.inference=tree", "the graph of example 0 has a cycle"),
        ("--set task.inference=min-cut", "needs two labels, found 3"),
        ("--set task.loss=node-weighted", "needs node_weights"),
        ("--set task.class_weights=[1,2]", "task.class_weights has 2 entries"),
        ("--set task.pairwise=sideways", "pairwise"),
    ] {
        assert_refused(&scratch, &format!("train --task graph --data train.safetensors {settings}"), told);
    }
}
