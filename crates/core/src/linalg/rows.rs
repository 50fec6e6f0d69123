//! Sums of rows of a table, with whole rows in registers: what scores all labels of a variable at once.
//!
//! Cost: for each entry one stretch of the table, `width` numbers long.

use multiversion::multiversion;

/// Columns of a table that one pass over a sparse row adds up: eight AVX2 registers.
const COLUMNS: usize = 32;

/// Their number is rounded up to a multiple of this, an AVX2 register.
const REGISTER: usize = 4;

/// `out[k] += sum_i values[i] * table[indices[i] * width + k]`: adds rows of a row-major table, `width` = `out.len()`
/// numbers each, scaled; `values` is `None` where all are 1. Each sum runs over the stored entries in order.
///
/// A row is read in whole registers, beyond its end if the table goes on there: surplus sums are thrown away. Panics
/// if a row is not inside the table.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
pub fn add_rows(indices: &[u32], values: Option<&[f64]>, table: &[f64], out: &mut [f64]) {
    let width = out.len();
    for (block, out) in out.chunks_mut(COLUMNS).enumerate() {
        let rows = Rows { indices, values, table, width, start: block * COLUMNS };
        match out.len().div_ceil(REGISTER) {
            1 => rows.add::<4>(out),
            2 => rows.add::<8>(out),
            3 => rows.add::<12>(out),
            4 => rows.add::<16>(out),
            5 => rows.add::<20>(out),
            6 => rows.add::<24>(out),
            7 => rows.add::<28>(out),
            _ => rows.add::<COLUMNS>(out),
        }
    }
}

/// Scaled rows of a table, from column `start` on.
struct Rows<'a> {
    indices: &'a [u32],
    values: Option<&'a [f64]>,
    table: &'a [f64],
    width: usize,
    start: usize,
}

impl Rows<'_> {
    /// Adds the rows in `N` columns to the columns of `out`, which are at most as many.
    #[inline(always)]
    fn add<const N: usize>(&self, out: &mut [f64]) {
        let columns = out.len();
        let mut sums = [0.0; N];
        sums[..columns].copy_from_slice(out);
        // By value and in two loops, so that the sums stay in registers.
        match self.values {
            None => {
                for &index in self.indices {
                    sums = add(sums, 1.0, &self.row(index, columns));
                }
            }
            Some(values) => {
                for (&index, &value) in self.indices.iter().zip(values) {
                    sums = add(sums, value, &self.row(index, columns));
                }
            }
        }
        out.copy_from_slice(&sums[..columns]);
    }

    /// `columns` numbers of a row, and whatever follows them.
    #[inline(always)]
    fn row<const N: usize>(&self, index: u32, columns: usize) -> [f64; N] {
        let row = &self.table[index as usize * self.width + self.start..];
        match row.first_chunk::<N>() {
            Some(row) => *row,
            None => padded(&row[..columns]),
        }
    }
}

/// A row at the end of the table.
#[cold]
fn padded<const N: usize>(row: &[f64]) -> [f64; N] {
    let mut padded = [0.0; N];
    padded[..row.len()].copy_from_slice(row);
    padded
}

#[inline(always)]
fn add<const N: usize>(mut sums: [f64; N], value: f64, row: &[f64; N]) -> [f64; N] {
    for k in 0..N {
        sums[k] += value * row[k];
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::super::tests::vector;
    use super::*;

    /// Rows of a table add up to the bits of plain loops, for every number of registers, at the very end of the
    /// table and with several blocks of columns.
    #[test]
    fn rows_add_up_to_the_bits_of_plain_loops() {
        for width in (1..40).chain([70]) {
            for rows in [1usize, 2, 50] {
                let table = vector(rows * width, 7);
                let indices: Vec<u32> = (0..rows as u32).step_by(2).chain([rows as u32 - 1]).collect();
                let values = vector(indices.len(), 8);
                for values in [None, Some(&values[..])] {
                    let mut expected = vector(width, 9);
                    let mut out = expected.clone();
                    for (position, &index) in indices.iter().enumerate() {
                        let value = values.map_or(1.0, |values| values[position]);
                        for (k, expected) in expected.iter_mut().enumerate() {
                            *expected += value * table[index as usize * width + k];
                        }
                    }
                    add_rows(&indices, values, &table, &mut out);
                    assert_eq!(out, expected, "{rows} rows of {width}");
                }
            }
        }
    }
}
