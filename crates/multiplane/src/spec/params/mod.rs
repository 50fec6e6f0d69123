//! Trees of parameters: overlays of documented names, dotted keys, and values as they are typed.
//!
//! A choice is a table with a `name` and the chosen variant's own fields beside it; `key=value` may give just
//! the name, and fields below it.

use serde_json::{Map, Value};

use crate::suggest;

pub use multiplane_core::parameter::{Param, ParamKind, ValueKind, Variant, from_schema, params_of, shown};

/// Lays `changes` over `base`, both tables of the parameters `params`; `path` names where they are for messages, empty
/// for the whole tree.
///
/// # Errors
///
/// An unknown name, with the names that are near, or a table that is none.
pub fn overlay(base: &mut Map<String, Value>, changes: &Value, params: &[Param], path: &str) -> Result<(), String> {
    let Some(changes) = changes.as_object() else {
        return Err(format!("{path}: expected a table of parameters, found {changes}"));
    };
    for (key, value) in changes {
        let Some(param) = params.iter().find(|param| param.name == *key) else {
            let known = params.iter().map(|param| param.name.as_str());
            let owner = if path.is_empty() { String::new() } else { format!(" of {path}:") };
            return Err(suggest::unknown(&format!("parameter{owner}"), key, known));
        };
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        let value = match &param.kind {
            ParamKind::Table(params) => {
                let mut table = base.get(key).and_then(Value::as_object).cloned().unwrap_or_default();
                overlay(&mut table, value, params, &path)?;
                Value::Object(table)
            }
            ParamKind::Choice(variants) if !(value.is_null() && param.default.is_null()) => {
                choose(base.get(key), value, variants, &path)?
            }
            ParamKind::Value(kind) if kind.is_list() => listed(value),
            _ => value.clone(),
        };
        base.insert(key.clone(), value);
    }
    Ok(())
}

/// Divides a text at its commas, but for those in brackets.
fn divided(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0i64, 0, Vec::new());
    for (at, character) in text.char_indices() {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth <= 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Reads a list that is written as text with commas, as in `1,5`; what it may hold is checked by whoever reads it.
fn listed(value: &Value) -> Value {
    match value.as_str() {
        Some(text) if text.contains(',') && !text.starts_with('[') => match divided(text).as_slice() {
            [_] => value.clone(),
            parts => Value::Array(parts.iter().map(|item| parse_value(item.trim())).collect()),
        },
        _ => value.clone(),
    }
}

/// Names the variants that have a field which the chosen one lacks.
fn check_fields(chosen: &Variant, fields: &Map<String, Value>, variants: &[Variant], path: &str) -> Result<(), String> {
    let has = |variant: &Variant, key: &str| variant.params.iter().any(|param| param.name == key);
    for key in fields.keys().filter(|key| !has(chosen, key)) {
        let able: Vec<&str> =
            variants.iter().filter(|other| has(other, key)).map(|other| other.name.as_str()).collect();
        if !able.is_empty() {
            // Names of choices further up stand between quotes.
            let dotted: String = path.split('`').step_by(2).map(|part| part.trim_end()).collect();
            let kind = dotted.rsplit('.').next().unwrap_or(&dotted).replace('_', " ");
            let article = match kind.ends_with('s') {
                true => "a choice of",
                false if kind.starts_with(['a', 'e', 'i', 'o', 'u']) => "an",
                false => "a",
            };
            let (name, able) = (&chosen.name, able.join(", "));
            return Err(format!("{dotted}.{key} needs {article} {kind} that has it: {able}; found `{name}`"));
        }
    }
    Ok(())
}

/// The table of a choice after a change: a bare name, fields of the variant at hand, or both.
fn choose(before: Option<&Value>, change: &Value, variants: &[Variant], path: &str) -> Result<Value, String> {
    let mut fields = match change {
        Value::String(name) => Map::from_iter([("name".into(), Value::String(name.clone()))]),
        Value::Object(fields) => fields.clone(),
        other => return Err(format!("{path}: expected a name, found {other}")),
    };
    let before_name = before.and_then(|before| before["name"].as_str());
    let name = match fields.remove("name") {
        Some(Value::String(name)) => name,
        Some(other) => return Err(format!("{path}: expected a name, found {other}")),
        None => before_name.unwrap_or_default().to_string(),
    };
    let Some(variant) = variants.iter().find(|variant| variant.name == name) else {
        let kind = path.rsplit('.').next().unwrap_or(path).replace('_', " ");
        return Err(suggest::unknown(&kind, &name, variants.iter().map(|variant| variant.name.as_str())));
    };
    let mut table = match before {
        Some(Value::Object(table)) if before_name == Some(name.as_str()) => table.clone(),
        _ => Map::new(),
    };
    check_fields(variant, &fields, variants, path)?;
    overlay(&mut table, &Value::Object(fields), &variant.params, &format!("{path} `{name}`"))?;
    if variant.is_bare {
        return Ok(Value::String(name));
    }
    table.insert("name".into(), Value::String(name));
    Ok(Value::Object(table))
}

/// Tables that may lie within each other: no parameter is as deep, and what is deeper would cost a frame of the stack
/// each.
const MOST_DEEP: usize = 32;

/// Sets `key` (dotted) of a tree to `value`. A scalar met on the way is the name of a choice: it moves to `name`.
/// Another name for a table that has one drops the fields of the old choice. Beyond 32 tables the rest of the key is
/// one name, which nothing has.
pub fn set(tree: &mut Map<String, Value>, key: &str, value: Value) {
    set_within(tree, key, value, MOST_DEEP);
}

fn set_within(tree: &mut Map<String, Value>, key: &str, value: Value, most: usize) {
    match key.split_once('.').filter(|_| most > 0) {
        None => match tree.get_mut(key) {
            Some(Value::Object(table)) if !value.is_object() => {
                if table.get("name").is_some_and(|name| *name != value) {
                    table.clear();
                }
                table.insert("name".into(), value);
            }
            _ => {
                tree.insert(key.into(), value);
            }
        },
        Some((first, rest)) => {
            let entry = tree.entry(first).or_insert_with(|| Value::Object(Map::new()));
            set_within(as_table(entry), rest, value, most - 1);
        }
    }
}

/// The table of an entry; a scalar becomes the name in it, and a list makes way.
fn as_table(entry: &mut Value) -> &mut Map<String, Value> {
    if entry.is_array() {
        *entry = Value::Object(Map::new());
    } else if !entry.is_object() {
        *entry = Value::Object(Map::from_iter([("name".into(), entry.take())]));
    }
    entry.as_object_mut().unwrap_or_else(|| unreachable!("it was made a table"))
}

/// Sets everything that another tree says, at every depth. Fields beside a name belong to that name, wherever in
/// `other` they were said; without one, to the choice at hand.
pub fn merge(tree: &mut Map<String, Value>, other: Map<String, Value>) {
    for (key, value) in other {
        match (tree.get_mut(&key), value) {
            (Some(entry), Value::Object(fields)) => {
                let table = as_table(entry);
                // Another name is another choice: the fields that the old one had are no longer meant.
                if fields.get("name").is_some_and(|name| table.get("name") != Some(name)) {
                    table.clear();
                }
                merge(table, fields);
            }
            (Some(Value::Object(_)), Value::String(name)) => set_name(tree, &key, &name),
            (_, value) => {
                tree.insert(key, value);
            }
        }
    }
}

/// Sets the name of a choice (or a plain value) as a flag does: another name drops the fields that the old one had.
pub fn set_name(tree: &mut Map<String, Value>, key: &str, name: &str) {
    if let Some(Value::Object(table)) = tree.get(key)
        && table.get("name").and_then(Value::as_str) != Some(name)
    {
        tree.remove(key);
    }
    set(tree, key, Value::String(name.into()));
}

/// Turns a TOML file into a tree.
///
/// # Errors
///
/// The key of a number that is not finite, or of a date: they have no place in a tree.
pub fn from_toml(table: toml::Table) -> Result<Map<String, Value>, String> {
    let mut tree = Map::new();
    for (key, value) in table {
        let value = toml_value(value).map_err(|fault| format!("{key}{fault}"))?;
        tree.insert(key, value);
    }
    Ok(tree)
}

/// One value; a fault begins with the rest of the key.
fn toml_value(value: toml::Value) -> Result<Value, String> {
    Ok(match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Boolean(truth) => Value::Bool(truth),
        toml::Value::Float(number) if number.is_finite() => number.into(),
        toml::Value::Float(number) => return Err(format!(" = {number}: must be a finite number")),
        toml::Value::Datetime(date) => return Err(format!(" = {date}: dates mean nothing here")),
        toml::Value::Array(items) => Value::Array(items.into_iter().map(toml_value).collect::<Result<_, _>>()?),
        toml::Value::Table(table) => Value::Object(from_toml(table).map_err(|fault| format!(".{fault}"))?),
    })
}

/// A value as typed on a command line: a number, `true`, `false`, a list, a table or a quoted string as in TOML, or a
/// table as in JSON; anything else is text.
pub fn parse_value(text: &str) -> Value {
    let table: Result<toml::Table, _> = format!("v = {text}").parse();
    let table = table.ok().filter(|table| table.len() == 1); // no second line
    let parsed = table.and_then(|mut table| table.remove("v")).and_then(|value| toml_value(value).ok());
    let parsed = parsed.or_else(|| text.parse().ok().map(|number: u64| number.into())); // TOML ends at 2^63
    let parsed = parsed.or_else(|| text.starts_with('{').then(|| serde_json::from_str(text).ok()).flatten());
    parsed.filter(|value| !has_null(value)).unwrap_or_else(|| Value::String(text.into()))
}

/// Returns true if there is a null inside, which no parameter means.
fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(table) => table.values().any(has_null),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
