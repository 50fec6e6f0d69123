//! Kernels over rows of 32 or 64 bits a number, widened to doubles on the way: what data keeps narrow to save memory.

use multiversion::multiversion;

use super::dense::fold;

/// Accumulators of a row's product: one AVX-512 register.
const LANES: usize = 8;

/// Rows of the matrix that share what is read of a row.
const ROWS: usize = 4;

/// `out[k] = <row, matrix_k>` for a row-major matrix of `row.len()` columns. The bits do not depend on how many rows
/// the matrix has.
pub fn widened_row_scores<T: Copy + Into<f64>>(row: &[T], matrix: &[f64], out: &mut [f64]) {
    assert_eq!(matrix.len(), row.len() * out.len());
    scores(row, matrix, out);
}

/// `y += alpha x` for vectors of equal length.
pub fn widened_axpy<T: Copy + Into<f64>>(alpha: f64, x: &[T], y: &mut [f64]) {
    assert_eq!(x.len(), y.len());
    add(alpha, x, y);
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn scores<T: Copy + Into<f64>>(row: &[T], matrix: &[f64], out: &mut [f64]) {
    let width = row.len();
    let at = |k: usize| &matrix[k * width..][..width];
    let mut k = 0;
    while k + ROWS <= out.len() {
        let found = products::<T, ROWS>(row, std::array::from_fn(|r| at(k + r)));
        out[k..k + ROWS].copy_from_slice(&found);
        k += ROWS;
    }
    if k + 2 <= out.len() {
        let found = products::<T, 2>(row, [at(k), at(k + 1)]);
        out[k..k + 2].copy_from_slice(&found);
        k += 2;
    }
    if k < out.len() {
        [out[k]] = products::<T, 1>(row, [at(k)]);
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn add<T: Copy + Into<f64>>(alpha: f64, x: &[T], y: &mut [f64]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y += alpha * x.into();
    }
}

/// Inner products of `row` with `N` vectors of its length.
#[inline(always)]
fn products<T: Copy + Into<f64>, const N: usize>(row: &[T], vectors: [&[f64]; N]) -> [f64; N] {
    let (chunks, rest) = row.as_chunks::<LANES>();
    let parts = vectors.map(|vector| vector[..row.len()].as_chunks::<LANES>());
    let mut sums = [[0.0; LANES]; N];
    for (c, x) in chunks.iter().enumerate() {
        let x = x.map(Into::into);
        for r in 0..N {
            sums[r] = multiply_add(sums[r], &x, &parts[r].0[c]);
        }
    }
    let mut found = std::array::from_fn(|r| fold(&sums[r]));
    for (at, &x) in rest.iter().enumerate() {
        for r in 0..N {
            found[r] += x.into() * parts[r].1[at];
        }
    }
    found
}

/// By value, so that the sums stay in registers.
#[inline(always)]
fn multiply_add(mut sums: [f64; LANES], x: &[f64; LANES], y: &[f64; LANES]) -> [f64; LANES] {
    for k in 0..LANES {
        sums[k] += x[k] * y[k];
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::super::tests::vector;
    use super::*;

    /// Products are right, and have the same bits however many rows are asked for; narrow numbers count as they are.
    #[test]
    fn rows_are_scored_alike() {
        for width in [0usize, 1, 7, 8, 9, 40, 829] {
            let row: Vec<f32> = vector(width, 3).iter().map(|&x| x as f32).collect();
            let wide: Vec<f64> = row.iter().map(|&x| x.into()).collect();
            let matrix = vector(width * 11, 4);
            let mut all = vec![0.0; 11];
            widened_row_scores(&row, &matrix, &mut all);
            for rows in 0..=11 {
                let (mut some, mut of_wide) = (vec![0.0; rows], vec![0.0; rows]);
                widened_row_scores(&row, &matrix[..rows * width], &mut some);
                widened_row_scores(&wide, &matrix[..rows * width], &mut of_wide);
                assert_eq!((&some[..], &of_wide[..]), (&all[..rows], &all[..rows]), "width {width}, {rows} rows");
            }
            for (k, found) in all.iter().enumerate() {
                let plain: f64 = wide.iter().zip(&matrix[k * width..]).map(|(x, w)| x * w).sum();
                assert!((found - plain).abs() <= 1e-13 * (1.0 + width as f64), "width {width}, row {k}");
            }
            let mut sum = vector(width, 5);
            let expected: Vec<f64> = sum.iter().zip(&wide).map(|(y, x)| y + 0.3 * x).collect();
            widened_axpy(0.3, &row, &mut sum);
            assert_eq!(sum, expected);
        }
    }
}
