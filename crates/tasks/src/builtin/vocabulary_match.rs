//! Labels and features that training never saw, and the bias: the same for rows and sequences.

use std::ops::Range;

use crate::data::{SparseRows, Strings};
use crate::problem::OpenError;

/// Returns some rows alone, cut to `features` columns; with `bias` the last of these is 1 everywhere. Copies only
/// what changes.
pub fn cut_rows(all: &SparseRows, range: Range<usize>, features: usize, bias: bool) -> SparseRows {
    if !bias && all.columns() <= features {
        let mut rows = all.slice(range);
        rows.widen(features);
        return rows;
    }
    let entries = all.entries(range.clone()) + range.len() * usize::from(bias);
    let mut rows = SparseRows::with_capacity(features, range.len(), entries);
    let known = features.saturating_sub(usize::from(bias));
    for i in range {
        let (mut indices, mut values): (Vec<u32>, Vec<f64>) =
            all.row(i).iter().filter(|&(index, _)| (index as usize) < known).unzip();
        if bias {
            indices.push(known as u32);
            values.push(1.0);
        }
        rows.push(&indices, &values);
    }
    rows
}

/// Checks that the columns of new data have the names, and the order, that training knew, where both have names.
///
/// # Errors
///
/// They have others.
pub fn check_names(known: Option<&Strings>, found: Option<&Strings>) -> Result<(), OpenError> {
    match (known, found) {
        (Some(known), Some(found)) if known != found => {
            Err(OpenError::new("the columns have other names, or another order, than those of the training data"))
        }
        _ => Ok(()),
    }
}

/// Returns the warning about columns beyond those of training, a bias not counted; `None` where there are none.
pub fn unseen_features(columns: usize, features: usize, bias: bool) -> Option<String> {
    let known = features.saturating_sub(usize::from(bias));
    let extra = columns.checked_sub(known).filter(|extra| *extra > 0)?;
    let (first, last) = (known + 1, known + extra);
    Some(format!("features {first} to {last} ({extra} in all) were never seen in training: ignored"))
}

/// Returns the warning about `count` examples or tokens (`noun`) whose labels training never saw; `None` for 0.
pub fn unseen_labels(count: usize, noun: &str) -> Option<String> {
    let have = match count {
        0 => return None,
        1 => format!("{noun} has"),
        _ => format!("{noun}s have"),
    };
    Some(format!("{count} {have} a label that training never saw: no answer can be right there"))
}
