//! Writing pairwise models into a container.

use super::Mrfs;
use crate::data::container::{Matrix, Reals, TensorToWrite, pack};

impl Mrfs {
    /// Returns the bytes of a container of the arrays behind this data, in the format `mrf`.
    pub fn to_bytes(&self) -> Vec<u8> {
        let arrays = self.checked().arrays();
        let whole = |numbers: &[usize]| numbers.iter().map(|&number| number as i64).collect::<Vec<_>>();
        let edges: Vec<i64> = arrays.edges.iter().flatten().map(|&end| i64::from(end)).collect();
        let integers = [
            ("node_offsets", whole(&arrays.node_offsets)),
            ("label_offsets", whole(&arrays.label_offsets)),
            ("edge_offsets", whole(&arrays.edge_offsets)),
            ("pair_offsets", whole(&arrays.pair_offsets)),
            ("labels", arrays.labels.clone()),
            ("edges", edges),
        ];
        let columns = |columns: &Option<Vec<u32>>| -> Option<Vec<i64>> {
            Some(columns.as_ref()?.iter().map(|&column| i64::from(column)).collect())
        };
        let given = [
            ("unary_feature_columns", columns(&arrays.unary_columns)),
            ("pair_feature_columns", columns(&arrays.pair_columns)),
        ];
        let shape = |name: &str, length: usize| if name == "edges" { vec![length / 2, 2] } else { vec![length] };
        let mut tensors: Vec<(&str, TensorToWrite<'_>)> = Vec::new();
        for (name, numbers) in &integers {
            tensors.push((name, TensorToWrite::Integers(shape(name, numbers.len()), numbers)));
        }
        for (name, numbers) in &given {
            if let Some(numbers) = numbers {
                tensors.push((name, TensorToWrite::Integers(vec![numbers.len()], numbers)));
            }
        }
        let weights = arrays.node_weights.clone().map(Reals::from);
        if let Some(weights) = &weights {
            tensors.push(("node_weights", TensorToWrite::Reals(vec![weights.len()], weights)));
        }
        let matrix = |matrix: &Matrix| vec![matrix.rows(), matrix.columns()];
        let mut features = [("unary_features", &arrays.unary_features), ("pair_features", &arrays.pair_features)];
        features.sort_by_key(|(_, matrix)| std::cmp::Reverse(matrix.width())); // so that all are aligned
        for (name, numbers) in features {
            tensors.push((name, TensorToWrite::Reals(matrix(numbers), numbers.numbers())));
        }
        pack(&tensors)
    }
}
