//! Factors on the loss by true label, as users give them: a list, by name, or from how often labels occur.
//!
//! Tasks take the list. What stands for one is made into it before training opens the data
//! ([`ClassWeights::listed`]), so that models hold numbers and nothing has to be counted where they are used.

use std::collections::BTreeMap;

use multiplane_infer::file::quote;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::losses::LossError;

/// Factors on the loss by true label.
#[derive(Clone, Debug, PartialEq)]
pub enum ClassWeights {
    /// In sorted order of the labels.
    List(Vec<f64>),
    /// By label; 1 for those that are left out.
    ByLabel(BTreeMap<String, f64>),
    /// n / (labels * variables with the label), for n variables: all labels weigh the same in sum. A variable counts as
    /// often as the weight of its example says.
    Balanced,
}

impl ClassWeights {
    /// Whether labels must be known to say what they are.
    pub fn needs_labels(&self) -> bool {
        !matches!(self, ClassWeights::List(_))
    }

    /// Returns the list, given the labels in their order and how often each is true.
    ///
    /// # Errors
    ///
    /// A label that is not there.
    pub fn listed(&self, labels: &[String], counts: &[f64]) -> Result<Vec<f64>, LossError> {
        match self {
            ClassWeights::List(weights) => Ok(weights.clone()),
            ClassWeights::ByLabel(weights) => {
                if let Some(stranger) = weights.keys().find(|name| !labels.contains(name)) {
                    return Err(LossError::UnknownLabel { name: quote(stranger), labels: some_of(labels) });
                }
                Ok(labels.iter().map(|label| weights.get(label).copied().unwrap_or(1.0)).collect())
            }
            ClassWeights::Balanced => {
                let all = counts.iter().sum::<f64>();
                let balanced = |&count: &f64| match count > 0.0 {
                    false => 1.0, // of a label that is nowhere true
                    true => all / (labels.len() as f64 * count),
                };
                Ok(counts.iter().map(balanced).collect())
            }
        }
    }

    /// Returns the list, or nothing where nothing is given.
    ///
    /// # Errors
    ///
    /// It is not given as a list.
    pub(crate) fn list(given: Option<&ClassWeights>) -> Result<Option<&[f64]>, LossError> {
        match given {
            None => Ok(None),
            Some(ClassWeights::List(weights)) => Ok(Some(weights)),
            Some(_) => Err(LossError::NotListed),
        }
    }
}

/// The first labels, for messages.
fn some_of(labels: &[String]) -> String {
    let some: Vec<String> = labels.iter().take(20).map(|label| quote(label)).collect();
    some.join(", ") + if labels.len() > 20 { ", ..." } else { "" }
}

impl Serialize for ClassWeights {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            ClassWeights::List(weights) => weights.serialize(to),
            ClassWeights::ByLabel(weights) => weights.serialize(to),
            ClassWeights::Balanced => to.serialize_str("balanced"),
        }
    }
}

impl<'de> Deserialize<'de> for ClassWeights {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Value::deserialize(from)? {
            Value::String(name) if name == "balanced" => Ok(ClassWeights::Balanced),
            Value::String(list) if list.contains(',') => {
                let entries = list.split(',').map(|entry| entry.trim().parse().ok());
                of_entries(entries).map(ClassWeights::List).map_err(D::Error::custom)
            }
            Value::Array(list) => {
                of_entries(list.iter().map(Value::as_f64)).map(ClassWeights::List).map_err(D::Error::custom)
            }
            Value::Object(weights) => {
                let of = |(label, weight): (String, Value)| match weight.as_f64() {
                    Some(weight) => Ok((label, weight)),
                    None if label == "name" && weight == "balanced" => {
                        Err(D::Error::custom("give this or factors by label, not both"))
                    }
                    None => Err(D::Error::custom(format!("that of {} must be a number", quote(&label)))),
                };
                weights.into_iter().map(of).collect::<Result<_, _>>().map(ClassWeights::ByLabel)
            }
            _ => Err(D::Error::custom("must be a list, `balanced`, or factors by label as in {\"B-NP\": 2}")),
        }
    }
}

fn of_entries(entries: impl Iterator<Item = Option<f64>>) -> Result<Vec<f64>, String> {
    entries.enumerate().map(|(at, entry)| entry.ok_or_else(|| format!("entry {at} must be a number"))).collect()
}

impl JsonSchema for ClassWeights {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ClassWeights".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Value>()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: Value) -> Result<ClassWeights, String> {
        ClassWeights::deserialize(value).map_err(|error| error.to_string())
    }

    /// The three ways come to the same list; what is none is told.
    #[test]
    fn lists_names_and_counts() {
        let labels = ["a".to_owned(), "b, c".to_owned()];
        for given in [json!([1, 0.5]), json!("1, 0.5"), json!({"b, c": 0.5})] {
            assert_eq!(read(given).unwrap().listed(&labels, &[]), Ok(vec![1.0, 0.5]));
        }
        let balanced = read(json!("balanced")).unwrap();
        assert_eq!(balanced.listed(&labels, &[1.0, 3.0]), Ok(vec![2.0, 4.0 / 6.0]));
        assert_eq!(balanced.listed(&labels, &[4.0, 0.0]), Ok(vec![0.5, 1.0]), "nowhere true");
        let stranger = read(json!({"c": 2})).unwrap().listed(&labels, &[]).unwrap_err();
        assert_eq!(stranger.to_string(), "task.class_weights: `c` is no label of the data: these are `a`, `b, c`");
        let told = |given: Value| read(given).unwrap_err();
        assert_eq!(told(json!([1, "x"])), "entry 1 must be a number");
        assert_eq!(told(json!("1,x")), "entry 1 must be a number");
        assert_eq!(told(json!({"a": "x"})), "that of `a` must be a number");
        assert!(told(json!("even")).starts_with("must be a list, `balanced`, or factors by label"));
        for given in [json!([1.0, 2.5]), json!({"a": 2.0}), json!("balanced")] {
            assert_eq!(json!(read(given.clone()).unwrap()), given);
        }
    }
}
