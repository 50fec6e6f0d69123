//! Sparse matrices by rows.

/// A sparse matrix by rows, no column twice in a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseMatrix {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
    width: usize,
}

impl SparseMatrix {
    /// Takes the entries of the rows one after the other: row r has those from `starts[r]` to `starts[r + 1]`.
    ///
    /// # Errors
    ///
    /// Arrays that do not fit together, a column outside `width` or twice in a row, a number that is not finite: the
    /// row and the rule.
    pub fn new(starts: Vec<usize>, columns: Vec<u32>, values: Vec<f64>, width: usize) -> Result<Self, String> {
        let rises = starts.first() == Some(&0) && starts.is_sorted() && starts.last() == Some(&columns.len());
        if !rises || columns.len() != values.len() {
            let (count, ends, values) = (columns.len(), starts.last().copied().unwrap_or(0), values.len());
            return Err(format!(
                "starts rise to {ends} for {count} columns and {values} values: expected 0 first, no fall, one number"
            ));
        }
        let matrix = SparseMatrix { starts, columns, values, width };
        let mut sorted = Vec::new();
        for row in 0..matrix.rows() {
            if let Some((column, value)) = matrix.row(row).find(|(_, value)| !value.is_finite()) {
                return Err(format!("row {row}: found {value} in column {column}, expected finite numbers"));
            }
            sorted.clear();
            sorted.extend(matrix.row(row).map(|entry| entry.0));
            sorted.sort_unstable();
            if let Some(column) = sorted.last().filter(|column| **column >= width) {
                return Err(format!("row {row}: found column {column}, expected 0 to {}", width.saturating_sub(1)));
            }
            if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(format!("row {row}: found column {} twice", twice[0]));
            }
        }
        Ok(matrix)
    }

    /// Takes rows as lists of (column, value), which must obey the rules of [`new`](SparseMatrix::new).
    pub(crate) fn of_rows<'a>(rows: impl IntoIterator<Item = &'a [(u32, f64)]>, width: usize) -> Self {
        let mut matrix = SparseMatrix { starts: vec![0], width, ..SparseMatrix::default() };
        for row in rows {
            matrix.columns.extend(row.iter().map(|entry| entry.0));
            matrix.values.extend(row.iter().map(|entry| entry.1));
            matrix.starts.push(matrix.columns.len());
        }
        matrix
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Returns the number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the first entry of each row, and the number of entries.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// Returns the column of each entry.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Returns the value of each entry.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the columns and values of a row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + Clone + '_ {
        let range = self.starts[row]..self.starts[row + 1];
        self.columns[range.clone()].iter().map(|&column| column as usize).zip(self.values[range].iter().copied())
    }

    /// Returns the product of a row with a vector.
    pub fn dot(&self, row: usize, y: &[f64]) -> f64 {
        self.row(row).map(|(column, value)| value * y[column]).sum()
    }

    /// Adds `amount` times a row to a vector.
    pub fn add_row(&self, row: usize, amount: f64, to: &mut [f64]) {
        self.row(row).for_each(|(column, value)| to[column] += amount * value);
    }
}
