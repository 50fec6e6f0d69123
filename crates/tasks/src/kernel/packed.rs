//! Rows laid out so that one of them goes against all: dense in tiles, or by columns where few features are stored.
//!
//! Memory: a byte per cell where all features are 0 and 1, else 4 where no feature has more than 32 bits to it, else 8; by
//! columns 4 or 12 per stored feature. Whatever the layout, sums run over ascending columns in doubles: the same bits.

use std::ops::Range;

use multiplane_core::linalg::{BYTE_TILE, Pairing, TILE, tile_counts, tile_sums};

use crate::data::{Row, SparseRows};

/// Least share of stored features for tiles of bytes, and for those of numbers.
const DENSE_ONES: f64 = 1.0 / 32.0;
const DENSE: f64 = 1.0 / 8.0;

/// Bytes of tiles that several rows go against while they are near, as far as rows of one tile allow.
const NEAR: usize = 1 << 15;

/// Most rows taken at a time.
const MOST_ROWS: usize = 1024;

/// What ranges of rows begin at.
pub(super) const ALIGNED: usize = MOST_ROWS;

/// Rows, packed.
pub(super) struct Packed {
    columns: usize,
    cells: Cells,
}

enum Cells {
    Ones(Vec<u8>),
    Narrow(Vec<f32>),
    Wide(Vec<f64>),
    Columns(InvertedIndex),
}

impl Packed {
    /// Packs rows.
    pub(super) fn new(rows: &SparseRows) -> Self {
        let columns = rows.columns();
        let values = || (0..rows.len()).flat_map(|i| rows.row(i).values.unwrap_or_default());
        let density = rows.nonzeros() as f64 / (rows.len() as f64 * columns as f64).max(1.0);
        let is_ones = values().all(|&value| value == 1.0);
        let cells = if density < if is_ones { DENSE_ONES } else { DENSE } {
            Cells::Columns(InvertedIndex::new(rows))
        } else if is_ones {
            Cells::Ones(tiles(rows, BYTE_TILE, |_| 1u8))
        } else if values().all(|&value| f64::from(value as f32) == value) {
            Cells::Narrow(tiles(rows, TILE, |value| value as f32))
        } else {
            Cells::Wide(tiles(rows, TILE, |value| value))
        };
        Packed { columns, cells }
    }

    /// Rows that [`sums`](Self::sums) takes at a time of `len`: what several queries share.
    pub(super) fn step(&self, len: usize) -> usize {
        let near = |tile: usize, bytes: usize| {
            let tiles = NEAR / (self.columns * tile * bytes).max(1);
            (tiles * tile).clamp(tile, MOST_ROWS)
        };
        match self.cells {
            Cells::Ones(_) => near(BYTE_TILE, 1),
            Cells::Narrow(_) => near(TILE, 4),
            Cells::Wide(_) => near(TILE, 8),
            Cells::Columns(_) => len.max(1),
        }
    }

    /// Steps of the innermost loop for a row with so many stored features against `rows` rows, for judging what is worth a
    /// thread.
    pub(super) fn work(&self, features: usize, rows: usize) -> usize {
        match &self.cells {
            Cells::Ones(_) => features * rows / 8,
            Cells::Narrow(_) | Cells::Wide(_) => features * rows,
            Cells::Columns(columns) => features * 4 * columns.rows.len() / self.columns.max(1),
        }
    }

    /// Writes the sums of `query` with `rows`, which begin at a multiple of [`step`](Self::step), to the front of `out`.
    pub(super) fn sums<P: Pairing>(&self, pairing: P, query: Row<'_>, rows: Range<usize>, out: &mut Vec<f64>) {
        let known = query.indices.partition_point(|&index| (index as usize) < self.columns);
        let (indices, values) = (&query.indices[..known], query.values.map(|values| &values[..known]));
        let tile = if let Cells::Ones(_) = self.cells { BYTE_TILE } else { TILE };
        let padded = rows.len().next_multiple_of(tile);
        if out.len() < padded {
            out.resize(padded, 0.0);
        }
        let (out, cells) = (&mut out[..padded], rows.start * self.columns..(rows.start + padded) * self.columns);
        match &self.cells {
            Cells::Narrow(tiles) => tile_sums(pairing, indices, values, &tiles[cells], self.columns, out),
            Cells::Wide(tiles) => tile_sums(pairing, indices, values, &tiles[cells], self.columns, out),
            Cells::Columns(columns) => columns.sums(pairing, indices, values, rows, out),
            Cells::Ones(tiles) => match values.filter(|values| values.iter().any(|&value| value != 1.0)) {
                None => {
                    tile_counts(indices, &tiles[cells], self.columns, out);
                    let term = P::term(1.0, 1.0);
                    out.iter_mut().for_each(|sum| *sum *= term); // 1 or 1/2: exact
                }
                Some(values) => sums_with_ones::<P>(indices, values, &tiles[cells], self.columns, out),
            },
        }
    }
}

/// Lays rows out in tiles; zeros stand where nothing is stored.
fn tiles<T: Copy + Default>(rows: &SparseRows, tile: usize, cell: impl Fn(f64) -> T) -> Vec<T> {
    let columns = rows.columns();
    let mut tiles = vec![T::default(); rows.len().next_multiple_of(tile) * columns];
    for r in 0..rows.len() {
        for (c, value) in rows.row(r).iter() {
            tiles[(r / tile * columns + c as usize) * tile + r % tile] = cell(value);
        }
    }
    tiles
}

/// A row of any numbers against rows of zeros and ones: new rows alone can be such.
fn sums_with_ones<P: Pairing>(indices: &[u32], values: &[f64], tiles: &[u8], columns: usize, out: &mut [f64]) {
    out.fill(0.0);
    for (t, out) in out.as_chunks_mut::<BYTE_TILE>().0.iter_mut().enumerate() {
        let tile = &tiles.as_chunks::<BYTE_TILE>().0[t * columns..][..columns];
        for (&index, &value) in indices.iter().zip(values) {
            let with_one = P::term(value, 1.0);
            for (sum, &one) in out.iter_mut().zip(&tile[index as usize]) {
                *sum += with_one * f64::from(one);
            }
        }
    }
}

/// An inverted index: which rows have a feature, by ascending row.
struct InvertedIndex {
    ends: Vec<usize>,
    rows: Vec<u32>,
    values: Option<Vec<f64>>,
}

impl InvertedIndex {
    fn new(rows: &SparseRows) -> Self {
        let mut ends = vec![0usize; rows.columns() + 1];
        let entries = |r: usize| rows.row(r).iter();
        (0..rows.len()).flat_map(entries).for_each(|(c, _)| ends[c as usize + 1] += 1);
        (1..ends.len()).for_each(|c| ends[c] += ends[c - 1]);
        // Until a column is full, `ends` of the one before it says where its next row goes.
        let mut places = vec![0u32; rows.nonzeros()];
        let mut values = (0..rows.len()).any(|r| rows.row(r).values.is_some()).then(|| vec![0.0; rows.nonzeros()]);
        for r in 0..rows.len() {
            for (c, value) in entries(r) {
                let at = &mut ends[c as usize];
                places[*at] = r as u32;
                if let Some(values) = &mut values {
                    values[*at] = value;
                }
                *at += 1;
            }
        }
        ends.pop();
        InvertedIndex { ends, rows: places, values }
    }

    fn sums<P: Pairing>(&self, _: P, indices: &[u32], values: Option<&[f64]>, rows: Range<usize>, out: &mut [f64]) {
        out.fill(0.0);
        for (k, &index) in indices.iter().enumerate() {
            let x = values.map_or(1.0, |values| values[k]);
            let start = (index as usize).checked_sub(1).map_or(0, |before| self.ends[before]);
            let column = &self.rows[start..self.ends[index as usize]];
            let first = column.partition_point(|&r| (r as usize) < rows.start);
            let last = column.partition_point(|&r| (r as usize) < rows.end);
            let column = &column[first..last];
            match &self.values {
                None => {
                    let term = P::term(x, 1.0);
                    column.iter().for_each(|&r| out[r as usize - rows.start] += term);
                }
                Some(values) => {
                    let values = &values[start + first..start + last];
                    for (&r, &y) in column.iter().zip(values) {
                        out[r as usize - rows.start] += P::term(x, y);
                    }
                }
            }
        }
    }
}

/// Returns the sum of two rows alone: the bits that [`Packed::sums`] has.
pub(super) fn pair_sum<P: Pairing>(_: P, a: Row<'_>, b: Row<'_>) -> f64 {
    let mut sum = 0.0;
    let (mut i, mut j) = (0, 0);
    let value = |row: Row<'_>, at: usize| row.values.map_or(1.0, |values| values[at]);
    while i < a.indices.len() && j < b.indices.len() {
        let (left, right) = (a.indices[i], b.indices[j]);
        if left == right {
            sum += P::term(value(a, i), value(b, j));
        }
        i += usize::from(left <= right);
        j += usize::from(right <= left);
    }
    sum
}
