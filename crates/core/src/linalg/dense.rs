//! Dense kernels: inner products, alone and several at a time, and sums.

use multiversion::multiversion;

/// Accumulators of a dense reduction: two AVX-512 registers.
const LANES: usize = 16;

/// Adds the accumulators pairwise, halves first. By itself, so that what fills them is compiled for whole registers:
/// next to these sums the compiler prefers halves of them, or single numbers.
#[inline(never)]
pub(super) fn fold<const N: usize>(sums: &[f64; N]) -> f64 {
    let mut sums = *sums;
    let mut width = N / 2;
    while width > 0 {
        for k in 0..width {
            sums[k] += sums[k + width];
        }
        width /= 2;
    }
    sums[0]
}

/// Inner product of two vectors of equal length.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let [product] = dots(a, [b]);
    product
}

/// Squared Euclidean norm.
pub fn sum_squares(a: &[f64]) -> f64 {
    dot(a, a)
}

/// `y += alpha x` for vectors of equal length.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub fn axpy(alpha: f64, x: &[f64], y: &mut [f64]) {
    assert_eq!(x.len(), y.len());
    for (y, x) in y.iter_mut().zip(x) {
        *y += alpha * x;
    }
}

/// `y = (1 - alpha) y + alpha x` for vectors of equal length.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub fn mix(alpha: f64, x: &[f64], y: &mut [f64]) {
    assert_eq!(x.len(), y.len());
    let rest = 1.0 - alpha;
    for (y, x) in y.iter_mut().zip(x) {
        *y = rest * *y + alpha * x;
    }
}

/// `y *= alpha`.
pub fn scale(alpha: f64, y: &mut [f64]) {
    for y in y {
        *y *= alpha;
    }
}

/// Dense rows scored together: more would not leave the accumulators in AVX2 registers.
const DENSE_ROWS: usize = 2;

/// `out[k] = <row, matrix_k>`, each with the bits of [`dot`]; a few rows at a time share what is read of `row`.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(super) fn dense_row_scores(row: &[f64], matrix: &[f64], out: &mut [f64]) {
    let width = row.len();
    let mut blocks = matrix.chunks_exact((width * DENSE_ROWS).max(1));
    let mut outs = out.chunks_exact_mut(DENSE_ROWS);
    for (block, out) in (&mut blocks).zip(&mut outs) {
        out.copy_from_slice(&dots::<DENSE_ROWS>(row, std::array::from_fn(|r| &block[r * width..][..width])));
    }
    for (matrix_row, out) in blocks.remainder().chunks_exact(width.max(1)).zip(outs.into_remainder()) {
        [*out] = dots(row, [matrix_row]);
    }
}

/// The same for the rows of the matrix with these numbers.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub(super) fn some_dense_row_scores(row: &[f64], matrix: &[f64], rows: &[u32], out: &mut [f64]) {
    let width = row.len();
    let at = |number: u32| &matrix[number as usize * width..][..width];
    for (rows, out) in rows.chunks(DENSE_ROWS).zip(out.chunks_mut(DENSE_ROWS)) {
        match (rows, out) {
            (&[a, b], out) => out.copy_from_slice(&dots(row, [at(a), at(b)])),
            (rows, out) => rows.iter().zip(out).for_each(|(&number, out)| [*out] = dots(row, [at(number)])),
        }
    }
}

/// Inner products of `row` with `N` vectors of its length.
#[inline(always)]
fn dots<const N: usize>(row: &[f64], vectors: [&[f64]; N]) -> [f64; N] {
    let (chunks, rest) = row.as_chunks::<LANES>();
    let parts = vectors.map(|vector| vector[..row.len()].as_chunks::<LANES>());
    let mut sums = [[0.0; LANES]; N];
    for (c, x) in chunks.iter().enumerate() {
        for r in 0..N {
            sums[r] = multiply_add(sums[r], x, &parts[r].0[c]);
        }
    }
    if !rest.is_empty() {
        let x = padded(rest);
        for r in 0..N {
            sums[r] = multiply_add(sums[r], &x, &padded(parts[r].1)); // zeros change no bit of a sum that began with +0
        }
    }
    std::array::from_fn(|r| fold(&sums[r]))
}

/// By value, so that the sums stay in registers.
#[inline(always)]
fn multiply_add(mut sums: [f64; LANES], x: &[f64; LANES], y: &[f64; LANES]) -> [f64; LANES] {
    for k in 0..LANES {
        sums[k] += x[k] * y[k];
    }
    sums
}

/// The end of a vector.
fn padded(rest: &[f64]) -> [f64; LANES] {
    let mut padded = [0.0; LANES];
    padded[..rest.len()].copy_from_slice(rest);
    padded
}

#[cfg(test)]
mod tests {
    use super::super::tests::vector;
    use super::*;

    /// The vectorised sum equals the same sum written with plain loops, bit for bit.
    #[test]
    fn dot_has_the_bits_of_the_plain_loop() {
        for len in [0, 1, 7, 15, 16, 17, 33, 128, 1000, 4004] {
            let (a, b) = (vector(len, 1), vector(len, 2));
            let mut sums = [0.0; LANES];
            for k in 0..len {
                sums[k % LANES] += a[k] * b[k];
            }
            let mut width = LANES / 2;
            while width > 0 {
                for k in 0..width {
                    sums[k] += sums[k + width];
                }
                width /= 2;
            }
            assert_eq!(dot(&a, &b).to_bits(), sums[0].to_bits(), "length {len}");
        }
    }

    /// Dense rows scored together have the bits of single products, whichever rows of the matrix they are.
    #[test]
    fn dense_rows_have_the_bits_of_dot() {
        for width in [1usize, 15, 16, 40, 256] {
            let (row, matrix) = (vector(width, 7), vector(width * 10, 8));
            let (mut all, mut some) = (vec![0.0; 10], vec![0.0; 10]);
            dense_row_scores(&row, &matrix, &mut all);
            let numbers = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3];
            for count in 0..=numbers.len() {
                some_dense_row_scores(&row, &matrix, &numbers[..count], &mut some[..count]);
                for (number, out) in numbers[..count].iter().zip(&some) {
                    assert_eq!(out.to_bits(), all[*number as usize].to_bits(), "row {number} of {count}");
                }
            }
            for (k, out) in all.iter().enumerate() {
                assert_eq!(out.to_bits(), dot(&row, &matrix[k * width..][..width]).to_bits());
            }
        }
    }
}
