//! Where the examples come from.

use std::path::PathBuf;

use multiplane_core::parameter;
use multiplane_tasks::data::{self, FORMATS, Format};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::params::{overlay, params_of};
use super::text;
use crate::error::Error;

/// Where the examples come from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DataSpec {
    /// The training data.
    pub path: Option<PathBuf>,
    /// The test data, if any.
    pub test: Option<PathBuf>,
    /// The format; guessed from name and content where not given.
    #[serde(serialize_with = "write_format", deserialize_with = "read_format")]
    #[schemars(schema_with = "format_schema")]
    pub format: Option<Format>,
    /// The folds of letter.data to use, as a list or as in `0,3`; all where not given.
    #[serde(deserialize_with = "text::folds")]
    #[schemars(with = "Value")]
    pub folds: Option<Vec<u32>>,
}

impl DataSpec {
    /// Reads a table of `data` parameters.
    ///
    /// # Errors
    ///
    /// An unknown name, or a parameter with the rule that it breaks.
    pub fn from_table(table: &Map<String, Value>) -> Result<DataSpec, Error> {
        let mut tree = Map::new();
        overlay(&mut tree, &Value::Object(table.clone()), &params_of::<DataSpec>(), "data").map_err(Error::Input)?;
        Ok(parameter::read(&Value::Object(tree)).map_err(|error| error.under("data"))?)
    }
}

fn write_format<S: Serializer>(format: &Option<Format>, to: S) -> Result<S::Ok, S::Error> {
    format.map(|format| format.name).serialize(to)
}

fn read_format<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Format>, D::Error> {
    let Some(name) = Option::<String>::deserialize(from)? else { return Ok(None) };
    data::find(&name).map(Some).ok_or_else(|| D::Error::custom("must be the name of a format"))
}

/// One name of several, as of an enum.
fn format_schema(_: &mut SchemaGenerator) -> Schema {
    let names: Vec<Value> =
        FORMATS.iter().map(|format| json!({"const": format.name, "description": format.description})).collect();
    json_schema!({ "oneOf": names })
}
