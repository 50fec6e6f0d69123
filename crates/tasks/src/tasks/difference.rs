//! Writes `phi(x, y) - phi(x, y_i)` with sorted indices when all there is are rows of the input in label blocks
//! and single weights: no sorting of long vectors, no entry where the two agree.

use multiplane_core::plane::Plane;

use crate::data::{Row, SparseRows};

/// A feature difference under construction; reuse it, it keeps its buffers.
#[derive(Debug, Default)]
pub(super) struct Difference {
    /// (label block, row of the input, sign)
    rows: Vec<(u32, usize, f64)>,
    /// (index, value)
    singles: Vec<(u32, f64)>,
    merged: Vec<(u32, f64)>,
    spare: Vec<(u32, f64)>,
}

impl Difference {
    /// Forgets what was there.
    pub(super) fn begin(&mut self) {
        self.rows.clear();
        self.singles.clear();
    }

    /// Adds `sign` times row `row` of the input in the block of `label`.
    pub(super) fn add_row(&mut self, label: u32, row: usize, sign: f64) {
        self.rows.push((label, row, sign));
    }

    /// Adds `value` at one index, which must lie above all blocks.
    pub(super) fn add_single(&mut self, index: u32, value: f64) {
        self.singles.push((index, value));
    }

    /// Pushes the rows, block by block with ascending indices; rows of one block are merged, and what cancels
    /// is left out. Blocks are `width` long.
    pub(super) fn write_rows(&mut self, x: &SparseRows, width: u32, scale: f64, out: &mut Plane) {
        self.rows.sort_unstable_by_key(|&(label, row, _)| (label, row));
        let mut rows = &self.rows[..];
        while let Some(&(label, row, sign)) = rows.first() {
            let same = rows.iter().take_while(|entry| entry.0 == label).count();
            let start = label * width;
            if same == 1 {
                let row = x.row(row);
                out.extend_scaled(start, row.indices, scale * sign, row.values);
            } else {
                self.merged.clear();
                for &(_, row, sign) in &rows[..same] {
                    merge(&self.merged, x.row(row), sign, &mut self.spare);
                    std::mem::swap(&mut self.merged, &mut self.spare);
                }
                for &(index, value) in self.merged.iter().filter(|entry| entry.1 != 0.0) {
                    out.push(start + index, scale * value);
                }
            }
            rows = &rows[same..];
        }
    }

    /// Pushes the single weights in ascending order, added up; what cancels is left out.
    pub(super) fn write_singles(&mut self, scale: f64, out: &mut Plane) {
        self.singles.sort_unstable_by_key(|&(index, _)| index); // values are +-1: order does not matter to a sum
        let mut singles = &self.singles[..];
        while let Some(&(index, _)) = singles.first() {
            let same = singles.iter().take_while(|entry| entry.0 == index).count();
            let value: f64 = singles[..same].iter().map(|entry| entry.1).sum();
            if value != 0.0 {
                out.push(index, scale * value);
            }
            singles = &singles[same..];
        }
    }
}

/// `out = left + sign * right`, both ascending.
fn merge(left: &[(u32, f64)], right: Row<'_>, sign: f64, out: &mut Vec<(u32, f64)>) {
    out.clear();
    let mut left = left.iter().copied().peekable();
    for (index, value) in right.iter() {
        while let Some(entry) = left.next_if(|entry| entry.0 < index) {
            out.push(entry);
        }
        let before = left.next_if(|entry| entry.0 == index).map_or(0.0, |entry| entry.1);
        out.push((index, before + sign * value));
    }
    out.extend(left);
}
