//! Scores of rows of features: what labels and pairs of labels are worth at some weights. O(numbers read).

use std::ops::Range;

use multiplane_core::linalg;

use crate::builtin::pairwise::LONG;
use crate::data::container::{Matrix, Real, RowOf};

/// Writes the weights of some features.
pub(super) fn gather(w: &[f64], columns: &[u32], out: &mut Vec<f64>) {
    out.clear();
    out.extend(columns.iter().map(|&column| w[column as usize]));
}

/// Appends the scores of rows at the weights of their columns.
pub(super) fn score_rows(matrix: &Matrix, rows: Range<usize>, weights: &[f64], out: &mut Vec<f64>) {
    if weights.is_empty() {
        out.extend(rows.map(|_| 0.0));
        return;
    }
    match matrix.block(rows) {
        RowOf::F32(block) => out.extend(block.chunks_exact(weights.len()).map(|row| product(row, weights))),
        RowOf::F64(block) => out.extend(block.chunks_exact(weights.len()).map(|row| product(row, weights))),
    }
}

/// Returns the score of one row.
pub(super) fn score_row(row: RowOf<'_>, weights: &[f64]) -> f64 {
    match row {
        RowOf::F32(row) => product(row, weights),
        RowOf::F64(row) => product(row, weights),
    }
}

fn product<T: Real>(row: &[T], weights: &[f64]) -> f64 {
    if row.len() < LONG {
        return row.iter().zip(weights).fold(0.0, |sum, (&value, &weight)| {
            let value: f64 = value.into();
            sum + value * weight
        });
    }
    let mut out = [0.0];
    linalg::widened_row_scores(row, weights, &mut out);
    out[0]
}

/// Adds `scale` times a row to the features that its columns are.
pub(super) fn add_row(scale: f64, row: RowOf<'_>, columns: &[u32], out: &mut [f64]) {
    row.iter().zip(columns).for_each(|(value, &column)| out[column as usize] += scale * value);
}
