//! Sequences of attributes with names and weights, as CRFsuite's format has them.

use multiplane::data::Tagged;
use pyo3::prelude::*;

use crate::arrays::{check_length, check_lengths};
use crate::errors::value_error;

/// The tokens of a sequence, each a list of attributes with their weights.
pub(crate) type Sequence = Vec<Vec<(String, f64)>>;

/// What a reader of the format would make of these sequences. An attribute that comes twice counts twice; one without
/// weight counts as none.
///
/// # Errors
///
/// ValueError for empty sequences, names that no file could hold, weights that are not finite, labels that do not fit.
pub(crate) fn tagged(x: &[Sequence], y: Option<&[Vec<String>]>, filler: &str) -> PyResult<Tagged> {
    check_lengths(x.len(), y.map(<[_]>::len))?;
    let mut data = Tagged::of_attributes();
    let mut row: Vec<(u32, f64)> = Vec::new();
    for (i, sequence) in x.iter().enumerate() {
        if sequence.is_empty() {
            return Err(value_error(format!("X[{i}] is an empty sequence: expected at least one token")));
        }
        let labels = y.map(|y| &y[i]);
        check_length(i, sequence.len(), labels)?;
        for (t, token) in sequence.iter().enumerate() {
            row.clear();
            for (name, weight) in token {
                if name.is_empty() || name.contains(['\t', '\n', '\r']) {
                    return Err(value_error(format!(
                        "X[{i}][{t}] has the attribute {name:?}: expected a name without tabs and line breaks"
                    )));
                }
                if *weight != 0.0 {
                    row.push((data.attributes.get_or_insert_default().intern(name), *weight));
                }
            }
            row.sort_by_key(|(attribute, _)| *attribute);
            row.dedup_by(|next, first| {
                let same = next.0 == first.0;
                first.1 += if same { next.1 } else { 0.0 };
                same
            });
            if let Some((attribute, weight)) = row.iter().find(|(_, weight)| !weight.is_finite()) {
                let name = data.attributes.as_ref().map_or("", |names| names.get(*attribute));
                return Err(value_error(format!(
                    "X[{i}][{t}] has the attribute {name:?} with the weight {weight}: expected a finite number"
                )));
            }
            let (indices, values): (Vec<u32>, Vec<f64>) = row.iter().copied().unzip();
            data.push(labels.map_or(filler, |labels| &labels[t]), &indices, &values);
        }
        data.end_sequence();
    }
    Ok(data)
}
