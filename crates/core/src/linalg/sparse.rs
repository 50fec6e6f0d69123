//! Sparse kernels: rows of index-value pairs against vectors and matrices.

use super::dense::{axpy, dense_row_scores, dot, fold, some_dense_row_scores};

/// Accumulators of a sparse reduction: enough to hide the latency of an addition.
const SPARSE_LANES: usize = 8;

/// `sum_k values[k] * w[indices[k]]`; panics if an index is out of range.
pub fn sparse_dot(indices: &[u32], values: &[f64], w: &[f64]) -> f64 {
    assert_eq!(indices.len(), values.len());
    let mut sums = [0.0; SPARSE_LANES];
    let (index_chunks, index_rest) = indices.as_chunks::<SPARSE_LANES>();
    let (value_chunks, value_rest) = values.as_chunks::<SPARSE_LANES>();
    for (i, v) in index_chunks.iter().zip(value_chunks) {
        for k in 0..SPARSE_LANES {
            sums[k] += v[k] * w[i[k] as usize];
        }
    }
    for (k, (i, v)) in index_rest.iter().zip(value_rest).enumerate() {
        sums[k] += v * w[*i as usize];
    }
    fold(&sums)
}

/// `y[indices[k]] += alpha * values[k]`; panics if an index is out of range.
pub fn scatter_axpy(alpha: f64, indices: &[u32], values: &[f64], y: &mut [f64]) {
    assert_eq!(indices.len(), values.len());
    for (i, v) in indices.iter().zip(values) {
        y[*i as usize] += alpha * v;
    }
}

/// `y += alpha row` for a sparse row; `values` is `None` where all stored values are 1.
pub fn add_sparse_row(alpha: f64, indices: &[u32], values: Option<&[f64]>, y: &mut [f64]) {
    match values {
        Some(values) if indices.len() == y.len() => axpy(alpha, values, y), // strictly ascending: the row is dense
        Some(values) => scatter_axpy(alpha, indices, values, y),
        None => indices.iter().for_each(|&index| y[index as usize] += alpha),
    }
}

/// `<row, w>` for a sparse row; `values` is `None` where all stored values are 1.
pub fn sparse_row_score(indices: &[u32], values: Option<&[f64]>, w: &[f64]) -> f64 {
    match values {
        Some(values) if indices.len() == w.len() => dot(values, w), // strictly ascending: the row is dense
        Some(values) => sparse_dot(indices, values, w),
        None => {
            let mut sums = [0.0; SPARSE_LANES];
            let (chunks, rest) = indices.as_chunks::<SPARSE_LANES>();
            for i in chunks {
                for k in 0..SPARSE_LANES {
                    sums[k] += w[i[k] as usize];
                }
            }
            for (k, i) in rest.iter().enumerate() {
                sums[k] += w[*i as usize];
            }
            fold(&sums)
        }
    }
}

/// Rows of a matrix scored together, so that the indices of the sparse row are read once for all of them.
const ROWS: usize = 4;

/// `out[k] = <row, matrix_k>` for a sparse row and the rows `matrix_k` (each `width` long) of a row-major matrix;
/// `values` is `None` where all stored values are 1. Panics if an index is not below `width`.
pub fn sparse_row_scores(indices: &[u32], values: Option<&[f64]>, matrix: &[f64], width: usize, out: &mut [f64]) {
    if let (Some(values), true) = (values, indices.len() == width) {
        // Strictly ascending indices below the width, as many as the width: the row is dense.
        return dense_row_scores(values, matrix, out);
    }
    let mut blocks = matrix.chunks_exact((width * ROWS).max(1));
    let mut outs = out.chunks_exact_mut(ROWS);
    for (block, out) in (&mut blocks).zip(&mut outs) {
        out.copy_from_slice(&block_scores::<ROWS>(indices, values, block, width));
    }
    for (row, out) in blocks.remainder().chunks_exact(width.max(1)).zip(outs.into_remainder()) {
        *out = block_scores::<1>(indices, values, row, width)[0];
    }
}

/// `out[k] = <row, matrix_{rows[k]}>` for a sparse row and some rows of a row-major matrix, each `width` long; `values`
/// is `None` where all stored values are 1. Panics if a place is out of range.
pub fn some_row_scores(
    indices: &[u32],
    values: Option<&[f64]>,
    matrix: &[f64],
    width: usize,
    rows: &[u32],
    out: &mut [f64],
) {
    if let (Some(values), true) = (values, indices.len() == width) {
        return some_dense_row_scores(values, matrix, rows, out); // strictly ascending: the row is dense
    }
    for (&row, out) in rows.iter().zip(out) {
        *out = sparse_row_score(indices, values, &matrix[row as usize * width..][..width]);
    }
}

/// Scores of `N` rows at once; each sum runs over the stored entries in order.
#[inline(always)]
fn block_scores<const N: usize>(indices: &[u32], values: Option<&[f64]>, block: &[f64], width: usize) -> [f64; N] {
    let rows: [&[f64]; N] = std::array::from_fn(|k| &block[k * width..][..width]);
    let mut sums = [0.0; N];
    match values {
        None => {
            for &index in indices {
                for k in 0..N {
                    sums[k] += rows[k][index as usize];
                }
            }
        }
        Some(values) => {
            for (&index, value) in indices.iter().zip(values) {
                for k in 0..N {
                    sums[k] += value * rows[k][index as usize];
                }
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::super::tests::vector;
    use super::*;

    /// Scores of a sparse row equal dense products, for all-ones rows, sparse rows and full rows.
    #[test]
    fn row_scores_agree_with_dense() {
        let width = 37;
        for rows in [1, 3, 4, 5, 26] {
            let matrix = vector(rows * width, 5);
            let full: Vec<u32> = (0..width as u32).collect();
            let some: Vec<u32> = (0..width as u32).step_by(3).collect();
            for (indices, ones) in [(&full, false), (&some, false), (&some, true), (&full, true)] {
                let values = if ones { vec![1.0; indices.len()] } else { vector(indices.len(), 6) };
                let mut out = vec![0.0; rows];
                sparse_row_scores(indices, (!ones).then_some(&values), &matrix, width, &mut out);
                let mut backwards = vec![0.0; rows];
                let numbers: Vec<u32> = (0..rows as u32).rev().collect();
                some_row_scores(indices, (!ones).then_some(&values), &matrix, width, &numbers, &mut backwards);
                for (k, out) in out.iter().enumerate() {
                    let expected = sparse_dot(indices, &values, &matrix[k * width..][..width]);
                    assert!((out - expected).abs() < 1e-12, "row {k} of {rows}");
                    assert!((backwards[rows - 1 - k] - expected).abs() < 1e-12, "row {k} of {rows}, alone");
                }
            }
        }
    }

    /// Sparse kernels agree with dense ones on the scattered vector.
    #[test]
    fn sparse_kernels_agree_with_dense() {
        for len in [0usize, 1, 5, 8, 9, 64, 301] {
            let w = vector(1000, 3);
            let indices: Vec<u32> = (0..len as u32).map(|k| (k * 7919) % 1000).collect();
            let values = vector(len, 4);
            let expected: f64 = indices.iter().zip(&values).map(|(i, v)| v * w[*i as usize]).sum();
            assert!((sparse_dot(&indices, &values, &w) - expected).abs() < 1e-12);
            let mut y = w.clone();
            scatter_axpy(2.0, &indices, &values, &mut y);
            for (i, v) in indices.iter().zip(&values) {
                assert!((y[*i as usize] - w[*i as usize] - 2.0 * v).abs() < 1e-15);
            }
        }
    }
}
