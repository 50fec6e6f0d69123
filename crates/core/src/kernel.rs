//! Kernel matrices: inner products of rows (parts of training examples) in a space that nobody writes down.
//!
//! Whoever trains with a kernel on parts moves images `f = K B` by whole rows of K, and asks for few single values;
//! what computes and keeps the numbers lies above, beside the features.

/// How many values of a kernel matrix were computed, and how many read again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelCounts {
    /// Values computed: R for a row, 1 for a single value.
    pub evaluations: u64,
    /// Values read again from the cache.
    pub reread: u64,
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
}
