//! The weights of a model by table: how many there are, which are the strongest, and what their places are called.

use std::cmp::Ordering;
use std::ops::Range;

use multiplane_tasks::problem::Vocabulary;
use multiplane_tasks::problem::tables::{Axis, AxisNames, WeightTable};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::Error;
use crate::file::{Model, Provenance};
use crate::spec::find_task;

/// A table of weights.
#[derive(Clone, Debug, Serialize)]
pub struct TableReport {
    /// Its name.
    pub name: &'static str,
    /// The meaning of a weight, if the axes do not say it.
    pub note: Option<&'static str>,
    /// The axes that tell its weights apart; the last changes fastest.
    pub axes: Vec<AxisReport>,
    /// Its first index in `w`.
    pub start: usize,
    /// How many weights it has.
    pub size: usize,
    /// Those other than 0.
    pub nonzero: usize,
    /// The largest weights above 0, falling.
    pub highest: Vec<NamedWeight>,
    /// The smallest weights below 0, rising.
    pub lowest: Vec<NamedWeight>,
    /// The weights of each label, if every label has weights of its own for features or rows; else empty.
    pub by_label: Vec<LabelWeights>,
}

/// An axis of a table.
#[derive(Clone, Debug, Serialize)]
pub struct AxisReport {
    /// The name of its elements.
    pub name: &'static str,
    /// How many they are.
    pub size: usize,
}

/// The weights of a label.
#[derive(Clone, Debug, Serialize)]
pub struct LabelWeights {
    /// The label.
    pub label: ElementName,
    /// Weights other than 0.
    pub nonzero: usize,
    /// The largest in absolute value, falling.
    pub strongest: Vec<NamedWeight>,
}

/// A weight with what it belongs to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NamedWeight {
    /// The axes' names with its place on each.
    #[serde(serialize_with = "as_map")]
    pub at: Vec<(&'static str, ElementName)>,
    /// Its index in `w`.
    pub index: usize,
    /// The weight.
    pub weight: f64,
}

fn as_map<S: serde::Serializer>(at: &[(&'static str, ElementName)], to: S) -> Result<S::Ok, S::Error> {
    let value = |name: &ElementName| match name {
        ElementName::Text(text) => Value::from(text.as_str()),
        ElementName::Number(number) => Value::from(*number),
    };
    at.iter().map(|(axis, name)| ((*axis).to_owned(), value(name))).collect::<Map<_, _>>().serialize(to)
}

/// Returns the tables that the task of a model declares; none if it says nothing of its weights.
pub(crate) fn declared_tables(provenance: &Provenance) -> Result<Vec<WeightTable>, Error> {
    let Ok(entry) = find_task(&provenance.task) else { return Ok(Vec::new()) };
    let mut params = provenance.spec["task"].as_object().cloned().unwrap_or_default();
    params.remove("name");
    let config = (entry.parse)(&Value::Object(params)).map_err(|error| error.under("task"))?;
    Ok(config.weight_tables(&provenance.vocabulary)?)
}

/// The tables of a model. Weights of which the task says nothing are one table.
pub(super) fn tables(model: &Model, top: usize) -> Result<Vec<TableReport>, Error> {
    let provenance = &model.info.provenance;
    let declared = declared_tables(provenance)?;
    let declared = match declared.is_empty() {
        true => vec![WeightTable::new("w", [Axis::numbers("index", model.w.len())])],
        false => declared,
    };
    let size = declared.iter().fold(0, |size: usize, table| size.saturating_add(table.size()));
    if size != model.w.len() {
        let found = model.w.len();
        return Err(Error::input(format!("the model has {found} weights, its task and labels need {size}")));
    }
    let mut start = 0;
    let looks = declared.iter().map(|table| {
        let range = start..start + table.size();
        start = range.end;
        look(table, range, &model.w, &provenance.vocabulary, top)
    });
    Ok(looks.collect())
}

fn look(table: &WeightTable, range: Range<usize>, w: &[f64], vocabulary: &Vocabulary, top: usize) -> TableReport {
    let name = |index: &usize| NamedWeight {
        at: (table.axes.iter().zip(table.place(index - range.start)))
            .map(|(axis, at)| (axis.name, ElementName::of(axis, at, vocabulary)))
            .collect(),
        index: *index,
        weight: w[*index],
    };
    let named = |indices: Vec<usize>| indices.iter().map(name).collect::<Vec<_>>();
    let falling = |a: &usize, b: &usize| w[*b].total_cmp(&w[*a]);
    let rising = |a: &usize, b: &usize| w[*a].total_cmp(&w[*b]);
    let by_size = |a: &usize, b: &usize| w[*b].abs().total_cmp(&w[*a].abs());
    let by_label = match &table.axes[..] {
        [labels, columns] if labels.names == AxisNames::Labels && columns.names != AxisNames::Labels => {
            let row = |label: usize| range.start + label * columns.len..range.start + (label + 1) * columns.len;
            let of_label = |label: usize| LabelWeights {
                label: ElementName::of(labels, label, vocabulary),
                nonzero: nonzero(&w[row(label)]),
                strongest: named(first(row(label).filter(|&k| w[k] != 0.0), top, by_size)),
            };
            (0..labels.len).map(of_label).collect()
        }
        _ => Vec::new(),
    };
    TableReport {
        name: table.name,
        note: table.note,
        axes: table.axes.iter().map(|axis| AxisReport { name: axis.name, size: axis.len }).collect(),
        start: range.start,
        size: table.size(),
        nonzero: nonzero(&w[range.clone()]),
        highest: named(first(range.clone().filter(|&k| w[k] > 0.0), top, falling)),
        lowest: named(first(range.clone().filter(|&k| w[k] < 0.0), top, rising)),
        by_label,
    }
}

/// The first `count` of indices in an order, ties to the lower index. O(indices).
fn first(indices: impl Iterator<Item = usize>, count: usize, order: impl Fn(&usize, &usize) -> Ordering) -> Vec<usize> {
    let order = |a: &usize, b: &usize| order(a, b).then(a.cmp(b));
    let mut indices: Vec<usize> = indices.collect();
    if count < indices.len() {
        indices.select_nth_unstable_by(count, order);
        indices.truncate(count);
    }
    indices.sort_unstable_by(order);
    indices
}

/// The number of weights other than 0.
pub(super) fn nonzero(w: &[f64]) -> usize {
    w.iter().filter(|weight| **weight != 0.0).count()
}

/// The name of the feature that is always 1.
const BIAS: &str = "bias";

/// A label, a feature or a place on another axis.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
pub enum ElementName {
    /// By name: of features of text as the model file has it, template and values divided by tabs.
    Text(String),
    /// By number, where it has no name.
    Number(usize),
}

/// Returns the name of a feature of text as people read it, `template=value|value`: the model file divides these by
/// tabs.
pub fn readable(name: &str) -> String {
    name.replacen('\t', "=", 1).replace('\t', "|")
}

impl ElementName {
    /// Returns the name of the element `at` of an axis.
    pub(crate) fn of(axis: &Axis, at: usize, vocabulary: &Vocabulary) -> Self {
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
