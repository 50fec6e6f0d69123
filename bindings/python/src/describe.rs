//! Every parameter with its documentation and default, as the Rust config structs define them.

use multiplane::params::{Param, ParamKind, Variant, from_schema};
use pyo3::prelude::*;
use serde_json::{Value, json};

fn listed(params: &[Param], defaults: &Value) -> Value {
    let one = |param: &Param| {
        let default = match defaults.get(&param.name) {
            Some(value) => value.clone(),
            None => param.default.clone(),
        };
        let kind = match &param.kind {
            ParamKind::Value(kind) => json!({"type": kind.to_string()}),
            ParamKind::Table(params) => json!({"params": listed(params, &default)}),
            ParamKind::Choice(variants) => {
                let variant = |variant: &Variant| {
                    let params = listed(&variant.params, &Value::Null);
                    json!({"name": variant.name, "doc": variant.doc, "params": params})
                };
                json!({"choices": variants.iter().map(variant).collect::<Vec<_>>()})
            }
        };
        json!({"name": param.name, "doc": param.doc, "default": default, "kind": kind})
    };
    params.iter().map(one).collect()
}

/// JSON text: `{"solvers": [...], "tasks": [...]}`, each with name, summary and parameters.
#[pyfunction]
pub(crate) fn describe() -> String {
    let solvers = multiplane::solvers::SOLVERS.iter().map(|entry| {
        let params = from_schema(&(entry.schema)());
        json!({"name": entry.name, "summary": entry.summary, "has_dual": entry.has_dual,
               "params": listed(&params, &(entry.preset)())})
    });
    let tasks = multiplane::tasks::TASKS.iter().map(|entry| {
        let params = from_schema(&(entry.schema)());
        json!({"name": entry.name, "summary": entry.summary, "params": listed(&params, &(entry.defaults)())})
    });
    json!({"solvers": solvers.collect::<Vec<_>>(), "tasks": tasks.collect::<Vec<_>>()}).to_string()
}
