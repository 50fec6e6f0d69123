//! Which parameters of a run were not left at their defaults.

use serde_json::{Map, Value, json};

use crate::spec::{Choice, RunSpec};

/// Stands by itself in every description.
const APART: [&str; 4] = ["lambda", "seed", "clock", "stop"];

/// Returns the parameters of a run, by dotted name, that differ from those of a run of this task and solver that sets
/// none; `spec` is what a model file holds. A choice stands under its own name, its fields below it.
pub fn changed_parameters(spec: &Value) -> Map<String, Value> {
    let (task, solver) = (&spec["task"]["name"], &spec["solver"]["name"]);
    let tree = Map::from_iter([("task".into(), json!({ "name": task })), ("solver".into(), json!({ "name": solver }))]);
    let usual = RunSpec::from_tree(&tree).or_else(|_| {
        let name = task.as_str().unwrap_or_default().into();
        RunSpec::for_task(&tree, Choice { name, params: Map::new() }) // a user's task
    });
    let usual = usual.map_or(Value::Null, |usual| usual.provenance());
    let mut changed = Map::new();
    for (key, value) in spec.as_object().into_iter().flatten().filter(|(key, _)| !APART.contains(&key.as_str())) {
        collect(key, value, &usual[key], &mut changed);
    }
    changed.remove("task");
    changed.remove("solver");
    changed
}

/// Adds the leaves of `found` that are not those of `usual`.
fn collect(path: &str, found: &Value, usual: &Value, changed: &mut Map<String, Value>) {
    let Value::Object(table) = found else {
        if found != usual {
            changed.insert(path.into(), found.clone());
        }
        return;
    };
    for (key, value) in table {
        let path = if key == "name" { path.to_owned() } else { format!("{path}.{key}") };
        collect(&path, value, usual.get(key).unwrap_or(&Value::Null), changed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing that is left alone, everything that is set, choices under their own names.
    #[test]
    fn changes_by_hand() {
        let changed = |tree: Value| {
            let spec = RunSpec::from_tree(tree.as_object().unwrap()).unwrap();
            Value::Object(changed_parameters(&spec.provenance()))
        };
        assert_eq!(changed(json!({"task": "chain", "solver": "bcfw", "lambda": 0.5, "seed": 3})), json!({}));
        let tree = json!({
            "task": {"name": "multiclass", "bias": true},
            "solver": {"name": "mp-bcfw", "order": {"name": "gap", "degree": 2.0}},
            "oracle": {"delay_us": 5.0},
        });
        let expected = json!({
            "task.bias": true, "solver.order": "gap", "solver.order.degree": 2.0, "oracle.delay_us": 5.0
        });
        let found = changed(tree);
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(found[key], *value, "{key} in {found}");
        }
        let below_choice = found.as_object().unwrap().keys().filter(|key| !key.starts_with("solver.order"));
        assert_eq!(below_choice.collect::<Vec<_>>(), ["oracle.delay_us", "task.bias"]);
        let foreign = json!({"task": {"name": "mine", "k": 2}, "solver": {"name": "auto"}});
        assert_eq!(Value::Object(changed_parameters(&foreign)), json!({"task.k": 2}));
    }
}
