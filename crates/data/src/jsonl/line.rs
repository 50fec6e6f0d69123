//! A line as JSON: what keys there are, and what their values must be.

use std::fmt;

use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// The keys of a line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SequenceLine {
    pub(super) tokens: Option<Vec<Token>>,
    pub(super) columns: Option<Vec<Vec<String>>>,
    pub(super) labels: Option<Vec<LineLabel>>,
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
    Below(FeatureObject),
    Names(Vec<String>),
}

/// A label: a text, or a whole number as its text.
pub(super) struct LineLabel(pub(super) String);

/// An element of a list.
enum Cell {
    Text(String),
    Number(f64),
}

/// Collects the entries of an object, each name once.
fn features<'de, A: MapAccess<'de>>(mut map: A) -> Result<FeatureObject, A::Error> {
    let mut found: Vec<(String, Feature)> = Vec::new();
    while let Some(entry) = map.next_entry()? {
        found.push(entry);
    }
    let mut names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(A::Error::custom(format!("the name {:?} twice in an object, expected it once", pair[0]))),
        None => Ok(FeatureObject(found)),
    }
}

impl<'de> Deserialize<'de> for Token {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Token;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a token: an object of features, a text, or a list of names or numbers")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Token, E> {
                Ok(Token::Word(text.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Token, A::Error> {
                features(map).map(Token::Named)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Token, A::Error> {
                let (mut names, mut numbers) = (Vec::new(), Vec::new());
                while let Some(cell) = seq.next_element()? {
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
        }
        deserializer.deserialize_any(Any)
    }
}

impl<'de> Deserialize<'de> for FeatureObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = FeatureObject;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of features")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<FeatureObject, A::Error> {
                features(map)
            }
        }
        deserializer.deserialize_map(Object)
    }
}

impl<'de> Deserialize<'de> for Feature {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Feature;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a text, true or false, or an object or a list of names")
            }
            fn visit_bool<E: Error>(self, value: bool) -> Result<Feature, E> {
                Ok(Feature::Number(f64::from(u8::from(value))))
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<Feature, E> {
                Ok(Feature::Number(value as f64))
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<Feature, E> {
                Ok(Feature::Number(value as f64))
            }
            fn visit_f64<E: Error>(self, value: f64) -> Result<Feature, E> {
                Ok(Feature::Number(value))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Feature, E> {
                Ok(Feature::Text(text.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Feature, A::Error> {
                features(map).map(Feature::Below)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Feature, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = seq.next_element()? {
                    names.push(name);
                }
                Ok(Feature::Names(names))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = Cell;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name or a number")
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<Cell, E> {
                Ok(Cell::Number(value as f64))
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<Cell, E> {
                Ok(Cell::Number(value as f64))
            }
            fn visit_f64<E: Error>(self, value: f64) -> Result<Cell, E> {
                Ok(Cell::Number(value))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Cell, E> {
                Ok(Cell::Text(text.to_owned()))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl<'de> Deserialize<'de> for LineLabel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = LineLabel;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a label: a text or a whole number")
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<LineLabel, E> {
                Ok(LineLabel(value.to_string()))
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<LineLabel, E> {
                Ok(LineLabel(value.to_string()))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<LineLabel, E> {
                Ok(LineLabel(text.to_owned()))
            }
        }
        deserializer.deserialize_any(Either)
    }
}
