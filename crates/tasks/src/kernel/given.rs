//! Kernel matrices that users give: their checks, and the values of a row at the places wanted.

use std::ops::Range;

use super::error::KernelError;
use crate::data::{Row, SparseRows};

/// What two values of one pair of rows may differ by, relative to the diagonal: the rounding of whoever computed them in
/// 32 bits.
const ASYMMETRY: f64 = 1e-6;

const NAME: &str = "precomputed";

/// Rows of matrices that are factored to see whether they are positive semidefinite: some seconds.
pub(crate) const MOST_FACTORED: usize = 2000;

/// Eigenvalues below 0 that are taken for rounding, relative to the largest value of the diagonal.
const INDEFINITE: f64 = 1e-5;

/// Which columns of rows that were given are wanted.
pub(super) struct Given {
    columns: Vec<u32>,
}

impl Given {
    pub(super) fn new(columns: Vec<u32>) -> Self {
        Given { columns }
    }

    pub(super) fn len(&self) -> usize {
        self.columns.len()
    }

    /// Writes the values of a row at the columns numbered `wanted`.
    pub(super) fn values(&self, row: Row<'_>, wanted: Range<usize>, out: &mut [f64]) {
        for (out, &column) in out.iter_mut().zip(&self.columns[wanted]) {
            *out = at(row, column);
        }
    }
}

/// Returns what a row has in a column.
pub(super) fn at(row: Row<'_>, column: u32) -> f64 {
    let value = |at: usize| row.values.map_or(1.0, |values| values[at]);
    // Full rows, or ones that are full up to here.
    if row.indices.get(column as usize) == Some(&column) {
        return value(column as usize);
    }
    row.indices.binary_search(&column).map_or(0.0, value)
}

/// Checks rows of a matrix that must have `columns` columns, and no number beyond `most`.
///
/// # Errors
///
/// The wrong number of columns, or the first value that is not finite or too large.
pub(super) fn check_rows(rows: &SparseRows, columns: usize, most: f64) -> Result<(), KernelError> {
    if rows.columns() != columns {
        let rule = format!("{columns} columns, one per training row");
        return Err(KernelError::Shape { kernel: NAME, rows: rows.len(), columns: rows.columns(), rule });
    }
    for row in 0..rows.len() {
        let fits = |value: f64| value.abs() <= most;
        if let Some((column, value)) = rows.row(row).iter().find(|&(_, value)| !fits(value)) {
            let rule = if value.is_finite() { "no number beyond 32 bits, or storage f64" } else { "finite numbers" };
            return Err(fault(row, column, value, rule));
        }
    }
    Ok(())
}

/// Checks a kernel matrix over training rows and returns it with the same number for (a, b) and (b, a): their mean, where
/// rounding has made them differ.
///
/// # Errors
///
/// It is not square, a value is not finite or beyond `most`, one on the diagonal is negative, or two that should be the same are not.
pub(super) fn checked(rows: SparseRows, most: f64) -> Result<SparseRows, KernelError> {
    let count = rows.len();
    check_rows(&rows, count, most)?;
    for row in 0..count {
        let value = at(rows.row(row), row as u32);
        if value < 0.0 {
            return Err(fault(row, row as u32, value, "no number below 0 on the diagonal"));
        }
    }
    let length = |row: usize| at(rows.row(row), row as u32).sqrt();
    let mut is_symmetric = true;
    for row in 0..count {
        for (column, value) in rows.row(row).iter() {
            let mirrored = at(rows.row(column as usize), row as u32);
            let difference = (value - mirrored).abs();
            if difference > ASYMMETRY * length(row) * length(column as usize) {
                let (row_there, column_there) = (column + 1, row + 1);
                let rule = format!(
                    "{mirrored}, which stands in row {row_there}, column {column_there}: the matrix must be symmetric"
                );
                return Err(fault(row, column, value, &rule));
            }
            let most = (1.0 + ASYMMETRY) * length(row) * length(column as usize);
            if value.abs() > most {
                let rule = format!("at most {most} by the diagonal: the matrix must be positive semidefinite");
                return Err(fault(row, column, value, &rule));
            }
            is_symmetric &= difference == 0.0;
        }
    }
    if count <= MOST_FACTORED {
        check_semidefinite(&rows)?;
    }
    if is_symmetric {
        return Ok(rows);
    }
    let indices: Vec<u32> = (0..count as u32).collect();
    let mut mean = SparseRows::new(count);
    let mut values = vec![0.0; count];
    for row in 0..count as u32 {
        let value = |other: u32| 0.5 * at(rows.row(row as usize), other) + 0.5 * at(rows.row(other as usize), row);
        values.iter_mut().zip(&indices).for_each(|(out, &other)| *out = value(other));
        mean.push(&indices, &values);
    }
    Ok(mean)
}

/// Checks that a symmetric matrix is positive semidefinite, by Cholesky's factor with the largest pivot first: what is left when
/// no pivot is beyond rounding must be nothing.
fn check_semidefinite(rows: &SparseRows) -> Result<(), KernelError> {
    let count = rows.len();
    let mut left = vec![0.0; count * count];
    for row in 0..count {
        rows.row(row).iter().for_each(|(column, value)| left[row * count + column as usize] = value);
    }
    let diagonal = |left: &[f64], row: usize| left[row * count + row];
    let largest = (0..count).map(|row| diagonal(&left, row)).fold(0.0, f64::max);
    let small = INDEFINITE * largest;
    let (mut open, mut pivot) = ((0..count).collect::<Vec<_>>(), vec![0.0; count]);
    while let Some(at) =
        (0..open.len()).reduce(|a, b| if diagonal(&left, open[b]) > diagonal(&left, open[a]) { b } else { a })
    {
        let row = open.swap_remove(at);
        let value = diagonal(&left, row);
        if value <= small {
            open.push(row);
            break;
        }
        pivot.copy_from_slice(&left[row * count..][..count]);
        for &other in &open {
            let factor = pivot[other] / value;
            if factor != 0.0 {
                multiplane_core::linalg::axpy(-factor, &pivot, &mut left[other * count..][..count]);
            }
        }
    }
    for &row in &open {
        if let Some(&column) = open.iter().find(|&&column| left[row * count + column].abs() > 2.0 * small) {
            let found = at(rows.row(row), column as u32);
            let own = diagonal(&left, row);
            let (pivot, place) = match row == column {
                true => (own, format!("row {}", row + 1)),
                false => {
                    let pivot = least_eigenvalue(own, left[row * count + column], diagonal(&left, column));
                    (pivot, format!("rows {} and {}", row + 1, column + 1))
                }
            };
            let rule = format!(
                "a matrix that is positive semidefinite: elimination leaves {pivot:.3e} of {place}, expected at least {:.1e}, \
                 which rounding explains",
                -small
            );
            return Err(fault(row, column as u32, found, &rule));
        }
    }
    Ok(())
}

/// The smaller eigenvalue of `[[a, b], [b, c]]`.
fn least_eigenvalue(a: f64, b: f64, c: f64) -> f64 {
    0.5 * (a + c) - (0.5 * (a - c)).hypot(b)
}

fn fault(row: usize, column: u32, value: f64, rule: &str) -> KernelError {
    KernelError::Value { kernel: NAME, row, column: column as usize, value, rule: rule.into() }
}
