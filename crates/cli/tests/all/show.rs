//! `show`: a model laid open, held against the file that it comes from.

use crate::common::{Scratch, number};
use serde_json::{Map, Value};

/// Rows of two classes in a third of which the first feature decides.
const ROWS: &str = "1 1:2 2:1\n-1 1:-2 2:1\n1 1:1.5\n-1 1:-1 3:0.5\n";

/// That the tables of an object are all of `w`, one after the other, and their weights those of the file: of each list the
/// strongest, found by sorting all.
fn assert_weights(found: &Map<String, Value>, w: &[f64], top: usize) {
    let mut start = 0;
    let nonzero = |w: &[f64]| w.iter().filter(|weight| **weight != 0.0).count();
    assert_eq!(found["nonzero"], nonzero(w));
    let strongest = |range: std::ops::Range<usize>, key: &dyn Fn(f64) -> f64| {
        let mut all: Vec<usize> = range.filter(|&k| key(w[k]) > 0.0).collect();
        all.sort_by(|&a, &b| key(w[b]).total_cmp(&key(w[a])));
        all.truncate(top);
        all
    };
    let indices = |list: &Value| -> Vec<usize> {
        let of_weight = |weight: &Value| {
            let index = weight["index"].as_u64().unwrap() as usize;
            assert_eq!(weight["weight"], w[index]);
            index
        };
        list.as_array().unwrap().iter().map(of_weight).collect()
    };
    for table in found["tables"].as_array().unwrap() {
        let size = table["size"].as_u64().unwrap() as usize;
        let axes: u64 = table["axes"].as_array().unwrap().iter().map(|axis| axis["size"].as_u64().unwrap()).product();
        assert_eq!((table["start"].as_u64().unwrap() as usize, axes as usize), (start, size));
        let range = start..start + size;
        assert_eq!(table["nonzero"], nonzero(&w[range.clone()]));
        assert_eq!(indices(&table["highest"]), strongest(range.clone(), &|weight| weight));
        assert_eq!(indices(&table["lowest"]), strongest(range, &|weight| -weight));
        let by_label = table["by_label"].as_array().unwrap();
        for (k, label) in by_label.iter().enumerate() {
            let width = size / by_label.len();
            let row = start + k * width..start + (k + 1) * width;
            assert_eq!(label["nonzero"], nonzero(&w[row.clone()]));
            assert_eq!(indices(&label["strongest"]), strongest(row, &f64::abs), "{}", label["label"]);
        }
        start += size;
    }
    assert_eq!(start, w.len());
}

/// The text is for people: no line is wider than a terminal, and no control character is in it.
fn shown(scratch: &Scratch, arguments: &str) -> String {
    let text = scratch.succeed(&format!("show {arguments}")).stdout;
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(!text.contains(|character: char| character.is_control() && character != '\n'), "{text}");
    text
}

/// A chain on text: what was asked for, what is proven, features by name, transitions.
#[test]
fn chains_on_text() {
    let scratch = Scratch::new();
    scratch.succeed("data make chunks --out train.conll --n 60 --seed 1");
    let train = "train --task chain --data train.conll --passes 6 --clock work --seed 4";
    let set =
        "--set task.ends=true --set task.bias=true --set task.template=w[0],p[-1]|p[0] --set solver.order=uniform";
    let trained = scratch.json(&format!("{train} {set} --out model"));
    let found = scratch.json("show --model model --top 3");
    assert_eq!(scratch.json("show model --top 3"), found);
    for key in ["task", "solver", "n", "d", "lambda", "primal", "dual", "gap", "certified", "version", "seed", "clock"]
    {
        assert_eq!(found[key], trained[key], "{key}");
    }
    let changed = serde_json::json!({
        "task.ends": true, "task.bias": true, "task.template": ["w[0]", "p[-1]|p[0]"], "solver.order": "uniform"
    });
    assert_eq!(found["changed"], changed);
    assert_eq!((&found["lambda_given"], &found["stop"]), (&"1/n".into(), &serde_json::json!({"passes": 6.0})));
    assert_eq!((&found["uncertified"], &found["path"], &found["kernel"]), (&Value::Null, &Value::Null, &Value::Null));
    let w = scratch.weights("model");
    assert_weights(&found, &w, 3);

    // Names: those of the dictionary in the file, row by row; the bias is the last.
    let bytes = scratch.bytes("model");
    let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let names = std::str::from_utf8(tensors.tensor("features.names").unwrap().data()).unwrap();
    let ends = tensors.tensor("features.ends").unwrap();
    let ends: Vec<usize> = ends.data().as_chunks::<8>().0.iter().map(|end| u64::from_le_bytes(*end) as usize).collect();
    let features = number(&found, "features") as usize;
    assert_eq!(features, ends.len() + 1);
    let labels = found["labels"].as_array().unwrap();
    let table = |name: &str| {
        let tables = found["tables"].as_array().unwrap();
        tables.iter().find(|table| table["name"] == name).unwrap_or_else(|| panic!("no table {name}")).clone()
    };
    for (k, label) in table("unary")["by_label"].as_array().unwrap().iter().enumerate() {
        assert_eq!(label["label"], labels[k]);
        for weight in label["strongest"].as_array().unwrap() {
            let at = weight["index"].as_u64().unwrap() as usize - k * features;
            let start = if at == 0 { 0 } else { ends[(at - 1).min(ends.len() - 1)] };
            let expected = ends.get(at).map_or("bias", |&end| &names[start..end]);
            assert_eq!((&weight["at"]["label"], &weight["at"]["feature"]), (&labels[k], &expected.into()));
        }
    }
    let pair = table("pair");
    for weight in pair["highest"].as_array().unwrap().iter().chain(pair["lowest"].as_array().unwrap()) {
        let at = (weight["index"].as_u64().unwrap() - pair["start"].as_u64().unwrap()) as usize;
        let (from, to) = (&labels[at / labels.len()], &labels[at % labels.len()]);
        assert_eq!((&weight["at"]["from"], &weight["at"]["to"]), (from, to));
    }
    assert_eq!((&table("start")["size"], &table("end")["size"]), (&labels.len().into(), &labels.len().into()));

    let text = shown(&scratch, "model --top 3");
    for part in [
        "chain trained on 60 examples",
        ", by name, of templates w[0] p[-1]|p[0]\n",
        "task.ends=true",
        "% of the primal), certified\n",
        "\npair[from][to], ",
        "B-NP -> I-NP 0.",
        "  w[0]=",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// Tasks of every layout, and why a gap is not certified.
#[test]
fn every_task_has_tables() {
    let scratch = Scratch::new().with("two.svm", ROWS).with("three.svm", "3 1:1\n1 2:1\n2 1:1 2:1\n");
    scratch.make_each_kind();
    for (train, tables) in [
        ("--task binary --data two.svm --set task.bias=true", "feature"),
        ("--task binary --data two.svm --set task.kernel=rbf --set task.bias=true", "coefficient"),
        ("--task multiclass --data three.svm --set task.scale=max-abs", "unary"),
        ("--task tree --data trees.jsonl", "unary pair"),
        ("--task tree --data trees.jsonl --set task.structure=arborescence", "root distance pair"),
        ("--task graph --data graphs", "unary edge"),
        ("--task graph --data graphs --set task.pairwise=full", "unary pair"),
        ("--task multilabel --data scenes.multilabel", "unary pair"),
        ("--task multilabel --data scenes.multilabel --set task.pairwise=tree --set task.bias=true", "unary pair"),
        ("--task graph --data scenes.multilabel", "unary pair"),
        ("--task mrf --data mrfs", "feature"),
    ] {
        scratch.succeed(&format!("train {train} --lambda 0.1 --passes 3 --quiet --out model"));
        let found = scratch.json("show model --top 2");
        let names: Vec<&str> =
            found["tables"].as_array().unwrap().iter().map(|table| table["name"].as_str().unwrap()).collect();
        assert_eq!(names.join(" "), tables, "{train}");
        assert_weights(&found, &scratch.weights("model"), 2);
        let text = shown(&scratch, "model");
        let kernel = train.contains("kernel");
        assert_eq!(found["support_vectors"].is_u64() && text.contains("rows carry weight"), kernel, "{train}");
        assert_eq!(text.contains("divided by their scale"), train.contains("task.scale"), "{train}");
        assert_eq!(found["scaled"], train.contains("task.scale"), "{train}");
    }
    scratch.succeed("train --task binary --data two.svm --solver ssg --passes 3 --quiet --out model");
    assert_eq!(scratch.json("show model")["uncertified"], "solver ssg has no dual value");
    assert!(shown(&scratch, "model").contains("none, not certified: solver ssg has no dual value"));
    scratch.succeed("train --task binary --data two.svm --stream --quiet --out model");
    let why = &scratch.json("show model")["uncertified"];
    assert_eq!(why, "it learned from a stream, of which nothing is left to evaluate");
}

/// A path or grid lists its points; a lambda chooses one, and the weights are those of its row.
#[test]
fn paths_and_grids() {
    let scratch = Scratch::new().with("two.svm", ROWS);
    scratch.succeed("path --task binary --data two.svm --grid 1,0.1,0.01 --gap 5% --quiet --out grid");
    let all = scratch.json("show grid");
    let rows = all["path"]["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &all["path"]["kind"], &all["tables"]), (3, &"grid".into(), &Value::Null));
    assert_eq!((&all["lambda"], &all["certified"]), (&Value::Null, &Value::Null));
    let text = shown(&scratch, "grid");
    assert!(text.contains("a grid of 3 lambdas, all gaps certified.\n--lambda X shows the weights at X"), "{text}");
    let one = scratch.json("show grid --lambda 0.1");
    assert_eq!((number(&one, "lambda"), &one["primal"]), (0.1, &rows[1]["primal"]));
    assert_eq!(one["nonzero"], rows[1]["nonzero"]);
    assert!(shown(&scratch, "grid --lambda 0.1").contains("\nfeature[feature], 3: "));
    scratch.succeed("path --task binary --data two.svm --eps 0.05 --lambda-min 0.001 --quiet --out path");
    let all = scratch.json("show path");
    assert_eq!(all["path"]["kind"], "path");
    assert!(all["path"]["rows"].as_array().unwrap().len() > 3);
    shown(&scratch, "path");
    scratch.succeed("train --task binary --data two.svm --passes 3 --quiet --out model");
    for (arguments, reason) in [
        ("grid --lambda 0.5", "the grid has no such point"),
        ("grid --lambda x", "lambda = x: must be a number"),
        ("model --lambda 0.1", "--lambda: model is a model at one lambda"),
        ("two.svm", "two.svm"),
        ("absent", "absent"),
    ] {
        let ran = scratch.run(&format!("show {arguments}"));
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments}");
        assert!(ran.stderr.contains(reason), "{arguments}: {}", ran.stderr);
    }
}

/// Names that would command a terminal, or break its lines, are shown as text.
#[test]
fn names_are_escaped() {
    let tree = r#"{"nodes": [{"features": {"a\nb\u001b[31m": 1}, "label": "x\u0007y"}, {"features": {"c": 1}, "label": "z", "parent": 0}]}"#;
    let scratch = Scratch::new().with("trees.jsonl", format!("{tree}\n{tree}\n"));
    scratch.succeed("train --task tree --data trees.jsonl --passes 3 --quiet --out model");
    let text = shown(&scratch, "model");
    assert!(text.contains("a\\nb\\u001b[31m") && text.contains("x\\u0007y"), "{text}");
}
