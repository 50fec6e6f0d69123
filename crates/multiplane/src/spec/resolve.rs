//! Parts of a specification read off a tree: defaults filled in, names and types checked.

use multiplane_core::clock::ClockKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{DEFAULT_SOLVER, Named, find_solver, find_task, shown};
use crate::error::Error;
use crate::names;
use crate::params::{self, Param};

pub(super) fn resolve_task(value: &Value) -> Result<Named, Error> {
    let (name, changes) = split_name(value, "task")?;
    let entry = find_task(&name)?;
    let params = params::from_schema(&(entry.schema)());
    let table = overlaid((entry.defaults)(), &changes, &params, "task", entry.name)?;
    let config = (entry.parse)(&Value::Object(table)).map_err(|error| Error::input(format!("task.{error}")))?;
    let params = match config.value() {
        Value::Object(params) => params,
        _ => Map::new(), // parameters are a table
    };
    Ok(Named { params, name: entry.name.into() })
}

pub(super) fn resolve_solver(value: &Value) -> Result<Named, Error> {
    let (name, changes) = match value {
        Value::Null => (DEFAULT_SOLVER.into(), Map::new()),
        value => split_name(value, "solver")?,
    };
    let entry = find_solver(&name)?;
    let params = params::from_schema(&(entry.schema)());
    let named =
        Named { params: overlaid((entry.preset)(), &changes, &params, "solver", entry.name)?, name: entry.name.into() };
    // Building it for the smallest problem finds values of the wrong type now, before any data is read.
    check_types("solver", &named.params, |value| (entry.build)(value, 1, 1, 1.0.into()).err())?;
    Ok(named)
}

/// `"name"` or `{name: ..., parameters}`.
fn split_name(value: &Value, what: &str) -> Result<(String, Map<String, Value>), Error> {
    match value {
        Value::String(name) => Ok((name.clone(), Map::new())),
        Value::Object(table) => {
            let mut table = table.clone();
            match table.remove("name") {
                Some(Value::String(name)) => Ok((name, table)),
                None if what == "solver" => Ok((DEFAULT_SOLVER.into(), table)),
                Some(other) => Err(Error::input(format!("{what}: expected a name, found {other}"))),
                None => Err(Error::input(format!("{what}: no name given: {what}.name is missing"))),
            }
        }
        other => Err(Error::input(format!("{what}: expected a name, found {other}"))),
    }
}

fn overlaid(
    defaults: Value,
    changes: &Map<String, Value>,
    params: &[Param],
    what: &str,
    name: &str,
) -> Result<Map<String, Value>, Error> {
    let mut base = defaults.as_object().cloned().unwrap_or_default();
    let path = format!("{what} `{name}`");
    params::overlay(&mut base, &Value::Object(changes.clone()), params, &path).map_err(Error::Input)?;
    Ok(base)
}

/// One table of the tree, its names checked.
pub(super) fn section<T: Default + Serialize + for<'a> Deserialize<'a> + JsonSchema>(
    tree: &Map<String, Value>,
    key: &str,
) -> Result<T, Error> {
    let Some(value) = tree.get(key) else { return Ok(T::default()) };
    let params = params::from_schema(&schemars::schema_for!(T));
    let mut base = Map::new();
    params::overlay(&mut base, value, &params, key).map_err(Error::Input)?;
    check_types(key, &base, |value| serde_json::from_value::<T>(value).err().map(|error| error.to_string()))?;
    serde_json::from_value(Value::Object(base)).map_err(|error| Error::input(format!("{key}: {error}")))
}

/// Finds the value that makes `fault` complain, one key at a time, so that the message can name it. A value may be at
/// fault alone that is not beside the others, so only what is wrong with all of them counts.
fn check_types(what: &str, table: &Map<String, Value>, fault: impl Fn(Value) -> Option<String>) -> Result<(), Error> {
    let Some(whole) = fault(Value::Object(table.clone())) else { return Ok(()) };
    let to_blame = |part: Value| fault(part).is_some_and(|reason| reason == whole);
    for (key, value) in table {
        if !to_blame(json!({ key: value })) {
            continue;
        }
        // Of a choice with fields, the field to blame.
        for (field, inner) in value.as_object().into_iter().flatten().filter(|(field, _)| *field != "name") {
            if to_blame(json!({ key: { "name": value["name"], field: inner } })) {
                let name = format!("{key}.{field}");
                let (shown, rule) = (shown(inner), plainly(unnamed(&name, &whole)));
                return Err(Error::input(format!("{what}.{name} = {shown}: {rule}")));
            }
        }
        let rule = plainly(unnamed(key, &whole));
        return Err(Error::input(format!("{what}.{key} = {}: {rule}", shown(value))));
    }
    Err(Error::input(format!("{what}: {}", plainly(&whole))))
}

/// The rule alone, of a complaint that begins with the parameter and its value itself.
fn unnamed<'a>(name: &str, reason: &'a str) -> &'a str {
    let value = reason.strip_prefix(name).and_then(|rest| rest.strip_prefix(" = "));
    value.and_then(|value| value.split_once(": ")).map_or(reason, |(_, rule)| rule)
}

/// A deserializer's complaint in words for users.
fn plainly(reason: &str) -> String {
    let expected = reason.rsplit_once("expected ").map_or(reason, |(_, expected)| expected);
    match expected {
        "f64" => "must be a number".into(),
        "u64" | "u32" | "usize" => "must be a whole number >= 0".into(),
        "a boolean" => "must be true or false".into(),
        _ => reason.into(),
    }
}

/// The clock of a run.
pub(super) fn clock(tree: &Map<String, Value>) -> Result<ClockKind, Error> {
    const KNOWN: [&str; 2] = ["wall", "work"];
    match tree.get("clock") {
        Some(Value::String(name)) if !KNOWN.contains(&name.as_str()) => {
            Err(Error::Input(names::unknown("clock", name, KNOWN)))
        }
        _ => scalar(tree, "clock", ClockKind::Wall),
    }
}

pub(super) fn scalar<T: for<'a> Deserialize<'a>>(tree: &Map<String, Value>, key: &str, default: T) -> Result<T, Error> {
    match tree.get(key) {
        None => Ok(default),
        Some(value) => serde_json::from_value(value.clone())
            .map_err(|error| Error::input(format!("{key} = {}: {}", shown(value), plainly(&error.to_string())))),
    }
}
