//! Kernel matrices: inner products of rows (parts of training examples) in a space that nobody writes down.
//!
//! Whoever trains with a kernel on parts moves images `f = K B` by whole rows of K, and asks for few single values;
//! what computes and keeps the numbers lies above, beside the features.

use std::ops::Range;

/// How many values of a kernel matrix were computed, and how many read again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct KernelCounts {
    /// Values computed: R for a row, 1 for a single value.
    pub evaluations: u64,
    /// Values read again from the cache.
    pub reread: u64,
}

/// The counts of a matrix, and the rows that it holds, the one used last at the end: a run that goes on counts as
/// one that was never stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct KernelCache {
    /// The counts.
    pub counts: KernelCounts,
    /// The rows, each once.
    pub rows: Vec<u32>,
}

impl KernelCache {
    /// Returns true if these can be the rows of a matrix of so many.
    pub fn is_sound(&self, rows: usize) -> bool {
        let mut sorted = self.rows.clone();
        sorted.sort_unstable();
        sorted.is_sorted_by(|a, b| a < b) && sorted.last().is_none_or(|&last| (last as usize) < rows)
    }
}

/// A row of a kernel matrix on its way into a vector: `out[start + r] += factor * K[row, r]` for all r.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowMove {
    /// The row.
    pub row: usize,
    /// Its factor.
    pub factor: f64,
    /// Its first index in the vector.
    pub start: usize,
}

/// A symmetric positive semidefinite matrix over the rows (parts) of the training examples, computed as it is asked
/// for.
///
/// No bit of a value depends on the order of questions, on how much is cached or on the number of threads.
pub trait KernelMatrix: Send {
    /// Number of rows R.
    fn len(&self) -> usize;

    /// Returns true if there is no row.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns `K[a, b]`: the very number that [`add_row`](Self::add_row) adds, and that of `K[b, a]`.
    ///
    /// # Panics
    /// If there is no such row.
    fn entry(&mut self, a: usize, b: usize) -> f64;

    /// Appends K among some rows to `out`, `[rows][rows]`: the numbers of [`entry`](Self::entry).
    ///
    /// # Panics
    /// If there is no such row.
    fn extend_among(&mut self, rows: Range<usize>, out: &mut Vec<f64>) {
        for a in rows.clone() {
            out.extend(rows.clone().map(|b| self.entry(a, b)));
        }
    }

    /// Adds `alpha * K[row, r]` to `out[r]` for all r (`[R]`).
    ///
    /// # Panics
    /// If there is no such row, or `out` is not R long.
    fn add_row(&mut self, row: usize, alpha: f64, out: &mut [f64]);

    /// Makes several moves into `out`, in order; rows that are not cached may be computed together. Bit for bit what
    /// [`add_row`](Self::add_row) gives one after the other.
    ///
    /// # Panics
    /// If there is no such row, or `out` ends before a move does.
    fn add_rows(&mut self, moves: &[RowMove], out: &mut [f64]) {
        let len = self.len();
        moves.iter().for_each(|to| self.add_row(to.row, to.factor, &mut out[to.start..][..len]));
    }

    /// Returns what was computed and read so far.
    fn counts(&self) -> KernelCounts;

    /// Returns the counts and the rows that are cached.
    fn cache(&self) -> KernelCache {
        KernelCache { counts: self.counts(), rows: Vec::new() }
    }

    /// Goes on with these counts as if these rows were cached: they are computed when they are read first.
    fn take_over(&mut self, _cache: &KernelCache) {}
}
