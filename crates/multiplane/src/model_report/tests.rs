//! Models made by hand, whose tables and strongest weights are known.

use std::sync::Arc;

use multiplane_tasks::data::{SparseRows, Strings};
use multiplane_tasks::problem::Vocabulary;
use serde_json::{Value, json};

use super::*;
use crate::file::ModelInfo;

fn model(task: Value, vocabulary: Vocabulary, w: Vec<f64>) -> Model {
    let spec = json!({"task": task, "solver": {"name": "ssg"}, "lambda": "1/n", "seed": 0, "stop": {"passes": 3.0, "gap": null}});
    let name = task["name"].as_str().unwrap().to_owned();
    let provenance = Provenance { task: name, vocabulary, spec, fingerprint: "ab".repeat(32), n: 2 };
    Model { w, info: ModelInfo::new(provenance, 0.5, Certificate::new(0.75, None, false)) }
}

fn labels(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// A weight as text: its places, its index and its value.
fn shown(weights: &[NamedWeight]) -> Vec<String> {
    let name = |name: &ElementName| match name {
        ElementName::Text(text) => text.clone(),
        ElementName::Number(number) => format!("#{number}"),
    };
    let places = |weight: &NamedWeight| weight.at.iter().map(|(_, at)| name(at)).collect::<Vec<_>>().join(",");
    weights.iter().map(|weight| format!("{}@{}={}", places(weight), weight.index, weight.weight)).collect()
}

/// A chain with two labels, two features of text and a bias, and ends; ties go to the lower index.
#[test]
fn chains_by_hand() {
    let mut names = Strings::new();
    for name in ["w[0]\tdog", "w[0]\tthe"] {
        names.intern(name);
    }
    let own = serde_json::Map::from_iter([("template".into(), json!(["w[0]"]))]);
    let dictionary = Some(Arc::new(names));
    let vocabulary = Vocabulary { labels: labels(&["D", "N"]), features: 3, own, dictionary, ..Vocabulary::default() };
    let task = json!({"name": "chain", "bias": true, "ends": true});
    let unary = [0.0, 2.0, -3.0, 1.0, -1.0, 0.0];
    let rest = [-1.0, 4.0, 0.5, 0.0, 0.0, 0.25, 0.0, 0.0];
    let model = model(task, vocabulary, [&unary[..], &rest].concat());
    let look = ModelReport::of(&model, 2).unwrap();
    assert_eq!((look.d, look.nonzero, look.features, look.named_features), (14, 8, 3, true));
    assert_eq!(look.uncertified.as_deref(), Some("solver ssg has no dual value"));
    assert_eq!(Value::Object(look.stop.clone()), json!({"passes": 3.0}));
    assert_eq!(Value::Object(look.changed.clone()), json!({"task.bias": true, "task.ends": true}));
    let names: Vec<_> = look.tables.iter().map(|table| (table.name, table.start, table.size, table.nonzero)).collect();
    assert_eq!(names, [("unary", 0, 6, 4), ("pair", 6, 4, 3), ("start", 10, 2, 1), ("end", 12, 2, 0)]);
    let unary = &look.tables[0];
    assert_eq!(shown(&unary.by_label[0].strongest), ["D,bias@2=-3", "D,w[0]\tthe@1=2"]);
    assert_eq!(shown(&unary.by_label[1].strongest), ["N,w[0]\tdog@3=1", "N,w[0]\tthe@4=-1"]);
    let pair = &look.tables[1];
    assert_eq!(shown(&pair.highest), ["D,N@7=4", "N,D@8=0.5"]);
    assert_eq!(shown(&pair.lowest), ["D,D@6=-1"]);
    assert!(pair.by_label.is_empty());
    assert_eq!(shown(&look.tables[2].highest), ["N@11=0.25"]);
    let json = serde_json::to_value(&look).unwrap();
    assert_eq!(json["tables"][1]["highest"][0], json!({"at": {"from": "D", "to": "N"}, "index": 7, "weight": 4.0}));
    assert_eq!((&json["primal"], &json["dual"], &json["certified"]), (&json!(0.75), &Value::Null, &json!(false)));
}

/// With a kernel rows stand in the place of features; a program's weights, and a user's, are one table.
#[test]
fn rows_and_strangers() {
    let mut support = SparseRows::new(2);
    (0..3).for_each(|_| support.push(&[0], &[1.0]));
    let own = serde_json::Map::from_iter([("kernel".into(), json!({"name": "linear"}))]);
    let vocabulary = Vocabulary {
        labels: labels(&["-1", "1"]),
        features: 3,
        own,
        support: Some(Arc::new(support)),
        ..Vocabulary::default()
    };
    let task = json!({"name": "binary", "bias": true, "kernel": {"name": "linear"}});
    let look = ModelReport::of(&model(task, vocabulary, vec![0.5, 0.0, -2.0, 7.0]), 10).unwrap();
    assert_eq!((look.support_vectors, look.tables[0].name), (Some(3), "coefficient"));
    assert_eq!(shown(&look.tables[0].highest), ["bias@3=7", "#0@0=0.5"]);
    assert_eq!(shown(&look.tables[0].lowest), ["#2@2=-2"]);
    for task in ["external", "mine"] {
        let look = ModelReport::of(&model(json!({"name": task}), Vocabulary::default(), vec![0.0, 3.0]), 10).unwrap();
        assert_eq!((look.tables.len(), shown(&look.tables[0].highest)), (1, vec!["#1@1=3".to_owned()]));
    }
}

/// Every other layout: names of types, pairs, buckets, and edges.
#[test]
fn other_layouts() {
    let own = |tree: Value| tree.as_object().unwrap().clone();
    let names = |task: Value, vocabulary: Vocabulary, d: usize| {
        let w: Vec<f64> = (0..d).map(|k| k as f64 + 1.0).collect();
        let look = ModelReport::of(&model(task, vocabulary, w), 1).unwrap();
        look.tables.iter().map(|table| format!("{} {}", table.name, shown(&table.highest)[0])).collect::<Vec<_>>()
    };
    let tree = |features| Vocabulary {
        labels: labels(&["a", "b"]),
        features,
        own: own(json!({"types": ["", "up"]})),
        ..Vocabulary::default()
    };
    assert_eq!(names(json!({"name": "tree"}), tree(2), 12), ["unary b,#1@3=4", "pair up,b,b@11=12"]);
    let heads = json!({"name": "tree", "structure": {"name": "arborescence", "root": "single", "distances": [1, 3]}});
    let expected = ["root #1@1=2", "distance before its head,4-,#1@13=14", "pair #1,before its head,#1@21=22"];
    assert_eq!(names(heads, tree(2), 22), expected);
    let graph = |edge_features: usize| Vocabulary {
        labels: labels(&["0", "1"]),
        features: 1,
        own: own(json!({"edge_features": edge_features})),
        ..Vocabulary::default()
    };
    assert_eq!(names(json!({"name": "graph"}), graph(2), 4), ["unary 1,#0@1=2", "edge #1@3=4"]);
    let full = json!({"name": "graph", "pairwise": "full"});
    assert_eq!(names(full, graph(0), 6), ["unary 1,#0@1=2", "pair #0,1,1@5=6"]);
    let plain = |features| Vocabulary { features, ..Vocabulary::default() };
    assert_eq!(names(json!({"name": "mrf"}), plain(3), 3), ["feature #2@2=3"]);
    let sets = Vocabulary { labels: labels(&["a", "b", "c"]), ..plain(1) };
    assert_eq!(names(json!({"name": "multilabel"}), sets.clone(), 15), ["unary c,#1@2=3", "pair b, c,both@14=15"]);
    assert_eq!(names(json!({"name": "graph"}), sets, 15), ["unary c,#1@2=3", "pair b, c,both@14=15"]);
    let classes = Vocabulary { labels: labels(&["1", "7"]), ..plain(2) };
    assert_eq!(names(json!({"name": "multiclass"}), classes, 4), ["unary 7,#2@3=4"]);
}

/// Weights that are not as many as the labels need are refused, however large a crafted file says its tables are.
#[test]
fn misfits_are_refused() {
    for features in [3, usize::MAX / 2] {
        let vocabulary = Vocabulary { labels: labels(&["1", "7", "9"]), features, ..Vocabulary::default() };
        let error = ModelReport::of(&model(json!({"name": "multiclass"}), vocabulary, vec![1.0; 4]), 3).unwrap_err();
        assert!(error.to_string().contains("the model has 4 weights"), "{error}");
    }
}
