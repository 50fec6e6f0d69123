//! Kernel matrices that users give: rows of the data are rows of the matrix, and training rows are known by their
//! columns.
//!
//! A model holds the training rows that carry weight as rows of one 1, in the column of their number: a new row has its
//! kernel values there.

use crate::data::SparseRows;
use crate::kernel::{Kernel, MOST_FACTORED};
use crate::problem::OpenError;

/// Checks the shape of the rows before anything is made of them; `columns` is what the data has.
///
/// # Errors
///
/// Training rows are no square, new ones have another number of columns than there were training rows, or columns are
/// to be divided.
pub(super) fn check(rows: &SparseRows, columns: usize, is_known: bool, is_scaled: bool) -> Result<(), OpenError> {
    let training = if is_known { rows.columns() } else { rows.len() };
    if columns != training {
        let found = format!("found {} rows of {columns} columns", rows.len());
        let rule =
            format!("expected {training} columns, one for each training row; write the last one even where it is 0");
        return Err(OpenError::new(format!("kernel `precomputed`: {found}, {rule}")));
    }
    if is_scaled {
        return Err(OpenError::new("kernel `precomputed` goes with task.scale=none: its columns are no features"));
    }
    Ok(())
}

/// Returns the warning of a training matrix that is too large to be checked as a whole.
pub(super) fn unchecked(training: usize) -> Option<String> {
    (training > MOST_FACTORED).then(|| {
        format!(
            "kernel `precomputed`: {training} rows are too many (more than {MOST_FACTORED}) to check that the matrix is positive \
             semidefinite; bounds are wrong where it is not"
        )
    })
}

/// Rows of one 1 each, for so many training rows.
pub(super) fn numbers(training: usize) -> SparseRows {
    let mut rows = SparseRows::new(training);
    (0..training as u32).for_each(|row| rows.push_ones(&[row]));
    rows
}

/// Returns the numbers that such rows stand for.
///
/// # Errors
///
/// A row, of a model then, that has not one 1.
pub(super) fn numbered(rows: &SparseRows) -> Result<Vec<u32>, OpenError> {
    let number = |row: usize| match rows.row(row).iter().collect::<Vec<_>>()[..] {
        [(column, 1.0)] => Ok(column),
        _ => Err(OpenError::new(format!(
            "the model's rows of a precomputed kernel must have one 1 each, row {row} has not"
        ))),
    };
    (0..rows.len()).map(number).collect()
}

/// The numbers by which rows that carry weight are packed.
pub(super) fn numbers_of(kernel: Kernel, support: &SparseRows) -> Result<Vec<u32>, OpenError> {
    match kernel {
        Kernel::Precomputed => numbered(support),
        _ => Ok((0..support.len() as u32).collect()),
    }
}
