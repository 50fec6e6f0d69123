//! Sequences of attributes with names and weights, as CRFsuite's format has them.

use multiplane::data::Tagged;
use pyo3::prelude::*;

use crate::arrays::{check_length, check_lengths};
use crate::errors::value_error;

/// The tokens of a sequence, each a list of attributes with their weights.
pub(crate) type Sequence = Vec<Vec<(String, f64)>>;

/// What a reader of the format would make of these sequences. See [`Tagged::push_attributes`].
///
/// # Errors
///
/// ValueError for empty sequences, names that no file could hold, weights that are not finite, labels that do not fit.
pub(crate) fn tagged(x: &[Sequence], y: Option<&[Vec<String>]>, filler: &str) -> PyResult<Tagged> {
    check_lengths(x.len(), y.map(<[_]>::len))?;
    let mut data = Tagged::of_attributes();
    for (i, sequence) in x.iter().enumerate() {
        if sequence.is_empty() {
            return Err(value_error(format!("X[{i}] is an empty sequence: expected at least one token")));
        }
        let labels = y.map(|y| &y[i]);
        check_length(i, sequence.len(), labels)?;
        for (t, token) in sequence.iter().enumerate() {
            if let Some((name, _)) = token.iter().find(|(name, _)| name.is_empty() || name.contains(['\t', '\n', '\r']))
            {
                return Err(value_error(format!(
                    "X[{i}][{t}] has the attribute {name:?}: expected a name without tabs and line breaks"
                )));
            }
            let attributes = token.iter().map(|(name, weight)| (name.as_str(), *weight));
            data.push_attributes(Some(labels.map_or(filler, |labels| &labels[t])), attributes)
                .map_err(|fault| value_error(format!("X[{i}][{t}]: {fault}")))?;
        }
        data.end_sequence();
    }
    Ok(data)
}
