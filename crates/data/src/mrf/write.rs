//! Writing pairwise models into a container.

use super::Mrfs;
use crate::pairwise::TensorList;

impl Mrfs {
    /// Returns the bytes of a container of the arrays behind this data, in the format `mrf`.
    pub fn to_bytes(&self) -> Vec<u8> {
        let arrays = self.checked().arrays();
        let mut tensors = TensorList::default();
        tensors.offsets("node_offsets", &arrays.node_offsets);
        tensors.offsets("label_offsets", &arrays.label_offsets);
        tensors.offsets("edge_offsets", &arrays.edge_offsets);
        tensors.offsets("pair_offsets", &arrays.pair_offsets);
        tensors.integers("labels", arrays.labels.clone());
        tensors.edges(&arrays.edges);
        let given = [("unary_feature_columns", &arrays.unary_columns), ("pair_feature_columns", &arrays.pair_columns)];
        for (name, columns) in given {
            if let Some(columns) = columns {
                tensors.integers(name, columns.iter().map(|&column| i64::from(column)).collect());
            }
        }
        tensors.node_weights(arrays.frame());
        let mut features = [("unary_features", &arrays.unary_features), ("pair_features", &arrays.pair_features)];
        features.sort_by_key(|(_, matrix)| std::cmp::Reverse(matrix.width())); // so that all are aligned
        for (name, matrix) in features {
            tensors.matrix(name, matrix);
        }
        tensors.pack()
    }
}
