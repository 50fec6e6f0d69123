//! Parameters read from a tree of values; what cannot be read is told with its name, value and rule.

use multiplane_core::parameter::ParameterError;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Reads parameters.
///
/// # Errors
///
/// A value is of the wrong type or outside of its choices; the first that is so alone is named.
pub(crate) fn parse<T: DeserializeOwned>(value: &Value) -> Result<T, ParameterError> {
    read(value.clone()).map_err(|reason| blamed::<T>(value, &reason))
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

/// Finds the value that alone is refused for the same `reason`; of a choice with fields, the field.
fn blamed<T: DeserializeOwned>(whole: &Value, reason: &str) -> ParameterError {
    let is_refused = |part: Value| read::<T>(part).is_err_and(|other| other == reason);
    for (key, value) in whole.as_object().into_iter().flatten() {
        if !is_refused(json!({ key: value })) {
            continue;
        }
        for (field, inner) in value.as_object().into_iter().flatten().filter(|(field, _)| *field != "name") {
            if is_refused(json!({ key: { "name": value["name"], field: inner } })) {
                return ParameterError::new(format!("{key}.{field}"), shown(inner), rule(reason));
            }
        }
        return ParameterError::new(key, shown(value), rule(reason));
    }
    ParameterError::new("parameters", shown(whole), rule(reason))
}

/// Returns a value as a user would type it.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// Puts a deserializer's complaint in words for users.
fn rule(reason: &str) -> &str {
    let expected = reason.rsplit_once("expected ").map_or(reason, |(_, expected)| expected);
    match expected {
        "f64" => "must be a number",
        "u64" | "u32" | "usize" => "must be a whole number >= 0",
        "a boolean" => "must be true or false",
        _ => reason,
    }
}
