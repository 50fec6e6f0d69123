//! Names, types, defaults and documentation of parameters, taken from the JSON schema of a config struct.
//!
//! A choice is a table with a `name` and the chosen variant's own fields beside it, or the bare name where no variant
//! has fields.

use std::fmt;

use schemars::{JsonSchema, schema_for};
use serde_json::Value;

/// A parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name, without what it is nested in.
    pub name: String,
    /// Its effect.
    pub doc: String,
    /// Its default; for a choice, of the form `{"name": ...}`.
    pub default: Value,
    /// The values that it may have.
    pub kind: ParamKind,
}

/// The values of a parameter.
#[derive(Clone, Debug)]
pub enum ParamKind {
    /// A plain value.
    Value(ValueKind),
    /// A table of further parameters.
    Table(Vec<Param>),
    /// One of several named variants.
    Choice(Vec<Variant>),
}

/// The JSON types that a plain value may have; none where every value may be right.
#[derive(Clone, Debug)]
pub struct ValueKind {
    types: Vec<String>,
    most: Option<u64>,
    /// Of a list: what its entries may be.
    entries: Option<Box<ValueKind>>,
}

/// A variant of a choice.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// Its meaning.
    pub doc: String,
    /// Its own parameters.
    pub params: Vec<Param>,
    /// If it is written as its bare name, as no variant of the choice has parameters.
    pub is_bare: bool,
}

impl ValueKind {
    fn of(schema: &Value) -> Self {
        let types = match &schema["type"] {
            Value::String(name) => vec![name.clone()],
            Value::Array(names) => names.iter().filter_map(Value::as_str).map(str::to_string).collect(),
            _ => Vec::new(),
        };
        let most = match schema["format"].as_str() {
            Some("uint32") => Some(u64::from(u32::MAX)),
            Some("uint64") => Some(u64::MAX),
            _ => None,
        };
        let entries = schema["items"].is_object().then(|| Box::new(ValueKind::of(&schema["items"])));
        ValueKind { types, most, entries }
    }

    /// Returns true if it is a list, and never text.
    pub fn is_list(&self) -> bool {
        let has = |name: &str| self.types.iter().any(|known| known == name);
        has("array") && !has("string")
    }

    /// The rule that `value` breaks, if it is of no type that this may be.
    pub(super) fn broken_rule(&self, value: &Value) -> Option<String> {
        let fits = |name: &String| match name.as_str() {
            "number" => value.is_number(),
            "integer" => value.as_u64().is_some_and(|number| self.most.is_none_or(|most| number <= most)),
            "boolean" => value.is_boolean(),
            "string" => value.is_string(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            _ => value.is_null(),
        };
        if self.types.is_empty() || self.types.iter().any(fits) {
            let (entries, values) = (self.entries.as_ref()?, value.as_array()?);
            let mut broken = values.iter().enumerate().filter_map(|(k, value)| Some((k, entries.broken_rule(value)?)));
            return broken.next().map(|(k, rule)| format!("entry {k} {rule}"));
        }
        let named = self.types.iter().find(|name| *name != "null").map_or("", String::as_str);
        let rule = match (named, self.most) {
            ("number", _) => "must be a number".into(),
            ("integer", None) => "must be a whole number >= 0".into(),
            ("integer", Some(most)) => format!("must be a whole number >= 0 and at most {most}"),
            ("boolean", _) => "must be true or false".into(),
            ("string", _) => "must be text".into(),
            ("array", _) if value.as_str().is_some_and(|text| text.starts_with('[')) => {
                "must be a list as JSON has it: numbers are finite, texts in quotes".into()
            }
            ("array", _) => "must be a list".into(),
            _ => format!("must be {self}"),
        };
        Some(rule)
    }
}

impl fmt::Display for ValueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.types.is_empty() { f.write_str("value") } else { f.write_str(&self.types.join(" or ")) }
    }
}

/// Lists the parameters that a schema describes.
pub fn from_schema(schema: &schemars::Schema) -> Vec<Param> {
    let root = schema.as_value();
    object_params(root, root)
}

/// Lists the parameters of a config struct.
pub fn params_of<T: JsonSchema>() -> Vec<Param> {
    from_schema(&schema_for!(T))
}

fn object_params(object: &Value, root: &Value) -> Vec<Param> {
    let Some(properties) = object["properties"].as_object() else { return Vec::new() };
    let params = properties.iter().filter(|(name, _)| *name != "name" || object["required"].is_null());
    params.map(|(name, property)| param(name, property, root)).collect()
}

fn param(name: &str, property: &Value, root: &Value) -> Param {
    let target = match property["$ref"].as_str() {
        Some(reference) => &root["$defs"][reference.trim_start_matches("#/$defs/")],
        None => property,
    };
    let kind = match (target["oneOf"].as_array(), target["properties"].is_object()) {
        (Some(variants), _) => ParamKind::Choice(variants.iter().map(|variant| self::variant(variant, root)).collect()),
        (None, true) => ParamKind::Table(object_params(target, root)),
        (None, false) => ParamKind::Value(ValueKind::of(target)),
    };
    Param { name: name.into(), doc: doc(property), default: property["default"].clone(), kind }
}

fn variant(variant: &Value, root: &Value) -> Variant {
    let tag = &variant["properties"]["name"]["const"];
    let name = tag.as_str().or(variant["const"].as_str()).unwrap_or_default();
    let params = object_params(variant, root);
    Variant { name: name.into(), doc: doc(variant), params, is_bare: tag.is_null() }
}

fn doc(value: &Value) -> String {
    value["description"].as_str().unwrap_or_default().replace('\n', " ")
}
