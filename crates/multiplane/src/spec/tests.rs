//! Defaults, notations, and mistakes with their names.

use super::*;
use multiplane_core::run::GapTarget;
use serde_json::{Value, json};

fn read(tree: Value) -> Result<RunSpec, String> {
    RunSpec::from_tree(tree.as_object().unwrap()).map_err(|error| error.to_string())
}

/// Defaults are those of the contract.
#[test]
fn defaults() {
    let spec = read(json!({"task": "chain"})).unwrap();
    assert_eq!((spec.solver.entry.name, spec.lambda), ("auto", Lambda::OneOverN));
    assert_eq!(spec.stop.gap, Some(GapTarget::Percent(1.0)));
    assert_eq!((spec.stop.passes, spec.seed, spec.threads), (Some(1000.0), 0, 1));
}

/// However it is written, the same run has the same provenance.
#[test]
fn notations_are_normalized() {
    let one = json!({"task": {"name": "chain", "template": "words p[0]"}, "stop": {"gap": "0.50"}, "data": {"folds": "3,0"}, "lambda": "1e-1"});
    let other = json!({"task": {"name": "chain", "template": ["words", "p[0]"]}, "stop": {"gap": 0.5}, "data": {"folds": [0, 3]}, "lambda": 0.1});
    assert_eq!(read(one).unwrap().provenance(), read(other).unwrap().provenance());
}

/// Mistakes are named.
#[test]
fn mistakes_are_named() {
    for (tree, part) in [
        (json!({}), "no task given"),
        (json!({"task": "chains"}), "did you mean `chain`"),
        (json!({"task": "chain", "solver": "bcwf"}), "did you mean `bcfw`"),
        (json!({"task": {"name": "chain", "ens": true}}), "did you mean `ends`"),
        (
            json!({"task": "chain", "solver": {"name": "bcfw", "planes": {"name": "multi-plane", "max_planes": -1}}}),
            "-1",
        ),
        (json!({"task": "chain", "lamda": 1}), "did you mean `lambda`"),
        (json!({"task": "chain", "stop": {"gap": "x%"}}), "gap = x%"),
        (json!({"task": "chain", "stop": {"passes": 0}}), "stop.passes = 0"),
        (json!({"task": "chain", "data": {"folds": "a"}}), "data.folds = a"),
        (json!({"task": "chain", "data": {"format": "leter"}}), "did you mean `letter`"),
        (json!({"task": "chain", "clock": "sun"}), "unknown clock `sun`: expected one of `wall`, `work`"),
        (json!({"task": "chain", "clock": "wrok"}), "unknown clock `wrok`: did you mean `work`?"),
        (
            json!({"task": "chain", "solver": {"order": {"name": "shrinking", "aging": 1}}}),
            "solver.order.aging = 1: must be a finite number greater than 1",
        ),
        (json!({"task": "chain", "stop": {"passes": "abc"}}), "stop.passes = abc: must be a number"),
        (json!({"task": "chain", "seed": -1}), "seed = -1"),
        (json!({"task": {"name": "chain", "bias": "yes"}}), "task.bias = yes: must be true or false"),
        (json!({"task": {"bias": true}}), "task.name is missing"),
        (json!({"task": "chain", "oracle": {"delay_us": -1}}), "oracle.delay_us = -1"),
        (
            json!({"task": "chain", "solver": {"name": "bcfw-gap", "gap_step": "batch", "order": {"degree": -1}}}),
            "solver.order.degree = -1",
        ),
        (json!({"task": "chain", "solver": {"name": "bcfw", "gap_step": "batch"}}), "must come with gap passes"),
    ] {
        let message = read(tree.clone()).unwrap_err();
        assert!(message.contains(part), "{tree}: {message}");
    }
    let right = json!({"task": "chain", "solver": {"name": "bcfw-gap", "gap_step": "batch"}});
    assert!(read(right).is_ok(), "a value that is right beside others");
}
