//! Labelled graphs: nodes with features and labels, edges with features. The content of a container of the format
//! `graph`, a safetensors file, and of arrays that programs hand over.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::Arc;

use multiplane_infer::file::DataError;
use sha2::{Digest, Sha256};

use super::container::{Container, FEATURES_ID, Matrix};
use super::format::FormatEntry;
pub use super::pairwise::NO_LABEL;
use super::pairwise::{NodesAndEdges, TensorList, check_length, matrix, place};
use super::rules::ReadRules;
use crate::dataset::{Data, Dataset};

/// The format as users name it.
pub const FORMAT: FormatEntry =
    FormatEntry { tensor: Some("node_features"), ..FormatEntry::new("graph", "graphs in a safetensors file", read) };

/// Graphs as arrays, one after the other.
#[derive(Clone, Debug)]
pub struct GraphArrays {
    /// Nodes with any labels, and edges.
    pub frame: NodesAndEdges,
    /// `[node][feature]`.
    pub node_features: Matrix,
    /// `[edge][feature]`, where edges have any.
    pub edge_features: Option<Matrix>,
}

impl Deref for GraphArrays {
    type Target = NodesAndEdges;

    fn deref(&self) -> &NodesAndEdges {
        &self.frame
    }
}

impl DerefMut for GraphArrays {
    fn deref_mut(&mut self) -> &mut NodesAndEdges {
        &mut self.frame
    }
}

/// Labelled graphs, all of some arrays or a selection.
#[derive(Clone, Debug)]
pub struct Graphs {
    arrays: Arc<GraphArrays>,
    /// Examples of the arrays, in the order of this data.
    chosen: Vec<usize>,
    features_id: Option<Arc<str>>,
}

impl Graphs {
    /// Takes arrays, checked. Edge features without columns are none.
    ///
    /// # Errors
    ///
    /// Arrays that do not fit together, with the first fault: which array, example and index, and the rule.
    pub fn new(mut arrays: GraphArrays) -> Result<Graphs, String> {
        check(&arrays)?;
        arrays.edge_features = arrays.edge_features.filter(|features| features.columns() > 0);
        Ok(Graphs { chosen: (0..arrays.len()).collect(), arrays: Arc::new(arrays), features_id: None })
    }

    /// Takes a text that is the same for all data whose features were made in the same way: with the same settings,
    /// scaling and whatever else was fitted.
    #[must_use]
    pub fn with_features_id(mut self, id: Option<&str>) -> Graphs {
        self.features_id = id.map(Arc::from);
        self
    }

    /// Returns what tells how the features were made, where the data says so.
    pub fn features_id(&self) -> Option<&str> {
        self.features_id.as_deref()
    }

    /// Returns the arrays of which this is a selection.
    pub fn arrays(&self) -> &Arc<GraphArrays> {
        &self.arrays
    }

    /// Returns the examples of the arrays, in the order of this data.
    pub fn chosen(&self) -> &[usize] {
        &self.chosen
    }

    /// Returns how many edges of this data join two nodes that an earlier edge joins already.
    pub fn repeated_edges(&self) -> usize {
        self.arrays.repeated_edges(&self.chosen)
    }

    /// Returns the bytes of a container of the arrays behind this data, in the format `graph`.
    pub fn to_bytes(&self) -> Vec<u8> {
        let arrays = self.arrays();
        let mut tensors = TensorList::default();
        tensors.offsets("node_offsets", &arrays.node_offsets);
        tensors.integers("labels", arrays.labels.clone());
        tensors.offsets("edge_offsets", &arrays.edge_offsets);
        tensors.table("edges", &arrays.edges);
        tensors.node_weights(arrays.node_weights.as_ref());
        tensors.matrix("node_features", &arrays.node_features);
        if let Some(features) = &arrays.edge_features {
            tensors.matrix("edge_features", features);
        }
        tensors.pack()
    }
}

impl Data for Graphs {
    fn len(&self) -> usize {
        self.chosen.len()
    }
    fn subset(&self, examples: &[usize]) -> Dataset {
        let chosen = examples.iter().map(|&example| self.chosen[example]).collect();
        Dataset::new(Graphs { chosen, ..self.clone() })
    }
    fn describe(&self) -> &'static str {
        "labelled graphs (graph)"
    }
    fn hash_into(&self, sha: &mut Sha256) {
        let arrays = &*self.arrays;
        let number = |sha: &mut Sha256, number: usize| sha.update((number as u64).to_le_bytes());
        sha.update(b"graphs");
        number(sha, self.chosen.len());
        let edge_features = arrays.edge_features.as_ref();
        for matrix in [Some(&arrays.node_features), edge_features] {
            number(sha, matrix.map_or(0, Matrix::columns));
            number(sha, matrix.map_or(0, Matrix::width));
        }
        sha.update([u8::from(arrays.node_weights.is_some())]);
        for &example in &self.chosen {
            let (nodes, edges) = (arrays.nodes(example), arrays.edges_of(example));
            number(sha, nodes.len());
            number(sha, edges.len());
            arrays.node_features.hash_rows(nodes.clone(), sha);
            arrays.labels[nodes.clone()].iter().for_each(|label| sha.update(label.to_le_bytes()));
            let weights = arrays.node_weights.as_ref().map_or(&[][..], |weights| &weights[nodes]);
            weights.iter().for_each(|weight| sha.update(weight.to_le_bytes()));
            arrays.edges[edges.clone()].iter().flatten().for_each(|end| sha.update(end.to_le_bytes()));
            if let Some(features) = edge_features {
                features.hash_rows(edges, sha);
            }
        }
    }
}

/// Reads a container: `node_offsets [n+1]`, `node_features [N, f]`, `labels [N]` (optional: none is known),
/// `node_weights [N]` (optional), `edge_offsets [n+1]`, `edges [E, 2]`, `edge_features [E, g]` (optional). Other
/// tensors are left alone. Of the metadata, `multiplane.features` says how the features were made.
///
/// # Errors
///
/// A tensor is missing, of another type or shape, or holds what graphs must not hold.
fn read(path: &Path, _: &ReadRules) -> Result<Dataset, DataError> {
    let container = Container::open(path)?;
    if container.find("node_features").is_none() && container.find("unary_features").is_some() {
        return Err(container.fault("it holds pairwise models, which task `mrf` reads; task `graph` reads graphs"));
    }
    let frame = NodesAndEdges::read(&container)?;
    let node_features = matrix(&container.get("node_features")?)?;
    let arrays = GraphArrays {
        frame: frame.without_labels(&container, node_features.rows()),
        node_features,
        edge_features: container.find("edge_features").map(|tensor| matrix(&tensor)).transpose()?,
    };
    let graphs = Graphs::new(arrays).map_err(|fault| container.fault(fault))?;
    Ok(Dataset::new(graphs.with_features_id(container.text(FEATURES_ID))))
}

/// Checks arrays.
///
/// # Errors
///
/// The first fault: array, example, index, value and rule.
fn check(arrays: &GraphArrays) -> Result<(), String> {
    let (nodes, edges) = (arrays.node_features.rows(), arrays.edges.len());
    arrays.check_examples(nodes, "rows of node_features")?;
    check_length("labels", arrays.labels.len(), nodes, "node")?;
    let edge_features = arrays.edge_features.as_ref();
    if let Some(features) = edge_features {
        check_length("edge_features", features.rows(), edges, "edge")?;
    }
    let matrices = [
        ("node_features", Some(&arrays.node_features), &arrays.node_offsets),
        ("edge_features", edge_features, &arrays.edge_offsets),
    ];
    for (name, matrix, offsets) in matrices {
        if let Some((row, column, value)) = matrix.and_then(|matrix| matrix.first_unbounded()) {
            let place = place(offsets, row);
            return Err(format!("{name}: found {value} at {place}, column {column}, expected finite numbers"));
        }
    }
    if let Some(node) = arrays.labels.iter().position(|&label| label < NO_LABEL) {
        let (label, place) = (arrays.labels[node], place(&arrays.node_offsets, node));
        return Err(format!("labels: found {label} at {place}, expected a label >= 0, or -1 for a node without one"));
    }
    arrays.check(nodes)
}
