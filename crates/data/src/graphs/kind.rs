//! Graphs as a kind of data: checked arrays, or a selection of their examples.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::arrays::GraphArrays;
use super::check;
use crate::container::Matrix;
use crate::dataset::{Data, Dataset};

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
        check::check(&arrays)?;
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
        self.arrays.frame().repeated_edges(&self.chosen)
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
