//! The rows of a kernel: kept, or made when they are asked for.

use std::ops::Range;
use std::sync::Arc;

use crate::data::{Row, SparseRows};

/// Rows of parts of inputs, such as the windows of images, that are too many to be kept. They are compared by inner
/// products of their features times the scale of either.
pub trait MadeRows: Send + Sync {
    /// Returns the number of rows.
    fn len(&self) -> usize;

    /// Returns true if there is no row.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of features.
    fn columns(&self) -> usize;

    /// Returns the features of a row, as a model keeps them: one row.
    fn make(&self, row: usize) -> SparseRows;

    /// Returns the factor on the features of a row that was made.
    fn scale(&self, row: Row<'_>) -> f64;

    /// Writes the scaled inner products of a row that was made with some rows of the set. They are the same to the bit
    /// with two rows exchanged, and for any range.
    fn products(&self, row: Row<'_>, with: Range<usize>, out: &mut [f64]);

    /// Returns the rows of the input that a row is part of.
    fn of_input(&self, row: usize) -> Range<usize>;

    /// Returns the scaled inner product of a row with itself.
    fn own_product(&self, row: usize) -> f64 {
        let mut product = [0.0];
        self.products(self.make(row).row(0), row..row + 1, &mut product);
        product[0]
    }
}

/// Rows of a kernel.
#[derive(Clone)]
pub enum RowSet {
    /// Rows that are kept.
    Kept(Arc<SparseRows>),
    /// Rows that are made when they are asked for.
    Made(Arc<dyn MadeRows>),
}

impl From<SparseRows> for RowSet {
    fn from(rows: SparseRows) -> RowSet {
        RowSet::Kept(Arc::new(rows))
    }
}

impl RowSet {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        match self {
            RowSet::Kept(rows) => rows.len(),
            RowSet::Made(rows) => rows.len(),
        }
    }

    /// Returns true if there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Hands out a row.
    pub fn with<R>(&self, row: usize, take: impl FnOnce(Row<'_>) -> R) -> R {
        match self {
            RowSet::Kept(rows) => take(rows.row(row)),
            RowSet::Made(rows) => take(rows.make(row).row(0)),
        }
    }

    /// Returns copies of some rows.
    pub fn selected(&self, numbers: impl IntoIterator<Item = usize>) -> SparseRows {
        match self {
            RowSet::Kept(rows) => {
                let mut selected = SparseRows::new(rows.columns());
                selected.append(rows, numbers);
                selected
            }
            RowSet::Made(rows) => {
                let mut selected = SparseRows::new(rows.columns());
                numbers.into_iter().for_each(|row| selected.append(&rows.make(row), [0]));
                selected
            }
        }
    }
}
