//! Where the examples come from.

use std::path::PathBuf;

use multiplane_core::parameter;
use multiplane_tasks::data::{self, Column, FORMATS, Format, ReadRules};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::holdout::Holdout;
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
    /// The folds of letter.data to use, as a list or as in `0,3` or `1-9`; all where not given, but for `test_folds`.
    #[serde(deserialize_with = "text::folds")]
    #[schemars(with = "Value")]
    pub folds: Option<Vec<u32>>,
    /// The folds of letter.data that are test data: those of the same file, and none of `folds`.
    #[serde(deserialize_with = "text::folds", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Value")]
    pub test_folds: Option<Vec<u32>>,
    /// How many of the examples are kept as test data: a share as in `20%`, or a number; drawn by `seed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Value")]
    pub holdout: Option<Holdout>,
    /// How much examples count: a file with one number >= 0 a line, for each example that is trained on, and for each that
    /// `holdout` keeps; all the same where not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<PathBuf>,
    /// What divides the columns of a table (csv): one character, or `tab`; the first of tab, `;` and `,` on its first line
    /// where not given.
    #[serde(serialize_with = "write_separator", deserialize_with = "read_separator")]
    #[schemars(with = "Option<String>")]
    pub separator: Option<char>,
    /// The column of a table (csv) that is the label: a name of its header, or a number from 1 (from -1 counted from the
    /// last); the last where not given.
    #[serde(deserialize_with = "read_column")]
    #[schemars(with = "Value")]
    pub label_column: Option<String>,
    /// Columns of a table (csv) that are left out, such as numbers of rows: names of its header, or numbers as of
    /// `label_column`; a list, or one, or several divided by commas. A model remembers them.
    #[serde(deserialize_with = "read_columns", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Value")]
    pub ignore: Option<Vec<String>>,
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

impl DataSpec {
    /// Checks what the types cannot say: test data come from one place, and are not trained on.
    pub(super) fn validate(&self) -> Result<(), Error> {
        let places = [
            ("data.test", self.test.is_some()),
            ("data.test_folds", self.test_folds.is_some()),
            ("data.holdout", self.holdout.is_some()),
        ];
        let given: Vec<&str> = places.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect();
        if let [first, second, ..] = given[..] {
            return Err(Error::input(format!("{second}: there are test data already, those of {first}")));
        }
        let trained = |fold: &&u32| self.folds.as_ref().is_some_and(|folds| folds.contains(fold));
        match self.test_folds.iter().flatten().find(trained) {
            Some(fold) => {
                Err(Error::input(format!("data.test_folds: fold {fold} is one of data.folds, which are trained on")))
            }
            None => Ok(()),
        }
    }

    /// Returns what readers are told of the files.
    pub fn rules(&self) -> ReadRules {
        let label_column = self.label_column.clone().map(Column);
        let weights = self.weights.clone();
        let ignored = self.ignore.iter().flatten().cloned().map(Column).collect();
        ReadRules { separator: self.separator, label_column, ignored, weights, ..ReadRules::default() }
    }
}

fn write_separator<S: Serializer>(separator: &Option<char>, to: S) -> Result<S::Ok, S::Error> {
    separator.map(|separator| if separator == '\t' { "tab".to_owned() } else { separator.to_string() }).serialize(to)
}

fn read_separator<'de, D: Deserializer<'de>>(from: D) -> Result<Option<char>, D::Error> {
    let Some(text) = Option::<String>::deserialize(from)? else { return Ok(None) };
    let mut characters = text.chars();
    match (text.as_str(), characters.next(), characters.next()) {
        ("tab" | "\t" | "\\t", ..) => Ok(Some('\t')),
        (_, Some(one), None) if one == ' ' || one.is_ascii_punctuation() && !matches!(one, '"' | '+' | '-' | '.') => {
            Ok(Some(one))
        }
        _ => Err(D::Error::custom("must be `tab`, a blank, or a mark such as , ; | that is no part of numbers")),
    }
}

/// A name, or a number, which may stand without quotation marks.
fn read_column<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    match Value::deserialize(from)? {
        Value::Null => Ok(None),
        value => column_of(value).map(Some).ok_or_else(|| {
            D::Error::custom("must be the name of a column, or its number, from 1 or from -1 backwards")
        }),
    }
}

/// A list of such, or one, or a text that several are written in.
fn read_columns<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<String>>, D::Error> {
    let columns = match Value::deserialize(from)? {
        Value::Null => return Ok(None),
        Value::String(names) => Some(names.split(',').map(|name| name.trim().to_owned()).collect()),
        Value::Array(columns) => columns.into_iter().map(column_of).collect(),
        one => column_of(one).map(|column| vec![column]),
    };
    columns
        .map(Some)
        .ok_or_else(|| D::Error::custom("must be names of columns, or their numbers, from 1 or from -1 backwards"))
}

/// A column by its name or number.
fn column_of(value: Value) -> Option<String> {
    match value {
        Value::String(name) => Some(name),
        Value::Number(number) if number.is_i64() && number != 0.into() => Some(number.to_string()),
        _ => None,
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
