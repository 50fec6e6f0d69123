//! Nodes and edges of all examples, whatever features they have.

use std::collections::HashSet;
use std::ops::Range;

/// The label of a node that has none.
pub const NO_LABEL: i64 = -1;

/// A look at the arrays that do not depend on the kind of data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) node_offsets: &'a [usize],
    pub(crate) node_weights: Option<&'a [f64]>,
    pub(crate) edge_offsets: &'a [usize],
    pub(crate) edges: &'a [[u32; 2]],
}

impl Frame<'_> {
    /// Returns the number of examples.
    pub(crate) fn len(self) -> usize {
        self.node_offsets.len().saturating_sub(1)
    }

    /// Returns the nodes of an example.
    pub(crate) fn nodes(self, example: usize) -> Range<usize> {
        self.node_offsets[example]..self.node_offsets[example + 1]
    }

    /// Returns the edges of an example.
    pub(crate) fn edges_of(self, example: usize) -> Range<usize> {
        self.edge_offsets[example]..self.edge_offsets[example + 1]
    }

    /// Returns how many edges of some examples join two nodes that an earlier edge joins already.
    pub(crate) fn repeated_edges(self, chosen: &[usize]) -> usize {
        let mut seen = HashSet::new();
        let of_example = |&example: &usize| {
            seen.clear();
            let edges = &self.edges[self.edges_of(example)];
            edges.iter().filter(|[tail, head]| !seen.insert((tail.min(head), tail.max(head)))).count()
        };
        chosen.iter().map(of_example).sum()
    }
}
