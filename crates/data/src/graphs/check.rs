//! Checks of the arrays of graphs.

use super::arrays::GraphArrays;
use crate::pairwise::{NO_LABEL, check_length, place};

/// Checks arrays.
///
/// # Errors
///
/// The first fault: array, example, index, value and rule.
pub(super) fn check(arrays: &GraphArrays) -> Result<(), String> {
    let frame = arrays.frame();
    let (nodes, edges) = (arrays.node_features.rows(), arrays.edges.len());
    frame.check_examples(nodes, "rows of node_features")?;
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
    frame.check_weights(nodes)?;
    frame.check_edges()
}
