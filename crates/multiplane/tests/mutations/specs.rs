//! Run specifications (RUN.toml) and values as they are typed after `--set`.
//!
//! A specification is accepted rightly where what it says, written as a tree, is read back the same.

use std::path::Path;

use multiplane::{Error, OuterOptions, RunSpec, StreamSpec, params};
use serde_json::{Map, Value};

use crate::campaign::{Reader, Verdict};
use crate::{Row, bytes};

/// RUN.toml, `--set key=value`, and a spec as a tree of JSON.
pub(crate) fn rows() -> Vec<Row> {
    vec![
        (
            "run-toml",
            4,
            Box::new(|| Reader { corpus: texts(), mutate: bytes::mutated, read: Box::new(toml), names_file: false }),
        ),
        (
            "set",
            4,
            Box::new(|| Reader { corpus: sets(), mutate: bytes::mutated, read: Box::new(set), names_file: false }),
        ),
        (
            "spec-json",
            4,
            Box::new(|| Reader {
                corpus: trees(),
                mutate: crate::json::mutated_lines,
                read: Box::new(tree),
                names_file: false,
            }),
        ),
    ]
}

fn texts() -> Vec<Vec<u8>> {
    [
        "task = \"chain\"\nlambda = 0.01\nseed = 3\nthreads = 2\nclock = \"work\"\n[data]\npath = \"x\"\nfolds = [0, 2]\n\
         [solver]\nname = \"bcfw\"\norder = \"uniform\"\n[stop]\ngap = \"5%\"\npasses = 1e2\n",
        "task = { name = \"multiclass\", bias = true, loss = { name = \"cost-matrix\", matrix = [[0, 1], [2, 0]] } }\n\
         stop.passes = 3\noracle.delay_us = 10.0\n[path]\nlambda_min = 1e-3\neps = 0.1\n[grid]\npoints = 5\nlambda_max = 1.0\n",
        "task.name = 'multiclass'\ntask.kernel = { name = \"rbf\", gamma = 0.5 }\nregularizer.freeze = [\"1\"]\n",
    ]
    .map(|text| text.as_bytes().to_vec())
    .into()
}

fn sets() -> Vec<Vec<u8>> {
    let sets = "task=chain\nlambda=0.5\nstop.gap=1%\nsolver.order=uniform\nsolver=bcfw\nstop.passes=1e2\ndata.folds=0,3\n\
                task.loss=hamming\nthreads=2\nseed=7\npath.eps=0.1\ngrid.points=3\nclock=work\ntask.bias=true\n";
    vec![sets.as_bytes().to_vec(), b"task=multiclass\ntask.kernel.name=rbf\ntask.kernel.gamma=0.5\n".to_vec()]
}

fn trees() -> Vec<Vec<u8>> {
    let tree = |text: &[u8]| {
        let table: toml::Table = std::str::from_utf8(text).unwrap().parse().unwrap();
        serde_json::to_vec(&params::from_toml(table).unwrap()).unwrap()
    };
    texts().iter().map(|text| tree(text)).collect()
}

fn toml(_: &Path, bytes: &[u8]) -> Verdict {
    let Ok(text) = std::str::from_utf8(bytes) else { return Verdict::refused("it is not UTF-8 text") };
    let table: toml::Table = match text.parse() {
        Ok(table) => table,
        Err(error) => return Verdict::refused(Error::input(error.message())),
    };
    match params::from_toml(table) {
        Ok(tree) => specified(tree),
        Err(error) => Verdict::refused(Error::input(error)),
    }
}

fn set(_: &Path, bytes: &[u8]) -> Verdict {
    let (mut tree, text) = (Map::new(), String::from_utf8_lossy(bytes));
    for (key, value) in text.split('\n').filter_map(|line| line.split_once('=')) {
        params::set(&mut tree, key.trim(), params::parse_value(value.trim()));
    }
    let mut merged = Map::new();
    params::merge(&mut merged, tree);
    specified(merged)
}

fn tree(_: &Path, bytes: &[u8]) -> Verdict {
    match serde_json::from_slice::<Value>(bytes) {
        Ok(Value::Object(tree)) => specified(tree),
        Ok(_) => Verdict::refused("it is no table"),
        Err(error) => Verdict::refused(Error::input(error.to_string())),
    }
}

/// Reads a tree as a single run, as a loop around runs, and as a run on a stream.
fn specified(mut tree: Map<String, Value>) -> Verdict {
    let _ = StreamSpec::take(&mut tree.clone());
    let outer = match OuterOptions::take(&mut tree) {
        Ok(outer) => outer,
        Err(error) => return Verdict::refused(error),
    };
    let _ = outer.outer(None, 10.0);
    let spec = match RunSpec::from_tree(&tree) {
        Ok(spec) => spec,
        Err(error) => return Verdict::refused(error),
    };
    let written = spec.to_tree();
    Verdict::of(match RunSpec::from_tree(written.as_object().unwrap_or(&Map::new())) {
        Ok(again) if again.to_tree() == written => Ok(()),
        Ok(_) => Err("its tree reads back as something else".into()),
        Err(error) => Err(format!("its own tree is refused: {error}")),
    })
}
