//! Rows of numbers with one integer label each: what LIBSVM text and tables of numbers hold.

use sha2::{Digest, Sha256};

use super::rows::SparseRows;
use crate::dataset::{Data, Dataset};

/// Rows with one integer label each.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Classified {
    /// The feature vectors.
    pub rows: SparseRows,
    /// The label of each row, as it stands in the file.
    pub labels: Vec<i64>,
}

impl Classified {
    /// Returns these rows, in this order; each must exist.
    pub fn subset(&self, examples: &[usize]) -> Classified {
        let mut rows = SparseRows::new(self.rows.columns());
        rows.append(&self.rows, examples.iter().copied());
        Classified { rows, labels: examples.iter().map(|&example| self.labels[example]).collect() }
    }
}

impl Data for Classified {
    fn len(&self) -> usize {
        self.labels.len()
    }
    fn subset(&self, examples: &[usize]) -> Dataset {
        Dataset::new(self.subset(examples))
    }
    fn describe(&self) -> &'static str {
        "labelled rows (libsvm or csv)"
    }
    fn hash_into(&self, sha: &mut Sha256) {
        sha.update(b"classified");
        sha.update((self.labels.len() as u64).to_le_bytes());
        self.labels.iter().for_each(|label| sha.update(label.to_le_bytes()));
        self.rows.hash_into(sha);
    }
}
