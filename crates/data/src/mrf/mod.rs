//! Pairwise models given as tables of features: a row for every label of a node, and for every pair of labels of an
//! edge. The content of a container of the format `mrf`, a safetensors file, and of arrays that programs hand over.

mod arrays;
mod check;

pub use arrays::MrfArrays;

use std::path::Path;
use std::sync::Arc;

use multiplane_infer::file::DataError;
use sha2::{Digest, Sha256};

use crate::container::{Container, Tensor};
use crate::dataset::{Data, Dataset};
use crate::format::FormatEntry;
use crate::pairwise::{NodesAndEdges, TensorList, matrix, offsets};
use crate::rules::ReadRules;

/// The format as users name it.
pub const FORMAT: FormatEntry = FormatEntry {
    tensor: Some("unary_features"),
    ..FormatEntry::new("mrf", "pairwise models as tables of features in a safetensors file", read)
};

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
        self.checked.arrays.repeated_edges(&self.chosen)
    }

    /// Returns the bytes of a container of the arrays behind this data, in the format `mrf`.
    pub fn to_bytes(&self) -> Vec<u8> {
        let arrays = self.checked().arrays();
        let mut tensors = TensorList::default();
        tensors.offsets("node_offsets", &arrays.node_offsets);
        tensors.offsets("label_offsets", &arrays.label_offsets);
        tensors.offsets("edge_offsets", &arrays.edge_offsets);
        tensors.offsets("pair_offsets", &arrays.pair_offsets);
        tensors.integers("labels", arrays.labels.clone());
        tensors.table("edges", &arrays.edges);
        let given = [("unary_feature_columns", &arrays.unary_columns), ("pair_feature_columns", &arrays.pair_columns)];
        for (name, columns) in given {
            if let Some(columns) = columns {
                tensors.integers(name, columns.iter().map(|&column| i64::from(column)).collect());
            }
        }
        tensors.node_weights(arrays.node_weights.as_ref());
        let mut features = [("unary_features", &arrays.unary_features), ("pair_features", &arrays.pair_features)];
        features.sort_by_key(|(_, matrix)| std::cmp::Reverse(matrix.width())); // so that all are aligned
        for (name, matrix) in features {
            tensors.matrix(name, matrix);
        }
        tensors.pack()
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

/// Reads a container: `node_offsets [n+1]`, `label_offsets [N+1]`, `unary_features [rows, f]`, `labels [N]`
/// (optional: none is known), `node_weights [N]` (optional), `edge_offsets [n+1]`, `edges [E, 2]`, `pair_offsets
/// [E+1]`, `pair_features [rows, g]`, and where the columns of the two are not the same features `unary_feature_columns
/// [f]`, `pair_feature_columns [g]`. Other tensors are left alone.
///
/// # Errors
///
/// A tensor is missing, of another type or shape, or holds what such models must not hold.
fn read(path: &Path, _: &ReadRules) -> Result<Dataset, DataError> {
    let container = Container::open(path)?;
    if container.find("unary_features").is_none() && container.find("node_features").is_some() {
        return Err(container.fault("it holds graphs, which task `graph` reads; task `mrf` reads pairwise models"));
    }
    let columns = |name: &str| container.find(name).map(|tensor| columns(&tensor)).transpose();
    let frame = NodesAndEdges::read(&container)?;
    let label_offsets = offsets(&container.get("label_offsets")?)?;
    let arrays = MrfArrays {
        frame: frame.without_labels(&container, label_offsets.len().saturating_sub(1)),
        unary_features: matrix(&container.get("unary_features")?)?,
        unary_columns: columns("unary_feature_columns")?,
        label_offsets,
        pair_offsets: offsets(&container.get("pair_offsets")?)?,
        pair_features: matrix(&container.get("pair_features")?)?,
        pair_columns: columns("pair_feature_columns")?,
    };
    Mrfs::new(arrays).map(Dataset::new).map_err(|fault| container.fault(fault))
}

/// Reads numbers of features.
fn columns(tensor: &Tensor<'_>) -> Result<Vec<u32>, DataError> {
    tensor.rows(1)?;
    let column = |&number: &i64| {
        u32::try_from(number)
            .map_err(|_| tensor.fault(format_args!("found {number}, expected a feature's number from 0")))
    };
    tensor.integers()?.iter().map(column).collect()
}
