//! Reading a tree of parameters into its config struct: what is wrong is located in the tree.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Segment;

use super::schema::{Param, ParamKind, params_of};

/// Writes a value as a user would type it.
pub fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// Writes a value as [`shown`], but a text that could be taken for a number or the like in quotes.
fn quoted(value: &Value) -> String {
    let is_like = value.as_str().is_some_and(|text| serde_json::from_str::<Value>(text).is_ok());
    if is_like { value.to_string() } else { shown(value) }
}

/// Reads `value` as a `T`. Where inside of a choice serde refuses a value it does not say: there the types of the
/// schema do.
///
/// # Errors
///
/// The parameter that `T` does not take, its value, and the rule.
pub fn read<T: DeserializeOwned + JsonSchema>(value: &Value) -> Result<T, ParameterError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path: Vec<&Segment> = error.path().iter().collect();
        let at = path.iter().try_fold(value, |value, segment| match segment {
            Segment::Map { key } => value.get(key),
            Segment::Seq { index } => value.get(*index),
            _ => None,
        });
        let name = if path.is_empty() { String::new() } else { error.path().to_string() };
        let inside = |path: &str| path.strip_prefix(&name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        let mut mistyped = mistyped(value, &params_of::<T>()).into_iter();
        let of_entry = |path: &str| name.strip_prefix(path).is_some_and(|rest| rest.starts_with('['));
        let mistyped = mistyped.find(|other| name.is_empty() || inside(&other.path) || of_entry(&other.path));
        let told = || {
            let text = error.inner().to_string();
            text.strip_prefix("missing field ").map_or(text.clone(), |field| format!("needs a value for {field}"))
        };
        mistyped.unwrap_or_else(|| {
            let found = at.unwrap_or(value);
            let (field, found) = at_fault::<T>(value, &path, found, &error.inner().to_string()).unwrap_or(("", found));
            // A choice is known by its name.
            let text = found["name"].as_str().map_or_else(|| shown(found), str::to_string);
            let error = ParameterError::new(field, text, told());
            if name.is_empty() { error } else { error.under(&name) }
        })
    })
}

/// The field of a choice that serde refuses: without it the choice is read, or something else is at fault. Of what is
/// inside a choice serde does not tell the place.
fn at_fault<'a, T: DeserializeOwned>(
    value: &Value,
    path: &[&Segment],
    choice: &'a Value,
    reason: &str,
) -> Option<(&'a str, &'a Value)> {
    let fields = choice.as_object().filter(|fields| fields.contains_key("name"))?;
    let refuses = |field: &str| {
        let mut tree = value.clone();
        let place = path.iter().try_fold(&mut tree, |place, segment| match segment {
            Segment::Map { key } => place.get_mut(key),
            Segment::Seq { index } => place.get_mut(*index),
            _ => None,
        });
        place.and_then(Value::as_object_mut).map(|fields| fields.remove(field));
        let left = serde_path_to_error::deserialize::<_, T>(&tree);
        left.map_or_else(|error| error.inner().to_string() != reason, |_| true)
    };
    let mut others = fields.iter().filter(|(field, _)| *field != "name");
    others.find(|(field, _)| refuses(field)).map(|(field, found)| (field.as_str(), found))
}

/// Lists the values of a type that the schema does not give their parameters.
fn mistyped(value: &Value, params: &[Param]) -> Vec<ParameterError> {
    let of = |param: &Param, value: &Value| match &param.kind {
        ParamKind::Value(kind) => {
            kind.broken_rule(value).map(|rule| ParameterError::new("", quoted(value), rule)).into_iter().collect()
        }
        ParamKind::Table(params) => mistyped(value, params),
        ParamKind::Choice(variants) => {
            let name = value["name"].as_str();
            let chosen = variants.iter().find(|variant| Some(variant.name.as_str()) == name);
            chosen.map_or(Vec::new(), |variant| mistyped(value, &variant.params))
        }
    };
    let found = params.iter().filter_map(|param| Some((param, of(param, value.get(&param.name)?))));
    found.flat_map(|(param, errors)| errors.into_iter().map(|error| error.under(&param.name))).collect()
}

/// Numbers with more characters than this are written with an exponent.
const LONGEST_NUMBER: usize = 24;

/// One parameter at fault. Its text reads `path = value: rule`, as in `threads = 0: must be at least 1`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path} = {value}: {rule}")]
pub struct ParameterError {
    /// The parameter's dotted name below its owner, e.g. `planes.max_idle`.
    pub path: String,
    /// The value, as a user would type it.
    pub value: String,
    /// The rule that it breaks, e.g. `must be at least 1`.
    pub rule: String,
}

impl ParameterError {
    /// Builds the complaint about `path`, which is at `value` and breaks `rule`.
    pub fn new(path: impl Into<String>, value: impl ToString, rule: impl Into<String>) -> Self {
        let (value, path, rule) = (value.to_string(), path.into(), rule.into());
        // Plain notation of 1e-300 has 302 digits.
        let long = value.parse::<f64>().ok().filter(|_| value.len() > LONGEST_NUMBER);
        ParameterError { path, value: long.map_or(value, |number| format!("{number:e}")), rule }
    }
}

impl ParameterError {
    /// The same complaint seen from the owner of the parameter's owner, to which `prefix` belongs.
    pub fn under(mut self, prefix: &str) -> Self {
        self.path = if self.path.is_empty() { prefix.into() } else { format!("{prefix}.{}", self.path) };
        self
    }
}

/// Refuses a number that is not finite or below 0.
///
/// # Errors
///
/// The parameter, its value and the rule.
pub fn not_negative(path: &str, value: f64) -> Result<(), ParameterError> {
    require(value.is_finite() && value >= 0.0, path, value, "must be a finite number >= 0")
}

/// Refuses `value` of parameter `path` unless the rule `holds`.
///
/// # Errors
///
/// The parameter, its value and the rule, where the rule does not hold.
pub fn require(holds: bool, path: &str, value: impl ToString, rule: &str) -> Result<(), ParameterError> {
    if holds { Ok(()) } else { Err(ParameterError::new(path, value, rule)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solvers::block_frank_wolfe::BlockFrankWolfe;
    use serde_json::json;

    /// Entries of lists are looked at, and fields that a choice needs are named.
    #[test]
    fn lists_and_missing_fields_are_told() {
        #[derive(Debug, serde::Deserialize, JsonSchema)]
        struct Lists {
            #[serde(default)]
            #[allow(dead_code, reason = "read only")]
            counts: Vec<u32>,
            #[serde(default)]
            #[allow(dead_code, reason = "read only")]
            weights: Option<Vec<f64>>,
            #[allow(dead_code, reason = "read only")]
            needed: f64,
        }
        for (tree, text) in [
            (
                json!({"counts": [1, 1.5], "needed": 1}),
                "counts = [1,1.5]: entry 1 must be a whole number >= 0 and at most 4294967295",
            ),
            (json!({"weights": [1, "a"], "needed": 1}), "weights = [1,\"a\"]: entry 1 must be a number"),
            (
                json!({"weights": "[1,nan]", "needed": 1}),
                "weights = [1,nan]: must be a list as JSON has it: numbers are finite, texts in quotes",
            ),
            (json!({"weights": "x", "needed": 1}), "weights = x: must be a list"),
            (json!({"counts": []}), " = {\"counts\":[]}: needs a value for `needed`"),
        ] {
            assert_eq!(read::<Lists>(&tree).unwrap_err().to_string(), text);
        }
    }

    /// A value of the wrong type is found wherever it stands, inside of choices as well.
    #[test]
    fn wrong_types_are_located() {
        for (tree, text) in [
            (json!({"gap_check": 1.5}), "gap_check = 1.5: must be a whole number >= 0 and at most 4294967295"),
            (json!({"gap_check_below": "x"}), "gap_check_below = x: must be a number"),
            (json!({"gap_check_below": "2"}), "gap_check_below = \"2\": must be a number"),
            (
                json!({"planes": {"name": "multi-plane", "slope_rule": 3}}),
                "planes.slope_rule = 3: must be true or false",
            ),
        ] {
            assert_eq!(read::<BlockFrankWolfe>(&tree).unwrap_err().to_string(), text);
        }
        let error = read::<BlockFrankWolfe>(&json!({"planes": {"name": "none of them"}})).unwrap_err();
        assert_eq!((error.path.as_str(), error.value.as_str()), ("planes.name", "none of them"));
        assert_eq!(read::<BlockFrankWolfe>(&json!({"gap_check": 3})).unwrap().gap_check, 3);
    }
}
