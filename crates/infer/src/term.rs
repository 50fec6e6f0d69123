//! Pairwise energies of a model: tables, and the parametric forms that engines treat faster than tables.

use crate::error::InferError;

/// A pairwise energy as a function of the labels at both ends of an edge; edges share terms and scale them by their
/// own weight.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// `[a != b]`: 0 where the labels agree, else 1 (Potts).
    Potts,
    /// `min(|a - b|, cap)`, for ordered labels; `cap > 0`, may be infinite.
    Linear {
        /// The largest value.
        cap: f64,
    },
    /// `min((a - b)^2, cap)`, for ordered labels; `cap > 0`, may be infinite. Not a metric.
    Quadratic {
        /// The largest value.
        cap: f64,
    },
    /// Any energies, with `+inf` for pairs of labels that are forbidden.
    Table(Table),
}

/// A table of pairwise energies, row-major `[labels of the tail][labels of the head]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    columns: usize,
    values: Vec<f64>,
    /// Smallest and largest finite entry; none if all are forbidden.
    range: Option<(f64, f64)>,
}

impl Table {
    /// Makes a table with `columns` columns; entries are finite or `+inf`.
    ///
    /// # Errors
    /// Names the first entry that is NaN or `-inf`, and a length that is no positive multiple of `columns`.
    pub fn new(columns: usize, values: Vec<f64>) -> Result<Self, InferError> {
        if columns == 0 || values.is_empty() || !values.len().is_multiple_of(columns) {
            let length = values.len();
            return Err(InferError::invalid(format!(
                "found a table of {length} entries in rows of {columns}, expected full rows and at least one"
            )));
        }
        if let Some(at) = values.iter().position(|value| value.is_nan() || *value == f64::NEG_INFINITY) {
            let (row, column, value) = (at / columns, at % columns, values[at]);
            return Err(InferError::invalid(format!(
                "found {value} in row {row}, column {column} of a table, expected a finite energy or +inf"
            )));
        }
        let finite = values.iter().copied().filter(|value| value.is_finite());
        let range = finite.map(|value| (value, value)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        Ok(Table { columns, values, range })
    }

    /// Returns the number of rows: labels of the tail.
    pub fn rows(&self) -> usize {
        self.values.len() / self.columns
    }

    /// Returns the number of columns: labels of the head.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns all entries, row-major.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the entries of one row: the tail's label fixed.
    ///
    /// # Panics
    /// Where there is no such row.
    #[inline]
    pub fn row(&self, tail: usize) -> &[f64] {
        &self.values[tail * self.columns..(tail + 1) * self.columns]
    }

    /// Returns one entry.
    #[inline]
    fn at(&self, row: usize, column: usize) -> f64 {
        if column >= self.columns {
            no_column(column, self.columns); // it would be in the next row
        }
        self.values[row * self.columns + column]
    }
}

/// Refuses a column out of line, so that looking up an entry stays small.
#[cold]
#[inline(never)]
fn no_column(column: usize, columns: usize) -> ! {
    panic!("column {column} is out of bounds of a table with {columns} columns")
}

impl Term {
    /// Returns the energy of labels `a` at the tail and `b` at the head, before the edge's weight.
    ///
    /// # Panics
    /// Where a table has no such row or column.
    #[inline]
    pub fn energy(&self, a: u32, b: u32) -> f64 {
        let distance = f64::from(a.abs_diff(b));
        match self {
            Term::Potts => f64::from(u8::from(a != b)),
            Term::Linear { cap } => distance.min(*cap),
            Term::Quadratic { cap } => (distance * distance).min(*cap),
            Term::Table(table) => table.at(a as usize, b as usize),
        }
    }

    /// Returns whether some pair of labels is forbidden.
    pub fn forbids(&self) -> bool {
        matches!(self, Term::Table(table) if table.values.contains(&f64::INFINITY))
    }

    /// Returns a smallest and a largest energy between which all finite ones are, for nodes of at most so many labels.
    /// O(1).
    pub(crate) fn range(&self, labels: usize) -> (f64, f64) {
        let widest = labels.saturating_sub(1) as f64;
        match self {
            Term::Potts => (0.0, 1.0),
            Term::Linear { cap } => (0.0, widest.min(*cap)),
            Term::Quadratic { cap } => (0.0, (widest * widest).min(*cap)),
            Term::Table(table) => table.range.unwrap_or((0.0, 0.0)),
        }
    }

    /// Refuses a cap that is not positive.
    pub(crate) fn check(&self) -> Result<(), InferError> {
        match self {
            Term::Linear { cap } | Term::Quadratic { cap } if cap.is_nan() || *cap <= 0.0 => Err(InferError::invalid(
                format!("found cap {cap} of a truncated term, expected a positive number or +inf"),
            )),
            _ => Ok(()),
        }
    }
}
