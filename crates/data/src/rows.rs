//! Sparse rows of numbers in compressed form.
//!
//! Cost: 4 bytes per stored entry while all entries are 1 (most text and all pixel data), 12 otherwise, and 8
//! per row. Clones and slices share what is stored.

use std::ops::Range;
use std::sync::Arc;

use multiplane_core::linalg;
use sha2::{Digest, Sha256};

/// The most columns that a file may ask for, 2^28: weights for them already take 2 GiB.
pub const MAX_FEATURES: u32 = 1 << 28;

/// Rows of numbers of which only the nonzero ones are stored, by ascending column.
#[derive(Clone, Debug, Default)]
pub struct SparseRows {
    columns: usize,
    /// The rows of `stored` that these are; all of them while rows are added.
    range: Range<usize>,
    /// The places of their entries.
    entries: Range<usize>,
    stored: Arc<RowStore>,
}

/// The entries of rows, shared by all who have some of these.
#[derive(Clone, Debug, Default)]
struct RowStore {
    /// The end of each row in `indices`; it begins where the one before ends.
    ends: Vec<usize>,
    indices: Vec<u32>,
    /// `None` while every stored value is 1.
    values: Option<Vec<f64>>,
}

impl RowStore {
    fn start(&self, row: usize) -> usize {
        row.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    fn push(&mut self, indices: &[u32], values: &[f64]) {
        for (&index, &value) in indices.iter().zip(values) {
            if value == 0.0 {
                continue;
            }
            if value != 1.0 && self.values.is_none() {
                let mut all = Vec::with_capacity(self.indices.capacity());
                all.resize(self.indices.len(), 1.0);
                self.values = Some(all);
            }
            if let Some(all) = &mut self.values {
                all.push(value);
            }
            self.indices.push(index);
        }
        self.ends.push(self.indices.len());
    }

    fn push_ones(&mut self, indices: &[u32]) {
        self.indices.extend_from_slice(indices);
        if let Some(all) = &mut self.values {
            all.resize(self.indices.len(), 1.0);
        }
        self.ends.push(self.indices.len());
    }

    /// Copies the entries of some rows.
    fn copy(&self, rows: &Range<usize>) -> RowStore {
        let entries = self.entries(rows);
        let ends = self.ends[rows.clone()].iter().map(|end| end - entries.start).collect();
        let values = self.values.as_ref().map(|all| all[entries.clone()].to_vec());
        RowStore { ends, indices: self.indices[entries].to_vec(), values }
    }

    /// Returns the places of the entries of some rows.
    fn entries(&self, rows: &Range<usize>) -> Range<usize> {
        self.start(rows.start)..self.start(rows.end)
    }
}

impl PartialEq for SparseRows {
    fn eq(&self, other: &SparseRows) -> bool {
        let same = |i: usize| self.row(i).iter().eq(other.row(i).iter());
        self.columns == other.columns && self.len() == other.len() && (0..self.len()).all(same)
    }
}

impl SparseRows {
    /// Begins with no rows yet, of `columns` columns.
    pub fn new(columns: usize) -> Self {
        SparseRows { columns, ..SparseRows::default() }
    }

    /// As [`new`](SparseRows::new), with room for so many rows and entries.
    pub fn with_capacity(columns: usize, rows: usize, entries: usize) -> Self {
        let stored = RowStore { ends: Vec::with_capacity(rows), indices: Vec::with_capacity(entries), values: None };
        SparseRows { columns, stored: Arc::new(stored), ..SparseRows::default() }
    }

    /// Returns these rows alone, without a copy.
    ///
    /// # Panics
    /// If there are no such rows.
    #[must_use]
    pub fn slice(&self, rows: Range<usize>) -> SparseRows {
        assert!(rows.start <= rows.end && rows.end <= self.len(), "the rows must exist");
        let range = self.range.start + rows.start..self.range.start + rows.end;
        SparseRows { entries: self.stored.entries(&range), range, ..self.clone() }
    }

    /// Returns the entries to change them: a copy, if others have them, too.
    fn owned(&mut self) -> &mut RowStore {
        if self.range != (0..self.stored.ends.len()) {
            self.stored = Arc::new(self.stored.copy(&self.range));
            self.range = 0..self.range.len();
            self.entries = 0..self.entries.len();
        }
        Arc::make_mut(&mut self.stored)
    }

    /// Gives the rows at least so many columns.
    pub fn widen(&mut self, columns: usize) {
        self.columns = self.columns.max(columns);
    }

    /// Lets the rows have as many columns as their entries need, which only hashes may see.
    pub(super) fn forget_width(&mut self) {
        self.columns = 0;
    }

    /// Leaves out the columns without entries and renumbers the others; returns those that stay, in ascending order.
    pub fn compact(&mut self) -> Vec<u32> {
        let stored = self.owned();
        let mut kept = stored.indices.clone();
        kept.sort_unstable();
        kept.dedup();
        let place = |column: &u32| kept.partition_point(|other| other < column) as u32;
        stored.indices.iter_mut().for_each(|column| *column = place(column));
        self.columns = kept.len();
        kept
    }

    /// Checks a row that is about to be added, and makes room for its columns.
    fn admit(&mut self, indices: &[u32]) {
        assert!(indices.is_sorted_by(|left, right| left < right), "indices must ascend strictly");
        if let Some(&last) = indices.last() {
            self.columns = self.columns.max(last as usize + 1);
        }
    }

    /// Appends the row that has `values[k]` in column `indices[k]` and zeros elsewhere.
    ///
    /// Zeros among the values are not stored, but their columns count: [`columns`](Self::columns) grows to the
    /// largest index plus one.
    ///
    /// # Panics
    /// If the slices differ in length or the indices do not ascend strictly; callers check their input first.
    pub fn push(&mut self, indices: &[u32], values: &[f64]) {
        assert_eq!(indices.len(), values.len(), "one value per index");
        self.admit(indices);
        self.owned().push(indices, values);
        self.count();
    }

    /// Appends the row that has 1 in these columns and zeros elsewhere.
    ///
    /// # Panics
    /// If the indices do not ascend strictly.
    pub fn push_ones(&mut self, indices: &[u32]) {
        self.admit(indices);
        self.owned().push_ones(indices);
        self.count();
    }

    /// Counts the row that was added.
    fn count(&mut self) {
        self.range.end += 1;
        self.entries.end = self.stored.indices.len();
    }

    /// Appends these rows of `other`.
    pub fn append(&mut self, other: &SparseRows, rows: impl IntoIterator<Item = usize>) {
        let mut values = Vec::new();
        for row in rows {
            let row = other.row(row);
            values.clear();
            values.extend(row.iter().map(|(_, value)| value));
            self.push(row.indices, &values);
        }
    }

    /// Divides every column by its number.
    ///
    /// # Panics
    /// If there are fewer numbers than columns with entries.
    pub fn divide_columns(&mut self, divisors: &[f64]) {
        let RowStore { indices, values, .. } = self.owned();
        if values.is_none() && indices.iter().any(|&index| divisors[index as usize] != 1.0) {
            *values = Some(vec![1.0; indices.len()]);
        }
        if let Some(values) = values {
            values.iter_mut().zip(indices).for_each(|(value, &mut index)| *value /= divisors[index as usize]);
        }
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Returns true if there is no row.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// Returns the number of columns: every index is smaller.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the number of stored entries of some rows.
    pub fn entries(&self, rows: Range<usize>) -> usize {
        rows.map(|i| self.row(i).indices.len()).sum()
    }

    /// Returns the number of stored entries over all rows.
    pub fn nonzeros(&self) -> usize {
        self.entries.len()
    }

    /// Returns row `i`, from 0.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, i: usize) -> Row<'_> {
        assert!(i < self.range.len(), "the row must exist");
        let (stored, i) = (&*self.stored, self.range.start + i);
        let range = stored.start(i)..stored.ends[i];
        Row { indices: &stored.indices[range.clone()], values: stored.values.as_ref().map(|all| &all[range]) }
    }

    /// Asks the processor to bring the numbers nearer, for use soon.
    pub fn prefetch(&self) {
        let (stored, entries) = (&*self.stored, &self.entries);
        linalg::prefetch(&stored.ends[self.range.clone()]);
        if let Some(values) = &stored.values {
            linalg::prefetch(&values[entries.clone()]);
        }
        if stored.values.is_none() || entries.len() < self.len() * self.columns {
            linalg::prefetch(&stored.indices[entries.clone()]); // full rows are used without their indices
        }
    }

    /// Feeds the numbers to a hash, for fingerprints of data: shape, then each row's length, indices and values
    /// (little endian). Equal rows give equal bits however they are stored.
    pub fn hash_into(&self, sha: &mut Sha256) {
        sha.update((self.columns as u64).to_le_bytes());
        sha.update((self.len() as u64).to_le_bytes());
        (0..self.len()).for_each(|row| self.hash_row(row, sha));
    }

    /// Feeds one row to a hash.
    pub fn hash_row(&self, row: usize, sha: &mut Sha256) {
        let row = self.row(row);
        let mut bytes = Vec::with_capacity(8 + 12 * row.indices.len());
        bytes.extend_from_slice(&(row.indices.len() as u64).to_le_bytes());
        bytes.extend(row.indices.iter().flat_map(|index| index.to_le_bytes()));
        bytes.extend(row.iter().flat_map(|(_, value)| value.to_le_bytes()));
        sha.update(&bytes);
    }
}

/// One row of [`SparseRows`].
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// Columns of the stored entries, strictly ascending.
    pub indices: &'a [u32],
    /// Their values, one per index; `None` if all are 1.
    pub values: Option<&'a [f64]>,
}

impl<'a> Row<'a> {
    /// Returns the stored entries as (column, value), by ascending column.
    pub fn iter(&self) -> impl Iterator<Item = (u32, f64)> + use<'a> {
        let values = self.values;
        let value = move |k: usize| values.map_or(1.0, |all| all[k]);
        let columns = self.indices.iter().enumerate();
        columns.map(move |(k, &index)| (index, value(k)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fingerprint(rows: &SparseRows) -> String {
        let mut sha = Sha256::new();
        rows.hash_into(&mut sha);
        format!("{:x?}", sha.finalize())
    }

    /// A fingerprint depends on the rows alone: not on how values are stored, but on shape, place and value.
    #[test]
    fn fingerprint_is_canonical() {
        let mut ones = SparseRows::new(3);
        ones.push(&[0, 2], &[1.0, 1.0]);
        let mut explicit = ones.clone();
        explicit.owned().values = Some(vec![1.0; 2]);
        assert_eq!(fingerprint(&ones), fingerprint(&explicit));

        let mut others = vec![SparseRows::new(3); 5];
        others[0].push(&[0, 1], &[1.0, 1.0]);
        others[1].push(&[0, 2], &[1.0, 2.0]);
        others[2].push(&[0], &[1.0]);
        others[2].push(&[2], &[1.0]);
        others[3].push(&[0, 2, 3], &[1.0, 1.0, 0.0]);
        for other in &others {
            assert_ne!(fingerprint(&ones), fingerprint(other), "{other:?}");
        }
    }

    /// A slice is as rows that were added one by one, and changing it changes no other.
    #[test]
    fn slices_are_rows_of_their_own() {
        let mut all = SparseRows::new(3);
        let rows: [(&[u32], &[f64]); 4] = [(&[0, 2], &[2.0, 3.0]), (&[], &[]), (&[1], &[1.0]), (&[0], &[5.0])];
        rows.iter().for_each(|(indices, values)| all.push(indices, values));
        let before = all.clone();
        for (from, to) in [(0, 4), (0, 2), (1, 3), (2, 4), (1, 1)] {
            let mut own = SparseRows::new(3);
            rows[from..to].iter().for_each(|(indices, values)| own.push(indices, values));
            let mut slice = all.slice(from..to);
            assert_eq!((&slice, slice.nonzeros(), fingerprint(&slice)), (&own, own.nonzeros(), fingerprint(&own)));
            assert_eq!(slice.slice(0..slice.len()), own);
            for rows in [&mut slice, &mut own] {
                rows.divide_columns(&[2.0; 3]);
                rows.push(&[1, 2], &[0.5, 1.0]);
            }
            assert_eq!(slice, own);
            assert_eq!(slice.compact(), own.compact());
            assert_eq!((slice, &all), (own, &before));
        }
    }
}
