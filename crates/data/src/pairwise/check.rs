//! Checks of nodes and edges, whatever features they have.

use super::frame::Frame;

impl Frame<'_> {
    /// Checks where examples begin; `nodes` are the rows of what has one for each node, `what` says of what.
    ///
    /// # Errors
    ///
    /// The first fault: array, index, value and rule.
    pub(crate) fn check_examples(self, nodes: usize, what: &str) -> Result<(), String> {
        check_offsets("node_offsets", self.node_offsets, nodes, what)?;
        check_offsets("edge_offsets", self.edge_offsets, self.edges.len(), "rows of edges")?;
        if self.edge_offsets.len() != self.node_offsets.len() {
            let (edges, nodes) = (self.edge_offsets.len(), self.node_offsets.len());
            return Err(format!("edge_offsets: found {edges} numbers, expected as many as node_offsets has: {nodes}"));
        }
        Ok(())
    }

    /// Checks weights of nodes, of which there are so many.
    ///
    /// # Errors
    ///
    /// The first fault: array, example, index, value and rule.
    pub(crate) fn check_weights(self, nodes: usize) -> Result<(), String> {
        let Some(weights) = self.node_weights else { return Ok(()) };
        check_length("node_weights", weights.len(), nodes, "node")?;
        if let Some(node) = weights.iter().position(|&weight| !(weight.is_finite() && weight >= 0.0)) {
            let (weight, place) = (weights[node], place(self.node_offsets, node));
            return Err(format!("node_weights: found {weight} at {place}, expected finite numbers >= 0"));
        }
        Ok(())
    }

    /// Checks the ends of edges.
    ///
    /// # Errors
    ///
    /// The first fault: array, example, index, value and rule.
    pub(crate) fn check_edges(self) -> Result<(), String> {
        for example in 0..self.len() {
            let nodes = self.nodes(example).len();
            for edge in self.edges_of(example) {
                let [tail, head] = self.edges[edge];
                let fault = |found: String| Err(format!("edges: found {found} at {}", place(self.edge_offsets, edge)));
                if let Some(missing) = [tail, head].into_iter().find(|&end| end as usize >= nodes) {
                    return fault(format!("node {missing} of an example with {nodes} nodes, numbered from 0,"));
                }
                if tail == head {
                    return fault(format!("an edge from node {tail} to itself"));
                }
            }
        }
        Ok(())
    }
}

/// Checks that an array has a row for each node or edge.
pub(crate) fn check_length(name: &str, found: usize, expected: usize, of: &str) -> Result<(), String> {
    if found != expected {
        return Err(format!("{name}: found {found} rows, expected one for each {of}: {expected}"));
    }
    Ok(())
}

/// Checks numbers that say where examples begin, and where the last one ends.
pub(crate) fn check_offsets(name: &str, offsets: &[usize], rows: usize, what: &str) -> Result<(), String> {
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
pub(crate) fn place(offsets: &[usize], row: usize) -> String {
    let example = offsets.partition_point(|&offset| offset <= row).saturating_sub(1);
    format!("row {row} (example {example}, its row {})", row - offsets[example])
}
