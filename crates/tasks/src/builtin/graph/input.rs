//! One graph as the task sees it: a part of the arrays of all graphs.

use std::ops::Range;
use std::sync::Arc;

use crate::data::container::RowOf;
use crate::data::graphs::GraphArrays;

/// One graph.
#[derive(Clone, Debug)]
pub struct GraphInput {
    arrays: Arc<GraphArrays>,
    nodes: Range<usize>,
    edges: Range<usize>,
}

impl GraphInput {
    /// Takes an example of the arrays, which must exist.
    pub fn new(arrays: Arc<GraphArrays>, example: usize) -> Self {
        let (nodes, edges) = (arrays.nodes(example), arrays.edges_of(example));
        GraphInput { arrays, nodes, edges }
    }

    /// Returns the number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the nodes at both ends of every edge.
    pub fn edges(&self) -> &[[u32; 2]] {
        &self.arrays.edges[self.edges.clone()]
    }

    /// Returns the features of a node.
    pub fn row(&self, node: usize) -> RowOf<'_> {
        self.arrays.node_features.row(self.nodes.start + node)
    }

    /// Returns the features of an edge, where edges have any.
    pub fn edge_row(&self, edge: usize) -> Option<RowOf<'_>> {
        Some(self.arrays.edge_features.as_ref()?.row(self.edges.start + edge))
    }

    /// Returns the features of all edges, row by row, where edges have any.
    pub(super) fn edge_rows(&self) -> Option<RowOf<'_>> {
        Some(self.arrays.edge_features.as_ref()?.block(self.edges.clone()))
    }

    /// Returns the labels that the data gives the nodes.
    pub(super) fn labels(&self) -> &[i64] {
        &self.arrays.labels[self.nodes.clone()]
    }

    /// Returns the weights of the nodes, where they have any.
    pub(super) fn weights(&self) -> Option<&[f64]> {
        Some(&self.arrays.node_weights.as_ref()?[self.nodes.clone()])
    }
}
