//! A line as JSON: its keys, and the types of their values.

use serde::Deserialize;
use serde::de::{Error, MapAccess, SeqAccess, Unexpected};

use crate::json_text::{JsonValue, deserialize_by, entries, number};

/// The keys of a line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SequenceLine {
    pub(super) tokens: Option<Vec<Token>>,
    pub(super) columns: Option<Vec<Vec<String>>>,
    pub(super) labels: Option<Vec<Option<LineLabel>>>,
}

/// A token in any of its forms.
pub(super) enum Token {
    Word(String),
    Named(FeatureObject),
    Names(Vec<String>),
    Numbers(Vec<f64>),
}

/// Names with values, in the order of the line.
pub(super) struct FeatureObject(pub(super) Vec<(String, Feature)>);

/// The value of a name.
pub(super) enum Feature {
    Number(f64),
    Text(String),
    /// Values below the name; of a vector its numbers, by their places.
    Below(FeatureObject),
    Names(Vec<String>),
}

/// A label: a text, or a whole number as its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LineLabel {
    pub(super) name: String,
    pub(super) is_text: bool,
}

/// An element of a list.
enum Cell {
    Text(String),
    Number(f64),
}

impl JsonValue for Token {
    const EXPECTED: &'static str = "a token: an object of features, a text, or a list of names or numbers";

    fn scalar(value: Unexpected<'_>) -> Option<Self> {
        if let Unexpected::Str(text) = value { Some(Token::Word(text.to_owned())) } else { None }
    }
    fn list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let (mut names, mut numbers) = (Vec::new(), Vec::new());
        while let Some(cell) = list.next_element()? {
            match cell {
                Cell::Text(name) => names.push(name),
                Cell::Number(number) => numbers.push(number),
            }
        }
        match (names.is_empty(), numbers.is_empty()) {
            (_, true) => Ok(Token::Names(names)),
            (true, false) => Ok(Token::Numbers(numbers)),
            _ => Err(A::Error::custom("texts and numbers in one list, expected names or numbers")),
        }
    }
    fn object<'de, A: MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        FeatureObject::object(object).map(Token::Named)
    }
}

impl JsonValue for FeatureObject {
    const EXPECTED: &'static str = "an object of features";

    /// Collects the entries, each name once.
    fn object<'de, A: MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        let found: Vec<(String, Feature)> = entries(object)?;
        let mut names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(A::Error::custom(format!("the name {:?} twice in an object, expected it once", pair[0]))),
            None => Ok(FeatureObject(found)),
        }
    }
}

impl JsonValue for Feature {
    const EXPECTED: &'static str = "a number, a text, true or false, or an object or a list of names";

    fn scalar(value: Unexpected<'_>) -> Option<Self> {
        match value {
            Unexpected::Bool(value) => Some(Feature::Number(f64::from(u8::from(value)))),
            Unexpected::Str(text) => Some(Feature::Text(text.to_owned())),
            other => number(other).map(Feature::Number),
        }
    }
    fn list<'de, A: SeqAccess<'de>>(list: A) -> Result<Self, A::Error> {
        Ok(match Token::list(list)? {
            Token::Numbers(numbers) => {
                let named = |(k, number): (usize, f64)| (k.to_string(), Feature::Number(number));
                Feature::Below(FeatureObject(numbers.into_iter().enumerate().map(named).collect()))
            }
            Token::Names(names) => Feature::Names(names),
            Token::Word(_) | Token::Named(_) => Feature::Names(Vec::new()),
        })
    }
    fn object<'de, A: MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        FeatureObject::object(object).map(Feature::Below)
    }
}

impl JsonValue for Cell {
    const EXPECTED: &'static str = "a name or a number";

    fn scalar(value: Unexpected<'_>) -> Option<Self> {
        match value {
            Unexpected::Str(text) => Some(Cell::Text(text.to_owned())),
            other => number(other).map(Cell::Number),
        }
    }
}

impl JsonValue for LineLabel {
    const EXPECTED: &'static str = "a label: a text or a whole number";

    fn scalar(value: Unexpected<'_>) -> Option<Self> {
        let (name, is_text) = match value {
            Unexpected::Signed(value) => (value.to_string(), false),
            Unexpected::Unsigned(value) => (value.to_string(), false),
            Unexpected::Str(text) => (text.to_owned(), true),
            _ => return None,
        };
        Some(LineLabel { name, is_text })
    }
}

deserialize_by!(deserialize_any: Token, Feature, Cell, LineLabel);
