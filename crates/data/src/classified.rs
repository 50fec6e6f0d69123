//! Rows of numbers with one label each: what LIBSVM text and tables of numbers hold.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::rows::SparseRows;
use super::strings::Strings;
use crate::dataset::{Data, Dataset};

/// Rows with one label each.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Classified {
    /// The feature vectors.
    pub rows: SparseRows,
    /// The label of each row, as it stands in the file, or its place in `names`; [`NO_LABEL`](Classified::NO_LABEL) of
    /// a row without one.
    pub labels: Vec<i64>,
    /// Names of the labels in alphabetical order, where these are no integers.
    pub names: Vec<String>,
    /// Names of the columns, where the file has them.
    pub features: Option<Arc<Strings>>,
}

impl Classified {
    /// Stands for the label of a row that has none.
    pub const NO_LABEL: i64 = i64::MIN;

    /// Returns the name of a label.
    pub fn name_of(&self, label: i64) -> String {
        match usize::try_from(label).ok().and_then(|place| self.names.get(place)) {
            Some(name) => name.clone(),
            None => label.to_string(),
        }
    }

    /// Returns these rows, in this order; each must exist.
    pub fn subset(&self, examples: &[usize]) -> Classified {
        let (rows, names, features) = (SparseRows::new(self.rows.columns()), self.names.clone(), self.features.clone());
        let mut chosen = Classified { rows, labels: Vec::new(), names, features };
        examples.iter().for_each(|&example| chosen.push_from(self, example));
        chosen
    }

    /// Appends a row of `other`, whose label numbers mean the same.
    pub fn push_from(&mut self, other: &Classified, row: usize) {
        self.rows.append(&other.rows, [row]);
        self.labels.push(other.labels[row]);
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
    /// Names are no part of it: classes with names are numbered as arrays of them are.
    fn hash_into(&self, sha: &mut Sha256) {
        sha.update(b"classified");
        sha.update((self.labels.len() as u64).to_le_bytes());
        self.labels.iter().for_each(|label| sha.update(label.to_le_bytes()));
        self.rows.hash_into(sha);
    }
    fn hash_example(&self, example: usize, sha: &mut Sha256) {
        sha.update(self.name_of(self.labels[example]));
        self.rows.hash_row(example, sha);
    }
}
