//! What must hold of the arrays of graphs.

use std::collections::HashSet;

use super::arrays::{GraphArrays, NO_LABEL};

/// Returns how many edges repeat an earlier one.
///
/// # Errors
///
/// The first fault: array, example, index, value and rule.
pub(super) fn check(arrays: &GraphArrays) -> Result<usize, String> {
    let nodes = arrays.node_features.rows();
    let edges = arrays.edges.len();
    check_offsets("node_offsets", &arrays.node_offsets, nodes, "rows of node_features")?;
    check_offsets("edge_offsets", &arrays.edge_offsets, edges, "rows of edges")?;
    let lengths = [
        ("labels", Some(arrays.labels.len()), nodes, "node"),
        ("node_weights", arrays.node_weights.as_ref().map(Vec::len), nodes, "node"),
        ("edge_features", arrays.edge_features.as_ref().map(|matrix| matrix.rows()), edges, "edge"),
    ];
    for (name, found, expected, of) in lengths {
        if let Some(found) = found.filter(|&found| found != expected) {
            return Err(format!("{name}: found {found} rows, expected one for each {of}: {expected}"));
        }
    }
    if arrays.edge_offsets.len() != arrays.node_offsets.len() {
        let (edges, nodes) = (arrays.edge_offsets.len(), arrays.node_offsets.len());
        return Err(format!("edge_offsets: found {edges} numbers, expected as many as node_offsets has: {nodes}"));
    }
    let matrices = [("node_features", Some(&arrays.node_features)), ("edge_features", arrays.edge_features.as_ref())];
    for (name, matrix) in matrices {
        if let Some((row, column, value)) = matrix.and_then(|matrix| matrix.first_unbounded()) {
            let offsets = if name == "node_features" { &arrays.node_offsets } else { &arrays.edge_offsets };
            let place = place(offsets, row);
            return Err(format!("{name}: found {value} at {place}, column {column}, expected finite numbers"));
        }
    }
    check_nodes(arrays)?;
    check_edges(&arrays.node_offsets, &arrays.edge_offsets, &arrays.edges)
}

/// Checks numbers that say where examples begin, and where the last one ends.
pub(in crate::data) fn check_offsets(name: &str, offsets: &[usize], rows: usize, what: &str) -> Result<(), String> {
    if offsets.len() < 2 {
        return Err(format!(
            "{name}: found {} numbers, expected one more than examples, and an example",
            offsets.len()
        ));
    }
    if offsets[0] != 0 {
        return Err(format!("{name}[0]: found {}, expected 0", offsets[0]));
    }
    if let Some(at) = offsets.windows(2).position(|pair| pair[0] > pair[1]) {
        let (before, after) = (offsets[at], offsets[at + 1]);
        return Err(format!("{name}[{}]: found {after} after {before}, expected numbers that do not fall", at + 1));
    }
    let last = offsets[offsets.len() - 1];
    if last != rows {
        return Err(format!("{name}[{}]: found {last}, expected the number of {what}: {rows}", offsets.len() - 1));
    }
    Ok(())
}

/// Says where a row of all examples is.
pub(in crate::data) fn place(offsets: &[usize], row: usize) -> String {
    let example = offsets.partition_point(|&offset| offset <= row).saturating_sub(1);
    format!("row {row} (example {example}, its row {})", row - offsets[example])
}

fn check_nodes(arrays: &GraphArrays) -> Result<(), String> {
    if let Some(node) = arrays.labels.iter().position(|&label| label < NO_LABEL) {
        let (label, place) = (arrays.labels[node], place(&arrays.node_offsets, node));
        return Err(format!("labels: found {label} at {place}, expected a label >= 0, or -1 for a node without one"));
    }
    check_weights(arrays.node_weights.as_deref().unwrap_or_default(), &arrays.node_offsets)
}

/// Checks weights of nodes.
pub(in crate::data) fn check_weights(weights: &[f64], node_offsets: &[usize]) -> Result<(), String> {
    if let Some(node) = weights.iter().position(|&weight| !(weight.is_finite() && weight >= 0.0)) {
        let (weight, place) = (weights[node], place(node_offsets, node));
        return Err(format!("node_weights: found {weight} at {place}, expected finite numbers >= 0"));
    }
    Ok(())
}

/// Checks the ends of edges, and returns how many edges repeat an earlier one.
pub(in crate::data) fn check_edges(
    node_offsets: &[usize],
    edge_offsets: &[usize],
    edges: &[[u32; 2]],
) -> Result<usize, String> {
    let mut repeated = 0;
    let mut seen = HashSet::new();
    for (nodes, range) in node_offsets.windows(2).zip(edge_offsets.windows(2)) {
        let nodes = nodes[1] - nodes[0];
        seen.clear();
        for (edge, &[tail, head]) in edges.iter().enumerate().take(range[1]).skip(range[0]) {
            let fault = |found: String| Err(format!("edges: found {found} at {}", place(edge_offsets, edge)));
            if let Some(missing) = [tail, head].into_iter().find(|&end| end as usize >= nodes) {
                return fault(format!("node {missing} of an example with {nodes} nodes, numbered from 0,"));
            }
            if tail == head {
                return fault(format!("an edge from node {tail} to itself"));
            }
            repeated += usize::from(!seen.insert((tail.min(head), tail.max(head))));
        }
    }
    Ok(repeated)
}
