//! Pairwise models given as tables of features: a row for every label of a node, and for every pair of labels of an
//! edge. What a container of the format `mrf` holds, and what programs hand over as arrays.

mod arrays;
mod check;
mod read;
mod write;

use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::dataset::{Data, Dataset};

pub use arrays::MrfArrays;
pub use read::FORMAT;

/// Checked arrays.
#[derive(Debug)]
pub struct CheckedMrfs {
    arrays: MrfArrays,
    /// The features of the columns.
    unary_columns: Vec<u32>,
    pair_columns: Vec<u32>,
    features: usize,
}

impl CheckedMrfs {
    /// Returns the arrays.
    pub fn arrays(&self) -> &MrfArrays {
        &self.arrays
    }

    /// Returns which features the columns of `unary_features` are.
    pub fn unary_columns(&self) -> &[u32] {
        &self.unary_columns
    }

    /// Returns which features the columns of `pair_features` are.
    pub fn pair_columns(&self) -> &[u32] {
        &self.pair_columns
    }

    /// Returns the number of features, which is that of weights.
    pub fn features(&self) -> usize {
        self.features
    }
}

/// Pairwise models, all of some arrays or a selection.
#[derive(Clone, Debug)]
pub struct Mrfs {
    checked: Arc<CheckedMrfs>,
    /// Examples of the arrays, in the order of this data.
    chosen: Vec<usize>,
}

impl Mrfs {
    /// Takes arrays, checked.
    ///
    /// # Errors
    ///
    /// Arrays that do not fit together, with the first fault: which array, example and index, and the rule.
    pub fn new(arrays: MrfArrays) -> Result<Mrfs, String> {
        check::check(&arrays)?;
        let columns = check::columns(&arrays)?;
        let chosen = (0..arrays.len()).collect();
        let (unary_columns, pair_columns, features) = columns;
        Ok(Mrfs { chosen, checked: Arc::new(CheckedMrfs { arrays, unary_columns, pair_columns, features }) })
    }

    /// Returns the arrays of which this is a selection.
    pub fn checked(&self) -> &Arc<CheckedMrfs> {
        &self.checked
    }

    /// Returns the examples of the arrays, in the order of this data.
    pub fn chosen(&self) -> &[usize] {
        &self.chosen
    }

    /// Returns how many edges of this data join two nodes that an earlier edge joins already.
    pub fn repeated_edges(&self) -> usize {
        self.checked.arrays.frame().repeated_edges(&self.chosen)
    }
}

impl Data for Mrfs {
    fn len(&self) -> usize {
        self.chosen.len()
    }
    fn subset(&self, examples: &[usize]) -> Dataset {
        let chosen = examples.iter().map(|&example| self.chosen[example]).collect();
        Dataset::new(Mrfs { checked: self.checked.clone(), chosen })
    }
    fn describe(&self) -> &'static str {
        "pairwise models as tables of features (mrf)"
    }
    fn hash_into(&self, sha: &mut Sha256) {
        let CheckedMrfs { arrays, unary_columns, pair_columns, .. } = &*self.checked;
        let number = |sha: &mut Sha256, number: usize| sha.update((number as u64).to_le_bytes());
        sha.update(b"mrf");
        number(sha, self.chosen.len());
        for (matrix, columns) in [(&arrays.unary_features, unary_columns), (&arrays.pair_features, pair_columns)] {
            number(sha, columns.len());
            columns.iter().for_each(|column| sha.update(column.to_le_bytes()));
            number(sha, matrix.width());
        }
        sha.update([u8::from(arrays.node_weights.is_some())]);
        for &example in &self.chosen {
            let (nodes, edges) = (arrays.nodes(example), arrays.edges_of(example));
            number(sha, nodes.len());
            number(sha, edges.len());
            for node in nodes.clone() {
                number(sha, arrays.label_offsets[node + 1] - arrays.label_offsets[node]);
                sha.update(arrays.labels[node].to_le_bytes());
            }
            let rows = arrays.label_offsets[nodes.start]..arrays.label_offsets[nodes.end];
            arrays.unary_features.hash_rows(rows, sha);
            let weights = arrays.node_weights.as_ref().map_or(&[][..], |weights| &weights[nodes]);
            weights.iter().for_each(|weight| sha.update(weight.to_le_bytes()));
            arrays.edges[edges.clone()].iter().flatten().for_each(|end| sha.update(end.to_le_bytes()));
            let rows = arrays.pair_offsets[edges.start]..arrays.pair_offsets[edges.end];
            arrays.pair_features.hash_rows(rows, sha);
        }
    }
}
