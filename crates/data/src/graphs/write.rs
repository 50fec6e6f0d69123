//! Writing graphs into a container.

use super::kind::Graphs;
use crate::pairwise::TensorList;

impl Graphs {
    /// Returns the bytes of a container of the arrays behind this data, in the format `graph`.
    pub fn to_bytes(&self) -> Vec<u8> {
        let arrays = self.arrays();
        let mut tensors = TensorList::default();
        tensors.offsets("node_offsets", &arrays.node_offsets);
        tensors.integers("labels", arrays.labels.clone());
        tensors.offsets("edge_offsets", &arrays.edge_offsets);
        tensors.edges(&arrays.edges);
        tensors.node_weights(arrays.frame());
        tensors.matrix("node_features", &arrays.node_features);
        if let Some(features) = &arrays.edge_features {
            tensors.matrix("edge_features", features);
        }
        tensors.pack()
    }
}
