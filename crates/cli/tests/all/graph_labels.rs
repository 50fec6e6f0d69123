//! Graphs and pairwise models of which not all is known, or that do not fit what is asked of them: examples without a known
//! label, files without labels, weights that a loss ignores, features made in another way.

use crate::common::refusals::assert_refused;
use crate::common::{Scratch, describe, object};
use multiplane::data::container::{Reals, TensorToWrite, pack};
use serde_json::{Value, json};

/// Labels of three graphs of three nodes each.
const KNOWN: [i64; 9] = [0, 1, 1, 0, 0, 1, 1, 1, 0];
const TRAIN: &str = "train --task graph --data train.safetensors --lambda 0.1 --gap 1% --clock work --out m";

/// What a container holds beside features and edges.
#[derive(Default)]
struct Extra<'a> {
    labels: Option<&'a [i64]>,
    weights: Option<&'a [f64]>,
    features_id: Option<&'a str>,
}

/// Three paths of three nodes, whose first feature tells the label of `KNOWN`.
fn graphs(extra: &Extra<'_>) -> Vec<u8> {
    let features: Vec<f64> = KNOWN.iter().flat_map(|&label| [2.0 * label as f64 - 1.0, 1.0]).collect();
    let edges: Vec<i64> = [0, 1, 1, 2].repeat(3);
    let (offsets, ends) = ([0, 3, 6, 9], [0, 2, 4, 6]);
    let (features, ones) = (Reals::from(features), Reals::from(vec![1.0; 6]));
    let weights = extra.weights.map(|weights| Reals::from(weights.to_vec()));
    let mut tensors = vec![
        ("node_offsets", TensorToWrite::Integers(vec![4], &offsets)),
        ("node_features", TensorToWrite::Reals(vec![9, 2], &features)),
        ("edge_offsets", TensorToWrite::Integers(vec![4], &ends)),
        ("edges", TensorToWrite::Integers(vec![6, 2], &edges)),
        ("edge_features", TensorToWrite::Reals(vec![6, 1], &ones)),
    ];
    if let Some(labels) = extra.labels {
        tensors.push(("labels", TensorToWrite::Integers(vec![labels.len()], labels)));
    }
    if let Some(weights) = &weights {
        tensors.push(("node_weights", TensorToWrite::Reals(vec![9], weights)));
    }
    let bytes = pack(&tensors);
    match extra.features_id {
        None => bytes,
        Some(id) => {
            let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
            let mut header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
            header["__metadata__"] = json!({ "multiplane.features": id });
            let header = format!("{header:<length$}", length = header.to_string().len().next_multiple_of(8));
            [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &bytes[8 + length..]].concat()
        }
    }
}

fn labelled(labels: &[i64]) -> Vec<u8> {
    graphs(&Extra { labels: Some(labels), ..Extra::default() })
}

/// Two models of two nodes with two labels each, tied by an edge; with labels or without.
fn models(labels: Option<&[i64]>) -> Vec<u8> {
    let (offsets, ends) = ([0, 2, 4], [0, 1, 2]);
    let (rows, pairs, edges) = ([0, 2, 4, 6, 8], [0, 4, 8], [0, 1, 0, 1]);
    let unary = Reals::from([0.0, 1.0, 1.0, 0.0].repeat(4));
    let pair = Reals::from([1.0, 0.0].repeat(8));
    let mut tensors = vec![
        ("node_offsets", TensorToWrite::Integers(vec![3], &offsets)),
        ("label_offsets", TensorToWrite::Integers(vec![5], &rows)),
        ("unary_features", TensorToWrite::Reals(vec![8, 2], &unary)),
        ("edge_offsets", TensorToWrite::Integers(vec![3], &ends)),
        ("edges", TensorToWrite::Integers(vec![2, 2], &edges)),
        ("pair_offsets", TensorToWrite::Integers(vec![3], &pairs)),
        ("pair_features", TensorToWrite::Reals(vec![8, 2], &pair)),
    ];
    if let Some(labels) = labels {
        tensors.push(("labels", TensorToWrite::Integers(vec![4], labels)));
    }
    pack(&tensors)
}

/// Rows without columns take no room in a file: one cannot claim nodes, labels or edges without end by them.
#[test]
fn empty_rows_are_counted() {
    let nothing = Reals::from(Vec::<f64>::new());
    for rows in [1 << 31, 1 << 60] {
        let nodes = [0, rows as i64];
        let graph = pack(&[
            ("node_offsets", TensorToWrite::Integers(vec![2], &nodes)),
            ("node_features", TensorToWrite::Reals(vec![rows, 0], &nothing)),
            ("edge_offsets", TensorToWrite::Integers(vec![2], &[0, 0])),
            ("edges", TensorToWrite::Integers(vec![0, 2], &[])),
        ]);
        let model = pack(&[
            ("node_offsets", TensorToWrite::Integers(vec![2], &[0, 1])),
            ("label_offsets", TensorToWrite::Integers(vec![2], &nodes)),
            ("unary_features", TensorToWrite::Reals(vec![rows, 0], &nothing)),
            ("edge_offsets", TensorToWrite::Integers(vec![2], &[0, 0])),
            ("edges", TensorToWrite::Integers(vec![0, 2], &[])),
            ("pair_offsets", TensorToWrite::Integers(vec![1], &[0])),
            ("pair_features", TensorToWrite::Reals(vec![0, 2], &nothing)),
        ]);
        let scratch = Scratch::new().with("g.safetensors", graph).with("m.safetensors", model);
        for (task, tensor) in [("graph", "node_features"), ("mrf", "unary_features")] {
            let told =
                format!("`{tensor}`: found the shape [{rows}, 0], expected at most 16777216 rows without columns");
            assert_refused(&scratch, &format!("train --task {task} --data {}.safetensors", &task[..1]), &told);
        }
    }
}

/// A graph without a known label is no perfect one: it is left out of every mean, with one warning. Where none is known
/// there is no number.
#[test]
fn examples_without_a_known_label_are_left_out() {
    let scratch = Scratch::new().with("train.safetensors", labelled(&KNOWN));
    scratch.succeed(TRAIN);
    let wrong = [1, 0, 0, -1, -1, -1, -1, -1, -1]; // all of the first are wrong, the others unknown
    scratch.write("partly.safetensors", labelled(&wrong));
    scratch.write("nothing.safetensors", labelled(&[-1; 9]));
    let ran = scratch.succeed("evaluate --model m --data partly.safetensors --json");
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(found["loss"], 1.0);
    assert_eq!((&found["accuracy"], &found["exact"]), (&json!(0.0), &json!(0.0)), "{found}");
    assert_eq!((&found["n"], &found["unlabelled"]), (&json!(1), &json!(2)), "{found}");
    assert_eq!(ran.stderr.matches("warning").count(), 1, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("2 of 3 examples have no known label: they are left out of all means"),
        "{}",
        ran.stderr
    );
    let ran = scratch.succeed("evaluate --model m --data nothing.safetensors --json");
    assert_eq!(serde_json::from_str::<Value>(&ran.stdout).unwrap()["loss"], Value::Null);
    assert!(ran.stderr.contains("none of the 3 examples has a known label: nothing can be measured"), "{}", ran.stderr);
    let text = scratch.succeed("evaluate --model m --data nothing.safetensors").stdout;
    assert!(text.contains("unknown") && !text.contains('%'), "{text}");
    let trained = scratch.run(&format!("{TRAIN} --test nothing.safetensors"));
    assert!(trained.stderr.contains("test data: none of the 3 examples has a known label"), "{}", trained.stderr);
    let path = "path --task graph --data train.safetensors --grid 1,0.1 --gap 5% --quiet --out p";
    scratch.succeed(path);
    let rows = scratch.json("evaluate --model p --data nothing.safetensors");
    assert_eq!((&rows["rows"][0]["loss"], &rows["rows"][0]["accuracy"]), (&Value::Null, &Value::Null), "{rows:?}");
}

/// New graphs have no labels, and need none to be predicted; training says what is missing.
#[test]
fn files_without_labels_are_predicted() {
    let scratch = Scratch::new().with("train.safetensors", labelled(&KNOWN));
    scratch.write("new.safetensors", graphs(&Extra::default()));
    scratch.succeed(TRAIN);
    let predicted = scratch.succeed("predict --model m --data new.safetensors");
    assert_eq!(predicted.stdout, scratch.succeed("predict --model m --data train.safetensors").stdout);
    assert_eq!(predicted.stderr, "", "prediction needs no labels, so nothing is to be said");
    assert_eq!(scratch.json("evaluate --model m --data new.safetensors")["loss"], Value::Null);
    let nothing = "no node has a label: there is nothing to learn from";
    assert_refused(&scratch, "train --task graph --data new.safetensors", nothing);

    scratch.write("models.safetensors", models(Some(&[1, 0, 1, 0])));
    scratch.write("new-models.safetensors", models(None));
    scratch.succeed("train --task mrf --data models.safetensors --lambda 0.1 --quiet --out r");
    let predicted = scratch.succeed("predict --model r --data new-models.safetensors").stdout;
    assert_eq!(predicted, scratch.succeed("predict --model r --data models.safetensors").stdout);
    assert_refused(&scratch, "train --task mrf --data new-models.safetensors", nothing);
}

/// `predict --json` is one object.
#[test]
fn predictions_as_json() {
    let scratch = Scratch::new().with("train.safetensors", labelled(&KNOWN));
    scratch.succeed(TRAIN);
    let lines = scratch.succeed("predict --model m --data train.safetensors").stdout;
    let found = scratch.succeed("predict --model m --data train.safetensors --json").stdout;
    let found: Vec<_> = found.lines().map(object).collect();
    let texts: Vec<_> = found.iter().map(|object| object["prediction"].as_str().unwrap()).collect();
    assert_eq!(texts, lines.lines().collect::<Vec<_>>());
    for (k, object) in found.iter().enumerate() {
        assert_eq!(object["example"], json!(k));
        let loss = object["loss"].as_f64().unwrap();
        assert!(loss >= 0.0 && loss.is_sign_positive(), "{object:?}");
    }
    assert_eq!(found.len(), 3);
}

/// Labellings of labelled nodes do not compete with those of all nodes, so sound tasks are found sound. `--lambda` is
/// taken as by `train`.
#[test]
fn checks_compare_like_with_like() {
    let partly = [0, -1, 1, 0, -1, -1, 1, 1, 0];
    let scratch = Scratch::new().with("partly.safetensors", labelled(&partly));
    scratch.write("models.safetensors", models(Some(&[1, -1, 1, 0])));
    for settings in ["", "--set task.pairwise=full --set task.inference=trws", "--set task.inference=expansion"] {
        for seed in 0..3 {
            let check = "check --task graph --data partly.safetensors --lambda 1";
            let found = scratch.json(&format!("{check} --seed {seed} {settings}"));
            assert_eq!(found["sound"], true, "seed {seed} {settings}: {found:?}");
        }
    }
    for settings in ["", "--set task.inference=trws"] {
        let found = scratch.json(&format!("check --task mrf --data models.safetensors {settings}"));
        assert_eq!(found["sound"], true, "{settings}: {found:?}");
    }
    assert_refused(&scratch, "check --task graph --data partly.safetensors --lambda -1", "lambda");
}

/// The example on which the false alarms were seen.
#[test]
fn made_graphs_are_found_sound() {
    let scratch = Scratch::new();
    scratch.succeed("data make graphs --out g.safetensors --n 12 --seed 1");
    let found = scratch.json("check --task graph --data g.safetensors --examples 12");
    assert_eq!(found["sound"], true, "{found:?}");
}

/// Features that were made in another way than the model's give one warning; the same ones and unknown ones give none.
#[test]
fn features_of_another_making_are_warned_of() {
    let container = |id| graphs(&Extra { labels: Some(&KNOWN), features_id: id, ..Extra::default() });
    let scratch = Scratch::new().with("train.safetensors", container(Some("a")));
    scratch.succeed(TRAIN);
    for (id, warned) in [(Some("a"), false), (None, false), (Some("b"), true)] {
        scratch.write("new.safetensors", container(id));
        for command in ["predict", "evaluate"] {
            let ran = scratch.succeed(&format!("{command} --model m --data new.safetensors"));
            let text = "was trained on (other settings, or fitted on other images): build the data like";
            assert_eq!(ran.stderr.matches(text).count(), usize::from(warned), "{command} {id:?}: {}", ran.stderr);
        }
    }
}

/// Weights that a loss ignores are told once; weights that are all 0 make every error free.
#[test]
fn weights_of_nodes_that_have_no_effect() {
    let weighed = |weights| graphs(&Extra { labels: Some(&KNOWN), weights: Some(weights), ..Extra::default() });
    let scratch = Scratch::new().with("train.safetensors", weighed(&[1.0; 9]));
    let ignored = "node_weights have no effect on training with task.loss=hamming: task.loss=node-weighted";
    let stderr = scratch.succeed(TRAIN).stderr;
    assert_eq!(stderr.matches(ignored).count(), 1, "{stderr}");
    let stderr = scratch.succeed(&format!("{TRAIN} --set task.loss=node-weighted")).stderr;
    assert!(!stderr.contains("node_weights"), "{stderr}");
    assert!(!scratch.succeed("evaluate --model m --data train.safetensors").stderr.contains("node_weights"));
    scratch.write("train.safetensors", weighed(&[0.0; 9]));
    assert_refused(
        &scratch,
        "train --task graph --data train.safetensors --set task.loss=node-weighted",
        "the node_weights of all labelled nodes are 0",
    );
}

/// A file for the other of the two tasks is told with both names; so is a compressed container with what to do.
#[test]
fn other_files_are_told() {
    let scratch = Scratch::new().with("graphs.safetensors", labelled(&KNOWN));
    scratch.write("models.safetensors", models(Some(&[1, 0, 1, 0])));
    for (task, file, other) in [("mrf", "graphs", "graph"), ("graph", "models", "mrf")] {
        assert_refused(
            &scratch,
            &format!("train --task {task} --data {file}.safetensors"),
            &format!("task `{other}` reads"),
        );
    }
    let zipped = [&[0x1f, 0x8b, 8, 0][..], &labelled(&KNOWN)].concat();
    scratch.write("graphs.safetensors.gz", &zipped);
    for task in ["graph", "mrf"] {
        let train = format!("train --task {task} --data graphs.safetensors.gz");
        assert_refused(&scratch, &train, "graphs.safetensors.gz: safetensors files must not be compressed");
    }
    scratch.write("train.safetensors", labelled(&KNOWN));
    scratch.succeed("train --task graph --data train.safetensors --quiet --out m");
    let bare = scratch.bytes("train.safetensors");
    let renamed: Vec<u8> = String::from_utf8_lossy(&bare[..])
        .contains("edge_features")
        .then(|| {
            let place = bare.windows(13).position(|window| window == b"edge_features").unwrap();
            [&bare[..place], b"edge_featuros", &bare[place + 13..]].concat()
        })
        .unwrap();
    scratch.write("bare.safetensors", renamed);
    assert_refused(
        &scratch,
        "predict --model m --data bare.safetensors",
        "found 0 features of an edge, but the model has 1",
    );
}

/// A run at the default lambda says what to begin with; others, and interrupted ones, do not.
#[test]
fn small_default_lambdas_are_hinted_at() {
    let scratch = Scratch::new().with("train.safetensors", labelled(&KNOWN));
    let train = "train --task graph --data train.safetensors --clock work";
    let hint = "hint: lambda = 1/n is small here; for task `graph` begin with 1, up to 100 where";
    let [stderr, of_gap] =
        ["--passes 1", "--gap 80% --passes 50"].map(|stop| scratch.succeed(&format!("{train} {stop}")).stderr);
    assert!(stderr.contains(hint) && of_gap.contains(hint), "{stderr}{of_gap}");
    for other in ["--passes 1 --lambda 1", "--passes 1 --quiet"] {
        let stderr = scratch.succeed(&format!("{train} {other}")).stderr;
        assert!(!stderr.contains("lambda = 1/n"), "{other}: {stderr}");
    }
    let described = describe("task graph");
    assert!(described.contains("lambda to begin with: 1, up to 100 where"), "{described}");
}

/// Every loss of a task is listed, and described with the tasks that have it; oracles with bounds are not called exact.
#[test]
fn losses_and_oracles_are_described() {
    let scratch = Scratch::new();
    let listed = describe("loss");
    for loss in ["hamming", "hamming-sum", "cost-matrix", "node-weighted", "balanced"] {
        assert!(listed.contains(&format!("  {loss} ")), "{listed}");
        let described = describe(&format!("loss {loss}"));
        assert!(described.contains(&format!("{loss}: ")) && described.contains("tasks: "), "{described}");
    }
    assert!(describe("loss node-weighted").contains("tasks: graph, mrf"));
    let oracles = describe("oracle");
    for (task, exact) in [("chain", true), ("graph", false), ("mrf", false), ("multilabel", false), ("external", false)]
    {
        let line = oracles.lines().find(|line| line.trim_start().starts_with(&format!("{task} "))).unwrap();
        assert_eq!(line.contains("(exact)"), exact, "{line}");
    }
    for text in ["describe task", "train --help"] {
        let found = scratch.succeed(text).stdout;
        assert!(["graph", "mrf"].iter().all(|task| found.contains(task)), "{found}");
    }
}
