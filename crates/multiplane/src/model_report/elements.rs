//! What the elements of an axis of weights are called.

use multiplane_tasks::problem::Vocabulary;
use multiplane_tasks::problem::tables::{Axis, AxisNames};
use serde::Serialize;

/// What the feature that is always 1 is called.
const BIAS: &str = "bias";

/// A label, a feature or a place on another axis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ElementName {
    /// By name: of features of text as the model file has it, template and values divided by tabs.
    Text(String),
    /// By number, where it has no name.
    Number(usize),
}

/// Returns the name of a feature of text as people read it, `template=value|value`: the model file divides these by tabs.
pub fn readable(name: &str) -> String {
    name.replacen('\t', "=", 1).replace('\t', "|")
}

impl ElementName {
    /// Returns the name of the element `at` of an axis.
    pub(super) fn of(axis: &Axis, at: usize, vocabulary: &Vocabulary) -> Self {
        let named = |name: Option<&str>, number: usize| {
            name.map_or(ElementName::Number(number), |name| ElementName::Text(name.to_owned()))
        };
        if axis.bias && at + 1 == axis.len {
            return ElementName::Text(BIAS.into());
        }
        match &axis.names {
            AxisNames::Labels => named(vocabulary.labels.get(at).map(String::as_str), at),
            AxisNames::Features(first) => match &vocabulary.dictionary {
                Some(names) if at < names.len() => ElementName::Text(names.get(at as u32).to_owned()),
                _ => ElementName::Number(at.saturating_add(*first)),
            },
            AxisNames::Numbers => ElementName::Number(at),
            AxisNames::LabelPairs(pairs) => {
                let [one, other] = pairs[at].map(|label| vocabulary.labels.get(label as usize));
                named(one.zip(other).map(|(one, other)| format!("{one}, {other}")).as_deref(), at)
            }
            AxisNames::Own(names) => named(names.get(at).map(String::as_str), at),
        }
    }
}
