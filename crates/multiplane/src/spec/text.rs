//! Fields that users may write in several ways: how they are read, and the one way in which they are written.

use multiplane_core::run::GapTarget;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};
use serde_json::Value;

use super::params::shown;

/// Splits a list, or text with commas, into its items.
fn items<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<String>>, D::Error> {
    Ok(match Value::deserialize(from)? {
        Value::Null => None,
        Value::Array(items) => Some(items.iter().map(shown).collect()),
        other => Some(shown(&other).split(',').map(str::to_string).collect()),
    })
}

/// Reads weights by names and ranges.
pub(super) fn names<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<String>>, D::Error> {
    Ok(items(from)?.map(|items| items.iter().map(|item| item.trim().to_string()).collect()))
}

/// Folds that a range may name at most.
const MOST_FOLDS: u32 = 100_000;

/// Reads fold numbers: one, a list, or text such as `0,3` or `0-7`.
pub(super) fn folds<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<u32>>, D::Error> {
    ranges(from, "fold numbers")
}

/// Reads numbers of examples, in the same way.
pub(super) fn examples<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<u32>>, D::Error> {
    ranges(from, "numbers of examples, from 0,")
}

fn ranges<'de, D: Deserializer<'de>>(from: D, what: &str) -> Result<Option<Vec<u32>>, D::Error> {
    let Some(items) = items(from)? else { return Ok(None) };
    let range = |item: &String| {
        let (first, last) = item.split_once('-').unwrap_or((item, item));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        (first <= last && last - first < MOST_FOLDS).then_some(first..=last)
    };
    let folds: Option<Vec<u32>> =
        items.iter().map(range).collect::<Option<Vec<_>>>().map(|all| all.into_iter().flatten().collect());
    match folds {
        Some(mut folds) if !folds.is_empty() => {
            folds.sort_unstable();
            folds.dedup();
            Ok(Some(folds))
        }
        _ => Err(D::Error::custom(format!("must be {what} as in 0,3 or 0-7"))),
    }
}

/// Reads whole numbers: one, a list, or text such as `-1,1`; in ascending order, each once.
pub(super) fn integers<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<i64>>, D::Error> {
    let Some(items) = items(from)? else { return Ok(None) };
    let numbers: Result<Vec<i64>, _> = items.iter().map(|item| item.trim().parse()).collect();
    let mut numbers = numbers.map_err(|_| D::Error::custom("must be whole numbers as in -1,1"))?;
    numbers.sort_unstable();
    numbers.dedup();
    Ok(Some(numbers))
}

/// Writes whole numbers as users do.
pub(super) fn listed(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
}

/// Reads a number, also one that is written as text.
pub(super) fn number<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let text = shown(&Value::deserialize(from)?);
    text.trim().parse().map_err(|_| D::Error::custom("must be a number"))
}

/// The schema of what [`number`] reads.
pub(super) fn number_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["number", "string"] })
}

/// A gap that has to be given.
pub(super) mod eps {
    use super::*;

    pub(in super::super) fn serialize<S: Serializer>(eps: &GapTarget, to: S) -> Result<S::Ok, S::Error> {
        gap::serialize(&Some(*eps), to)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<GapTarget, D::Error> {
        // What is wrong with 0 is said where it is checked.
        let refuse = || D::Error::custom("must be a number > 0, or percent as in 1%");
        gap::deserialize(from).map_err(|_| refuse())?.ok_or_else(refuse)
    }
}

/// A gap as a user writes it: a number, or percent as in `1%`.
pub(crate) mod gap {
    use super::*;

    pub(in super::super) fn serialize<S: Serializer>(gap: &Option<GapTarget>, to: S) -> Result<S::Ok, S::Error> {
        match gap {
            None => to.serialize_none(),
            Some(GapTarget::Absolute(gap)) => to.serialize_f64(*gap),
            Some(GapTarget::Percent(percent)) => to.collect_str(&format_args!("{percent}%")),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<GapTarget>, D::Error> {
        let value = Value::deserialize(from)?;
        if value.is_null() {
            return Ok(None);
        }
        let text = shown(&value);
        let number = text.strip_suffix('%');
        match number.unwrap_or(&text).trim().parse::<f64>() {
            Ok(gap) if gap.is_finite() && gap >= 0.0 => {
                Ok(Some(if number.is_some() { GapTarget::Percent(gap) } else { GapTarget::Absolute(gap) }))
            }
            _ => Err(D::Error::custom("must be a number >= 0, or percent as in 1%")),
        }
    }
}
