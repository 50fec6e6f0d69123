//! One sentence as the task sees it.

use crate::data::SparseRows;

/// Words with features.
#[derive(Clone, Debug)]
pub struct Sentence {
    rows: SparseRows,
    /// The features that some word has, ascending.
    columns: Vec<u32>,
    /// The rows with columns by their places in `columns`.
    local: SparseRows,
}

impl Sentence {
    /// Takes the features of the words, a row for each.
    pub fn new(rows: SparseRows) -> Self {
        let mut columns: Vec<u32> = (0..rows.len()).flat_map(|word| rows.row(word).indices.iter().copied()).collect();
        columns.sort_unstable();
        columns.dedup();
        let mut local = SparseRows::new(columns.len());
        for word in 0..rows.len() {
            let row = rows.row(word).iter();
            let place = |column: u32| columns.partition_point(|known| *known < column) as u32;
            let (indices, values): (Vec<u32>, Vec<f64>) = row.map(|(column, value)| (place(column), value)).unzip();
            local.push(&indices, &values);
        }
        Sentence { rows, columns, local }
    }

    /// Returns the number of words.
    pub fn words(&self) -> usize {
        self.rows.len()
    }

    /// Returns the features, a row per word.
    pub fn rows(&self) -> &SparseRows {
        &self.rows
    }

    /// Returns the features that some word has, ascending.
    pub(super) fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Returns the rows with columns by their places in [`columns`](Sentence::columns).
    pub(super) fn local(&self) -> &SparseRows {
        &self.local
    }
}
