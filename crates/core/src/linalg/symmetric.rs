//! Dense symmetric systems: sums of outer products, and Cholesky's method.
//!
//! Cost, for `width` unknowns: `width^2 / 2` products for each row that is added, `width^3 / 6` for a factor, `width^2`
//! for a solution.

use std::ops::Range;

use multiversion::multiversion;

use super::dense::{axpy, dot};

/// Rows that are added at a time: what is read and written of the matrix is shared among them.
const ROWS: usize = 4;

/// Least pivot of a matrix whose diagonal is 1: below it there is nothing but rounding.
const LEAST_PIVOT: f64 = 1e-14;

/// `matrix += sum_r row_r row_r'` in the upper triangle of a row-major `width x width` matrix; `rows` holds `width`
/// numbers for each row. Coordinates in which all rows at a time are zero cost nothing.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub fn add_outer_products(rows: &[f64], width: usize, matrix: &mut [f64]) {
    let groups = rows.len() / (ROWS * width).max(1);
    for group in 0..groups {
        let rows = &rows[group * ROWS * width..][..ROWS * width];
        for i in 0..width {
            let factors = [rows[i], rows[width + i], rows[2 * width + i], rows[3 * width + i]];
            if factors != [0.0; ROWS] {
                add_four(factors, rows, width, i, &mut matrix[i * width..][i..width]);
            }
        }
    }
    for row in rows[groups * ROWS * width..].chunks_exact(width.max(1)) {
        for i in 0..width {
            if row[i] != 0.0 {
                add_one(row[i], &row[i..], &mut matrix[i * width..][i..width]);
            }
        }
    }
}

/// `out += sum_r factors[r] rows_r[from..]`, for four rows of `width` numbers.
#[inline(always)]
fn add_four(factors: [f64; ROWS], rows: &[f64], width: usize, from: usize, out: &mut [f64]) {
    let len = out.len();
    let (a, b) = (&rows[from..][..len], &rows[width + from..][..len]);
    let (c, d) = (&rows[2 * width + from..][..len], &rows[3 * width + from..][..len]);
    let [fa, fb, fc, fd] = factors;
    for k in 0..len {
        out[k] += (fa * a[k] + fb * b[k]) + (fc * c[k] + fd * d[k]);
    }
}

/// `out += factor row`.
#[inline(always)]
fn add_one(factor: f64, row: &[f64], out: &mut [f64]) {
    for (out, value) in out.iter_mut().zip(row) {
        *out += factor * value;
    }
}

/// `matrix += factor v v'` in the upper triangle of a row-major `width x width` matrix, for the sparse vector `v` with
/// these values at these ascending indices. What it writes below the diagonal is of no meaning. `runs` is room for runs
/// of successive indices.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub fn add_sparse_outer_product(
    factor: f64,
    (indices, values): (&[u32], &[f64]),
    runs: &mut Vec<Range<usize>>,
    width: usize,
    matrix: &mut [f64],
) {
    runs.clear();
    for (i, &index) in indices.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if indices[run.end - 1] + 1 == index => run.end = i + 1,
            _ => runs.push(i..i + 1),
        }
    }
    for (k, of_row) in runs.iter().enumerate() {
        for i in of_row.clone() {
            let row = &mut matrix[indices[i] as usize * width..][..width];
            for run in &runs[k..] {
                let run_values = &values[run.clone()];
                add_one(factor * values[i], run_values, &mut row[indices[run.start] as usize..][..run_values.len()]);
            }
        }
    }
}

/// The factor of a positive definite matrix, scaled to a diagonal of 1 so that the units of its coordinates do not
/// matter.
#[derive(Clone, Debug, Default)]
pub struct Cholesky {
    /// Upper triangle, by rows.
    upper: Vec<f64>,
    scales: Vec<f64>,
}

impl Cholesky {
    /// Factors the matrix whose upper triangle this is, by rows (`[width, width]`). Pivots that rounding has eaten are
    /// taken as small ones.
    pub fn new(mut matrix: Vec<f64>, width: usize) -> Self {
        let scale = |k: usize| matrix[k * width + k].max(f64::MIN_POSITIVE).sqrt().recip();
        let scales: Vec<f64> = (0..width).map(scale).collect();
        for (i, row) in matrix.chunks_exact_mut(width.max(1)).enumerate() {
            row[i..].iter_mut().zip(&scales[i..]).for_each(|(value, scale)| *value *= scale * scales[i]);
        }
        factor(&mut matrix, width);
        Cholesky { upper: matrix, scales }
    }

    /// Solves the system with this right-hand side, in place.
    pub fn solve(&self, side: &mut [f64]) {
        let width = self.scales.len();
        let row = |i: usize| &self.upper[i * width..][i..width];
        side.iter_mut().zip(&self.scales).for_each(|(value, scale)| *value *= scale);
        for i in 0..width {
            let (at, after) = side[i..].split_at_mut(1);
            at[0] /= row(i)[0];
            axpy(-at[0], &row(i)[1..], after);
        }
        for i in (0..width).rev() {
            side[i] = (side[i] - dot(&row(i)[1..], &side[i + 1..])) / row(i)[0];
        }
        side.iter_mut().zip(&self.scales).for_each(|(value, scale)| *value *= scale);
    }
}

/// Turns the upper triangle of a matrix with diagonal 1 into `U` with `U'U` equal to it, some rows at a time.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn factor(matrix: &mut [f64], width: usize) {
    for start in (0..width).step_by(ROWS) {
        let end = (start + ROWS).min(width);
        let (panel, below) = matrix[start * width..].split_at_mut((end - start) * width);
        for k in start..end {
            let (done, row) = panel.split_at_mut((k - start) * width);
            let row = &mut row[k..width];
            for before in done.chunks_exact(width) {
                add_one(-before[k], &before[k..], row);
            }
            let pivot = row[0].max(LEAST_PIVOT).sqrt();
            row[0] = pivot;
            row[1..].iter_mut().for_each(|value| *value /= pivot);
        }
        if end - start == ROWS {
            for i in end..width {
                let factors = [-panel[i], -panel[width + i], -panel[2 * width + i], -panel[3 * width + i]];
                add_four(factors, panel, width, i, &mut below[(i - end) * width..][i..width]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::vector;
    use super::*;

    /// A system of outer products is solved, in whatever units its coordinates are.
    #[test]
    fn systems_are_solved() {
        for (width, count) in [(1, 1), (3, 7), (12, 30), (40, 45)] {
            let mut rows = vector(width * count, width as u64);
            for row in rows.chunks_exact_mut(width) {
                row[0] *= 1e6;
                if width > 2 {
                    row[2] = 0.0;
                }
            }
            let mut matrix = vec![0.0; width * width];
            (0..width).for_each(|k| matrix[k * width + k] = 0.5);
            add_outer_products(&rows, width, &mut matrix);
            let answer = vector(width, 77);
            let mut side: Vec<f64> = answer.iter().map(|value| 0.5 * value).collect();
            for row in rows.chunks_exact(width) {
                axpy(dot(row, &answer), row, &mut side);
            }
            Cholesky::new(matrix, width).solve(&mut side);
            for (found, wanted) in side.iter().zip(&answer) {
                assert!((found - wanted).abs() < 1e-6, "{width}: {found} is not {wanted}");
            }
        }
    }
}
