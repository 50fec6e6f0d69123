//! Writing graphs into a container.

use super::kind::Graphs;
use crate::data::container::{Reals, TensorToWrite, pack};

impl Graphs {
    /// Returns the bytes of a container of the arrays behind this data, in the format `graph`.
    pub fn to_bytes(&self) -> Vec<u8> {
        let arrays = self.arrays();
        let whole = |numbers: &[usize]| numbers.iter().map(|&number| number as i64).collect::<Vec<_>>();
        let (node_offsets, edge_offsets) = (whole(&arrays.node_offsets), whole(&arrays.edge_offsets));
        let edges: Vec<i64> = arrays.edges.iter().flatten().map(|&end| i64::from(end)).collect();
        let weights = arrays.node_weights.clone().map(Reals::from);
        let features = &arrays.node_features;
        let mut tensors = vec![
            ("node_offsets", TensorToWrite::Integers(vec![node_offsets.len()], &node_offsets)),
            ("labels", TensorToWrite::Integers(vec![arrays.labels.len()], &arrays.labels)),
            ("edge_offsets", TensorToWrite::Integers(vec![edge_offsets.len()], &edge_offsets)),
            ("edges", TensorToWrite::Integers(vec![arrays.edges.len(), 2], &edges)),
        ];
        if let Some(weights) = &weights {
            tensors.push(("node_weights", TensorToWrite::Reals(vec![weights.len()], weights)));
        }
        let matrix = |matrix: &crate::data::container::Matrix| vec![matrix.rows(), matrix.columns()];
        tensors.push(("node_features", TensorToWrite::Reals(matrix(features), features.numbers())));
        if let Some(features) = &arrays.edge_features {
            tensors.push(("edge_features", TensorToWrite::Reals(matrix(features), features.numbers())));
        }
        pack(&tensors)
    }
}
