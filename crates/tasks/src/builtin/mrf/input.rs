//! One pairwise model as the task sees it: a part of the arrays of all.

use std::ops::Range;
use std::sync::Arc;

use crate::data::container::{Matrix, RowOf};
use crate::data::mrf::CheckedMrfs;

/// One pairwise model.
#[derive(Clone, Debug)]
pub struct MrfInput {
    checked: Arc<CheckedMrfs>,
    nodes: Range<usize>,
    edges: Range<usize>,
}

impl MrfInput {
    /// Takes an example of the arrays, which must exist.
    pub fn new(checked: Arc<CheckedMrfs>, example: usize) -> Self {
        let (nodes, edges) = (checked.arrays().nodes(example), checked.arrays().edges_of(example));
        MrfInput { checked, nodes, edges }
    }

    /// Returns the number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the nodes at both ends of every edge.
    pub fn edges(&self) -> &[[u32; 2]] {
        &self.checked.arrays().edges[self.edges.clone()]
    }

    /// Returns the number of labels of a node.
    pub fn labels(&self, node: usize) -> usize {
        self.unary_rows(node).len()
    }

    /// Returns the features of all labels of nodes, and which features the columns are.
    pub(super) fn unary(&self) -> (&Matrix, &[u32]) {
        (&self.checked.arrays().unary_features, self.checked.unary_columns())
    }

    /// Returns the features of all pairs of labels of edges, and which features the columns are.
    pub(super) fn pair(&self) -> (&Matrix, &[u32]) {
        (&self.checked.arrays().pair_features, self.checked.pair_columns())
    }

    /// Returns the rows of a node's labels.
    pub(super) fn unary_rows(&self, node: usize) -> Range<usize> {
        let offsets = &self.checked.arrays().label_offsets;
        offsets[self.nodes.start + node]..offsets[self.nodes.start + node + 1]
    }

    /// Returns the rows of an edge's pairs of labels.
    pub(super) fn pair_rows(&self, edge: usize) -> Range<usize> {
        let offsets = &self.checked.arrays().pair_offsets;
        offsets[self.edges.start + edge]..offsets[self.edges.start + edge + 1]
    }

    /// Returns the features of a node's label, by column.
    pub(super) fn unary_row(&self, node: usize, label: u32) -> RowOf<'_> {
        self.unary().0.row(self.unary_rows(node).start + label as usize)
    }

    /// Returns the features of an edge for the labels of its tail and head, by column.
    pub(super) fn pair_row(&self, edge: usize, a: u32, b: u32) -> RowOf<'_> {
        let head = self.edges()[edge][1] as usize;
        self.pair().0.row(self.pair_rows(edge).start + a as usize * self.labels(head) + b as usize)
    }

    /// Returns the labels that the data gives the nodes.
    pub(super) fn truth(&self) -> &[i64] {
        &self.checked.arrays().labels[self.nodes.clone()]
    }

    /// Returns the weights of the nodes, where they have any.
    pub(super) fn weights(&self) -> Option<&[f64]> {
        Some(&self.checked.arrays().node_weights.as_ref()?[self.nodes.clone()])
    }
}
