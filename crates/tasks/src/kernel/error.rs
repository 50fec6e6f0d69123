//! Why there is no kernel matrix.

use multiplane_core::parameter::ParameterError;

/// Why a kernel cannot be had of these rows. Rows and columns count from 0, in messages from 1 as in files.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum KernelError {
    /// A parameter is at fault.
    #[error("kernel.{0}")]
    Parameter(#[from] ParameterError),
    /// A feature, or a value of a matrix that was given, is at fault.
    #[error("kernel `{kernel}`: found {value} in row {}, column {}, expected {rule}", row + 1, column + 1)]
    Value {
        /// The kernel.
        kernel: &'static str,
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// What stands there.
        value: f64,
        /// What may stand there.
        rule: String,
    },
    /// A value of the kernel matrix that was computed is at fault.
    #[error("kernel `{kernel}`: found K = {value} of rows {} and {}, expected {rule}", row + 1, other + 1)]
    Computed {
        /// The kernel.
        kernel: &'static str,
        /// The row.
        row: usize,
        /// The other row.
        other: usize,
        /// Their value.
        value: f64,
        /// What it may be.
        rule: String,
    },
    /// A matrix has not the right shape.
    #[error("kernel `{kernel}`: found {rows} rows of {columns} columns, expected {rule}")]
    Shape {
        /// The kernel.
        kernel: &'static str,
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
        /// What it should have.
        rule: String,
    },
}
