//! Rows of numbers with any number of labels each: what LIBSVM text with lists of labels and indicator matrices hold.

use std::cmp::Ordering;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::rows::SparseRows;
use super::strings::Strings;
use crate::dataset::{Data, Dataset};

/// Rows with a set of labels each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LabelSets {
    /// The feature vectors.
    pub rows: SparseRows,
    /// The labels of each row: their numbers in `names`, ascending, none twice.
    pub sets: Vec<Vec<u32>>,
    /// The names of all labels; some may be those of no row.
    pub names: Strings,
    /// Names of the columns, where the data has them. They are no part of the fingerprint.
    pub features: Option<Arc<Strings>>,
}

impl LabelSets {
    /// Returns the numbers of all labels, ordered as whole numbers where all names are such, else as text.
    pub fn sorted_names(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.names.len() as u32).collect();
        let values: Option<Vec<i64>> = self.names.iter().map(|name| name.parse().ok()).collect();
        let by_value = |a: u32, b: u32| {
            values.as_ref().map_or(Ordering::Equal, |values| values[a as usize].cmp(&values[b as usize]))
        };
        order.sort_by(|&a, &b| by_value(a, b).then_with(|| self.names.get(a).cmp(self.names.get(b))));
        order
    }

    /// Returns these rows, in this order; each must exist. All labels stay known.
    pub fn subset(&self, examples: &[usize]) -> LabelSets {
        let mut rows = SparseRows::new(self.rows.columns());
        rows.append(&self.rows, examples.iter().copied());
        let sets = examples.iter().map(|&example| self.sets[example].clone()).collect();
        LabelSets { rows, sets, names: self.names.clone(), features: self.features.clone() }
    }
}

impl Data for LabelSets {
    fn len(&self) -> usize {
        self.sets.len()
    }
    fn subset(&self, examples: &[usize]) -> Dataset {
        Dataset::new(self.subset(examples))
    }
    fn describe(&self) -> &'static str {
        "rows with sets of labels (multilabel)"
    }
    /// Neither the order in which labels first appear nor that within a row matters.
    fn hash_into(&self, sha: &mut Sha256) {
        let mut number = |number: usize| sha.update((number as u64).to_le_bytes());
        let order = self.sorted_names();
        let mut ranks = vec![0; order.len()];
        order.iter().enumerate().for_each(|(rank, &label)| ranks[label as usize] = rank);
        number(self.sets.len());
        number(order.len());
        for set in &self.sets {
            let mut set: Vec<usize> = set.iter().map(|&label| ranks[label as usize]).collect();
            set.sort_unstable();
            number(set.len());
            set.into_iter().for_each(&mut number);
        }
        for &label in &order {
            let name = self.names.get(label);
            sha.update((name.len() as u64).to_le_bytes());
            sha.update(name.as_bytes());
        }
        sha.update(b"label sets");
        self.rows.hash_into(sha);
    }
}
