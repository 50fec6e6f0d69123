//! Overlays, dotted keys, values as typed.

use super::*;
use multiplane_solvers::find;
use serde_json::json;

fn overlaid(changes: Value) -> Result<Value, String> {
    let entry = find("mp-bcfw").unwrap();
    let mut base = (entry.preset)().as_object().cloned().unwrap();
    overlay(&mut base, &changes, &from_schema(&(entry.schema)()), "solver")?;
    Ok(Value::Object(base))
}

/// A field changes beside the preset's others; a new name starts from that variant's defaults.
#[test]
fn overlays_fields_and_names() {
    let changed = overlaid(json!({"planes": {"max_planes": 5}, "order": "uniform"})).unwrap();
    assert_eq!(changed["planes"]["max_planes"], 5);
    assert_eq!(changed["planes"]["max_idle"], 10);
    assert_eq!(changed["order"], json!({"name": "uniform"}));
    let again = json!({"planes": {"name": "gap-cache"}, "step": {"name": "solve"}});
    assert_eq!(overlaid(again).unwrap()["planes"], json!({"name": "gap-cache"}));
    assert_eq!(overlaid(json!({"planes": {"recombine": "always"}})).unwrap()["planes"]["recombine"], "always");
    assert_eq!(overlaid(json!({"planes": "none"})).unwrap()["planes"], json!({"name": "none"}));
}

/// Unknown names are refused at every depth, with what is near.
#[test]
fn unknown_names_are_refused() {
    let refused = |changes| overlaid(changes).unwrap_err();
    assert!(refused(json!({"ordr": "uniform"})).contains("did you mean `order`?"));
    assert!(refused(json!({"order": "uniformly"})).contains("did you mean `uniform`?"));
    assert!(refused(json!({"planes": {"max_planez": 1}})).contains("`max_planes`"));
    assert!(
        refused(json!({"planes": {"name": "none", "max_planes": 1}}))
            .contains("planes.max_planes needs a choice of planes that has it: multi-plane")
    );
    assert!(refused(json!({"order": 3})).contains("expected a name"));
}

/// Dotted keys reach into tables, and a name and its fields may come in any order.
#[test]
fn dotted_keys() {
    let mut tree = Map::new();
    set(&mut tree, "solver.planes.max_planes", json!(5));
    set(&mut tree, "solver.planes", json!("multi-plane"));
    set(&mut tree, "solver.order", json!("gap"));
    set(&mut tree, "solver.order.degree", json!(2));
    set(&mut tree, "solver", json!("mp-bcfw"));
    assert_eq!(
        Value::Object(tree),
        json!({"solver": {"name": "mp-bcfw", "planes": {"name": "multi-plane", "max_planes": 5},
               "order": {"name": "gap", "degree": 2}}})
    );
}

/// Another name replaces a choice and keeps the fields said beside it; the same name keeps those that were there.
#[test]
fn choices_are_replaced() {
    let base = json!({"solver": {"name": "mp-bcfw", "order": {"name": "gap", "degree": 2}}});
    let merged = |sets: &[(&str, Value)]| {
        let (mut tree, mut over) = (base.as_object().cloned().unwrap(), Map::new());
        sets.iter().for_each(|(key, value)| set(&mut over, key, value.clone()));
        merge(&mut tree, over);
        tree["solver"].clone()
    };
    let cyclic = json!({"name": "mp-bcfw", "order": "cyclic"});
    assert_eq!(merged(&[("solver", json!("bcfw"))]), "bcfw");
    assert_eq!(merged(&[("solver", json!("mp-bcfw"))]), base["solver"]);
    assert_eq!(merged(&[("solver.order", json!("cyclic"))]), cyclic);
    assert_eq!(merged(&[("solver.order", json!("gap"))]), base["solver"]);
    let three = json!({"name": "weighted", "aging": 3});
    for sets in [["solver.order", "solver.order.aging"], ["solver.order.aging", "solver.order"]] {
        let value = |key: &str| if key == "solver.order" { json!("weighted") } else { json!(3) };
        assert_eq!(merged(&sets.map(|key| (key, value(key))))["order"], three, "{sets:?}");
    }
    // A field alone changes the choice at hand, also where that is a bare name.
    assert_eq!(merged(&[("solver.order.degree", json!(3))])["order"], json!({"name": "gap", "degree": 3}));
    let mut tree = json!({"solver": "bcfw"}).as_object().cloned().unwrap();
    merge(&mut tree, json!({"solver": {"order": "gap"}}).as_object().cloned().unwrap());
    assert_eq!(tree["solver"], json!({"name": "bcfw", "order": "gap"}));
    set(&mut tree, "solver", json!("mp-bcfw"));
    assert_eq!(tree["solver"], json!({"name": "mp-bcfw"}));
}

/// A value that JSON cannot hold is refused, with its key.
#[test]
fn toml_is_checked() {
    let read = |text: &str| from_toml(text.parse().unwrap());
    assert_eq!(read("a = 1\n[b]\nc = [0.5, true]").unwrap()["b"], json!({"c": [0.5, true]}));
    assert_eq!(read("[stop]\nseconds = nan").unwrap_err(), "stop.seconds = NaN: must be a finite number");
    assert_eq!(read("a = [inf]").unwrap_err(), "a = inf: must be a finite number");
    assert!(read("a = 2026-11-20").unwrap_err().contains("dates"));
}

/// Values are typed as in TOML; what is not TOML is text.
#[test]
fn values_are_typed() {
    assert_eq!(parse_value("3\nlambda = 5"), json!("3\nlambda = 5"), "no second line");
    assert_eq!(parse_value("5"), json!(5));
    assert_eq!(parse_value("1e-3"), json!(1e-3));
    assert_eq!(parse_value("true"), json!(true));
    assert_eq!(parse_value("[0, 3]"), json!([0, 3]));
    assert_eq!(parse_value("0,3"), json!("0,3"));
    assert_eq!(parse_value("mp-bcfw"), json!("mp-bcfw"));
    assert_eq!(parse_value("nan"), json!("nan"));
    assert_eq!(parse_value("1979-05-27"), json!("1979-05-27"));
    assert_eq!(parse_value("18446744073709551615"), json!(u64::MAX));
    assert_eq!(parse_value("18446744073709551616"), json!("18446744073709551616"));
    assert_eq!(parse_value("[1, inf]"), json!("[1, inf]"));
}

/// A key of many thousand names is refused as one that nobody knows, and costs no stack.
#[test]
fn keys_have_a_depth() {
    let mut tree = Map::new();
    set(&mut tree, &"a.".repeat(1 << 20), json!(1));
    let mut table = &tree;
    let mut depth = 0;
    while let Some(inner) = table.get("a").and_then(Value::as_object) {
        (table, depth) = (inner, depth + 1);
    }
    assert_eq!(depth, MOST_DEEP);
    let mut merged = Map::new();
    merge(&mut merged, tree);
    let error = crate::RunSpec::from_tree(&merged).unwrap_err().to_string();
    assert!(error.contains("no task"), "{error}");
}
