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
    assert_eq!((spec.stop.passes, spec.seed, spec.threads), (Some(1000.0), 0, 0));
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

fn loops(tree: Value, n: usize) -> Result<Outer, String> {
    let mut tree = tree.as_object().unwrap().clone();
    let options = OuterOptions::take(&mut tree).map_err(|error| error.to_string())?;
    assert!(!tree.contains_key("path") && !tree.contains_key("grid"));
    options.outer(Some(GapTarget::Percent(2.0)), n as f64).map_err(|error| error.to_string())
}

/// Paths and grids are read off the same tree: defaults, numbers as text, what a grid takes from the rest.
#[test]
fn loops_are_read_off_the_tree() {
    assert_eq!(loops(json!({"task": "chain"}), 4), Ok(Outer::Path(PathSpec::default())));
    let path = json!({"path": {"eps": "0.5", "kappa": 0.25, "lambda_min": 1}});
    assert_eq!(
        loops(path, 4),
        Ok(Outer::Path(PathSpec { eps: 0.5.into(), kappa: 0.25, lambda_min: 1.0, lambda_max: None }))
    );
    let even = json!({"path": {"eps": 0.5, "lambda_min": 0.01}, "grid": {"points": 3, "lambda_max": "1/n"}});
    let Ok(Outer::Grid(grid)) = loops(even, 4) else { panic!("not a grid") };
    assert_eq!(grid.points, GridPoints::Even { count: 3, from: Some(0.25), to: 0.01 });
    assert_eq!((grid.gap, grid.start_gap), (GapTarget::Percent(2.0), 0.45));
    let list = json!({"grid": {"points": "1, 0.1", "gap": 0.3, "warm_start": "none"}});
    let Ok(Outer::Grid(grid)) = loops(list, 4) else { panic!("not a grid") };
    assert_eq!((grid.points, grid.gap), (GridPoints::List(vec![1.0, 0.1]), GapTarget::Absolute(0.3)));
    assert_eq!(grid.warm_start, None);
}

/// The tree of a loop gives the same loop again, whatever else would be filled in.
#[test]
fn loops_survive_their_tree() {
    for tree in [
        json!({"path": {"eps": 0.1, "kappa": 0.3, "lambda_min": 1e-3}}),
        json!({"path": {"eps": 0.7}, "grid": {"points": [3, 0.1], "warm_start": "keep-dual"}}),
        json!({"path": {"kappa": 0.3, "lambda_min": 1e-3}, "grid": {"points": 7, "lambda_max": "c:2", "gap": "1%"}}),
        json!({"grid": {"points": "7", "start_gap": 0.123}}),
    ] {
        let outer = loops(tree, 5).unwrap();
        assert_eq!(loops(Value::Object(outer.to_tree()), 9), Ok(outer));
    }
}

/// An impossible loop is refused with parameter, value and rule.
#[test]
fn impossible_loops_are_refused() {
    for (tree, message) in [
        (json!({"path": {"eps": "half"}}), "path.eps = half: must be a number"),
        (json!({"path": {"eps": 0}}), "path.eps = 0: must be a number > 0"),
        (json!({"path": {"kappa": 1}}), "path.kappa = 1: must be greater than 0 and less than 1"),
        (json!({"path": {"kapa": 1}}), "unknown parameter of path: `kapa`: did you mean `kappa`?"),
        (json!({"grid": {"points": [1, "x"]}}), "grid.points[1] = x: must be a number"),
        (json!({"grid": {"points": []}}), "grid.points = []: must be at least one lambda"),
        (json!({"grid": {"points": 1}}), "grid.points = 1: a grid of 1 points: expected at least 2"),
        (json!({"grid": {"points": [1, -1]}}), "grid.lambda = -1: must be a finite number > 0"),
        (json!({"grid": {"points": 3, "lambda_max": "0"}}), "grid.lambda_max = 0: must be a number > 0, `1/n`"),
        (json!({"grid": {"points": [0.1, 1]}}), "grid.points = 0.1,1: lambdas must fall"),
        (json!({"grid": {"points": 3, "warm_start": "keep"}}), "unknown warm start `keep`: did you mean `keep-"),
        (json!({"grid": 3}), "grid: expected a table of parameters, found 3"),
    ] {
        let found = loops(tree.clone(), 4).unwrap_err();
        assert!(found.starts_with(message), "{tree}: {found}");
    }
    let single = read(json!({"task": "chain", "path": {"eps": 0.1}})).unwrap_err();
    assert!(single.starts_with("unknown parameter `path`"), "a parameter that plays no part: {single}");
}
