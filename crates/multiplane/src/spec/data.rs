//! The files of a run's examples, and how many of these are held out.

use std::path::PathBuf;

use multiplane_core::parameter;
use multiplane_core::parameter::shown;
use multiplane_tasks::data::{self, Column, FORMATS, Format, ReadRules};
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
    /// Examples that are left out of the training data: numbers, from 0, among those of the file or of its `folds`, as
    /// a list or as in `3,17` or `0-9`.
    #[serde(deserialize_with = "text::examples", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Value")]
    pub leave_out: Option<Vec<u32>>,
    /// How much examples count: a file with one number >= 0 a line, for each example that is trained on, and for each
    /// that `holdout` keeps or `leave_out` names; all the same where not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<PathBuf>,
    /// What divides the columns of a table (csv): one character, or `tab`; the first of tab, `;` and `,` on its first
    /// line where not given.
    #[serde(serialize_with = "write_separator", deserialize_with = "read_separator")]
    #[schemars(with = "Option<String>")]
    pub separator: Option<char>,
    /// The column of a table (csv) that is the label: a name of its header, or a number from 1 (from -1 counted from
    /// the last); the last where not given. Of CoNLL-U (conllu) `upos`, which is the default, `xpos`, `lemma`, `feats`
    /// or `deprel`.
    #[serde(deserialize_with = "read_column")]
    #[schemars(with = "Value")]
    pub label_column: Option<String>,
    /// If `_` in the label's column of CoNLL-U is a label; if not, the label is not known. By default it is one of
    /// `feats` and `lemma` alone. A model remembers it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub underscore: Option<bool>,
    /// Columns of a table (csv) that are left out, such as numbers of rows: names of its header, or numbers as of
    /// `label_column`; a list, or one, or several divided by commas. Of CoNLL-U features. A model remembers them.
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
        let underscore = self.underscore;
        ReadRules { separator: self.separator, label_column, underscore, ignored, weights, ..ReadRules::default() }
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

/// How many of the training examples are kept as test data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Holdout {
    /// So many percent of them, more than 0 and less than 100.
    Percent(f64),
    /// So many, at least 1.
    Count(usize),
}

impl Holdout {
    /// Returns how many of `n` examples these are: of a share the nearest number.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where none would be held out, or none left.
    pub fn of(self, n: usize) -> Result<usize, Error> {
        let count = match self {
            Holdout::Percent(percent) => (percent / 100.0 * n as f64).round() as usize,
            Holdout::Count(count) => count,
        };
        if count == 0 || count >= n {
            let text = self.text();
            return Err(Error::input(format!(
                "data.holdout = {text}: {count} of {n} examples, expected at least 1, and at least 1 left to learn from"
            )));
        }
        Ok(count)
    }

    fn text(self) -> String {
        match self {
            Holdout::Percent(percent) => format!("{percent}%"),
            Holdout::Count(count) => count.to_string(),
        }
    }
}

impl Serialize for Holdout {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Holdout::Percent(_) => to.serialize_str(&self.text()),
            Holdout::Count(count) => to.serialize_u64(*count as u64),
        }
    }
}

impl<'de> Deserialize<'de> for Holdout {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = shown(&Value::deserialize(from)?);
        let found = match text.trim().strip_suffix('%') {
            Some(percent) => {
                percent.trim().parse().ok().filter(|percent| *percent > 0.0 && *percent < 100.0).map(Holdout::Percent)
            }
            None => text.trim().parse().ok().filter(|count| *count > 0).map(Holdout::Count),
        };
        found.ok_or_else(|| {
            D::Error::custom("must be a share above 0% and below 100% as in 20%, or a number of examples, at least 1")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Shares and numbers read and write back, and are so many examples; nonsense is refused.
    #[test]
    fn shares_and_numbers() {
        let read = |value: Value| serde_json::from_value::<Holdout>(value);
        for (value, written, expected) in [
            (json!("20%"), json!("20%"), [1, 2, 20]),
            (json!(" 12.5 % "), json!("12.5%"), [1, 1, 13]),
            (json!("3"), json!(3), [3, 3, 3]),
            (json!(3), json!(3), [3, 3, 3]),
        ] {
            let holdout = read(value).unwrap();
            assert_eq!(json!(holdout), written);
            assert_eq!([5, 10, 100].map(|n| holdout.of(n).unwrap()), expected, "{written}");
        }
        for value in [
            json!("0%"),
            json!("100%"),
            json!("nan%"),
            json!("inf%"),
            json!(0),
            json!(-3),
            json!(0.2),
            json!(true),
            json!("x"),
            json!([1]),
        ] {
            assert!(read(value.clone()).is_err(), "{value}");
        }
        for (holdout, n) in [
            (Holdout::Percent(1.0), 10),
            (Holdout::Percent(99.0), 10),
            (Holdout::Count(10), 10),
            (Holdout::Count(1), 1),
        ] {
            let error = holdout.of(n).unwrap_err().to_string();
            assert!(error.starts_with("data.holdout = ") && error.contains("expected at least 1"), "{error}");
        }
    }
}
