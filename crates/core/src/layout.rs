//! How tables of weights lie in memory.

/// How a table of weights lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// `[label][column]`.
    LabelMajor,
    /// `[column][label]`.
    ColumnMajor,
}
