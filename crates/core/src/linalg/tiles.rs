//! One sparse row against all rows of a matrix that is packed in tiles: what rows of kernel matrices are made of.
//!
//! A tile holds some rows of the matrix, column by column, so that each lane of a register belongs to a row of its own:
//! a sum runs over the stored entries in order, and has the bits of a plain loop. Columns that the sparse row lacks are
//! not read; they would add zeros.
//!
//! Cost: one stretch of the tile per stored entry and tile: 0.1 ns per entry and row of bytes; of numbers 0.1 to 0.3 ns
//! where several rows take turns, up to 0.5 where tiles come from memory
//! (`benchmarks/runs/2026-11-23-kernel-rows-2cores`).

use multiversion::multiversion;

/// Rows of a tile of numbers.
pub const TILE: usize = 32;

/// Rows of a tile of bytes.
pub const BYTE_TILE: usize = 256;

/// Entries whose ones a byte can count.
const BYTE_MOST: usize = 255;

/// How two features make a term of a sum over columns: the same for (x, y) and (y, x), and 0 where one of them is.
pub trait Pairing: Copy {
    /// Returns the term of features `x` and `y`.
    fn term(x: f64, y: f64) -> f64;
}

/// `x y`.
#[derive(Clone, Copy, Debug)]
pub struct Product;

/// The smaller of two numbers >= 0.
#[derive(Clone, Copy, Debug)]
pub struct Minimum;

/// `x y / (x + y)` for numbers >= 0, half their harmonic mean; 0 for two zeros.
#[derive(Clone, Copy, Debug)]
pub struct Harmonic;

impl Pairing for Product {
    #[inline(always)]
    fn term(x: f64, y: f64) -> f64 {
        x * y
    }
}

impl Pairing for Minimum {
    #[inline(always)]
    fn term(x: f64, y: f64) -> f64 {
        if x < y { x } else { y }
    }
}

impl Pairing for Harmonic {
    #[inline(always)]
    fn term(x: f64, y: f64) -> f64 {
        let product = x * y;
        let mean = product / (x + y);
        if product > 0.0 { mean } else { 0.0 }
    }
}

/// `out[r] = sum_i term(values[i], M[r][indices[i]])` for the rows r of some tiles of M; `values` is `None` where all
/// are 1.
///
/// Row `TILE * t + lane` of M has its column c in `tiles[(t * columns + c) * TILE + lane]`. Panics if an index is not
/// below `columns`.
pub fn tile_sums<P: Pairing, T: Copy + Into<f64>>(
    _: P,
    indices: &[u32],
    values: Option<&[f64]>,
    tiles: &[T],
    columns: usize,
    out: &mut [f64],
) {
    assert_eq!(tiles.len(), columns * out.len());
    sums::<P, T>(indices, values, tiles, columns, out);
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn sums<P: Pairing, T: Copy + Into<f64>>(
    indices: &[u32],
    values: Option<&[f64]>,
    tiles: &[T],
    columns: usize,
    out: &mut [f64],
) {
    let stretches = tiles.as_chunks::<TILE>().0;
    for (t, out) in out.as_chunks_mut::<TILE>().0.iter_mut().enumerate() {
        let tile = &stretches[t * columns..][..columns];
        // By value and in two loops, so that the sums stay in registers.
        let mut sums = [0.0; TILE];
        match values {
            None => {
                for &index in indices {
                    sums = add::<P, T>(sums, 1.0, &tile[index as usize]);
                }
            }
            Some(values) => {
                for (&index, &value) in indices.iter().zip(values) {
                    sums = add::<P, T>(sums, value, &tile[index as usize]);
                }
            }
        }
        *out = sums;
    }
}

#[inline(always)]
fn add<P: Pairing, T: Copy + Into<f64>>(mut sums: [f64; TILE], value: f64, stretch: &[T; TILE]) -> [f64; TILE] {
    for lane in 0..TILE {
        sums[lane] += P::term(value, stretch[lane].into());
    }
    sums
}

/// `out[r] = sum_i M[r][indices[i]]` for the rows r of some tiles of a matrix of zeros and ones; layout as for
/// [`tile_sums`], with `BYTE_TILE` rows to a tile. Panics if an index is not below `columns`.
pub fn tile_counts(indices: &[u32], tiles: &[u8], columns: usize, out: &mut [f64]) {
    assert_eq!(tiles.len(), columns * out.len());
    counts(indices, tiles, columns, out);
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn counts(indices: &[u32], tiles: &[u8], columns: usize, out: &mut [f64]) {
    let stretches = tiles.as_chunks::<BYTE_TILE>().0;
    for (t, out) in out.as_chunks_mut::<BYTE_TILE>().0.iter_mut().enumerate() {
        let tile = &stretches[t * columns..][..columns];
        out.fill(0.0);
        for indices in indices.chunks(BYTE_MOST) {
            let mut ones = [0u8; BYTE_TILE];
            for &index in indices {
                ones = count(ones, &tile[index as usize]);
            }
            out.iter_mut().zip(ones).for_each(|(out, ones)| *out += f64::from(ones));
        }
    }
}

#[inline(always)]
fn count(mut ones: [u8; BYTE_TILE], stretch: &[u8; BYTE_TILE]) -> [u8; BYTE_TILE] {
    for lane in 0..BYTE_TILE {
        ones[lane] = ones[lane].wrapping_add(stretch[lane]);
    }
    ones
}

#[cfg(test)]
mod tests {
    use super::super::tests::vector;
    use super::*;

    /// Packs rows, column by column in tiles of `tile` rows, with zeros after the last.
    fn packed<T: Copy + Default>(rows: &[Vec<T>], columns: usize, tile: usize) -> Vec<T> {
        let mut tiles = vec![T::default(); rows.len().div_ceil(tile) * tile * columns];
        for (r, row) in rows.iter().enumerate() {
            row.iter().enumerate().for_each(|(c, &x)| tiles[(r / tile * columns + c) * tile + r % tile] = x);
        }
        tiles
    }

    fn check<P: Pairing>(pairing: P, name: &str) {
        for (columns, count) in [(1usize, 1usize), (7, 32), (40, 77)] {
            let rows: Vec<Vec<f32>> = (0..count)
                .map(|r| vector(columns, 9 + r as u64).iter().map(|&x| x.max(0.0) as f32).collect::<Vec<f32>>())
                .collect();
            let tiles = packed(&rows, columns, TILE);
            let indices: Vec<u32> = (0..columns as u32).step_by(2).collect();
            let values: Vec<f64> = vector(indices.len(), 5).iter().map(|x| x.abs()).collect();
            for values in [None, Some(&values[..])] {
                let mut out = vec![f64::NAN; count.div_ceil(TILE) * TILE];
                tile_sums(pairing, &indices, values, &tiles, columns, &mut out);
                for (r, out) in out.iter().enumerate() {
                    let row = |c: u32| rows.get(r).map_or(0.0, |row| f64::from(row[c as usize]));
                    let term = |(k, &c): (usize, &u32)| P::term(values.map_or(1.0, |values| values[k]), row(c));
                    let expected = indices.iter().enumerate().map(term).fold(0.0, |sum: f64, term| sum + term);
                    assert_eq!(out.to_bits(), expected.to_bits(), "{name}: row {r} of {count}, {columns} columns");
                }
            }
        }
    }

    /// Sums have the bits of plain loops, for every pairing, in the last tile as in others.
    #[test]
    fn sums_are_those_of_plain_loops() {
        check(Product, "product");
        check(Minimum, "minimum");
        check(Harmonic, "harmonic");
    }

    /// Ones are counted, also where a byte could not hold their number.
    #[test]
    fn ones_are_counted() {
        for (columns, count) in [(1usize, 1usize), (40, 300), (700, 20)] {
            let rows: Vec<Vec<u8>> =
                (0..count).map(|r| vector(columns, r as u64).iter().map(|&x| u8::from(x > -0.45)).collect()).collect();
            let tiles = packed(&rows, columns, BYTE_TILE);
            let indices: Vec<u32> = (0..columns as u32).collect();
            let mut out = vec![f64::NAN; count.div_ceil(BYTE_TILE) * BYTE_TILE];
            tile_counts(&indices, &tiles, columns, &mut out);
            for (r, row) in rows.iter().enumerate() {
                assert_eq!(out[r], row.iter().map(|&one| f64::from(one)).sum::<f64>(), "row {r} of {count}");
            }
            assert!(out[count..].iter().all(|&out| out == 0.0));
        }
    }
}
