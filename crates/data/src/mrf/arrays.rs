//! Pairwise models as arrays.

use std::ops::Range;

use crate::container::Matrix;
use crate::pairwise::Frame;

/// Pairwise models as arrays, one after the other: all nodes with their labels, then all edges with theirs, with
/// offsets by example.
#[derive(Clone, Debug)]
pub struct MrfArrays {
    /// The first node of each example, and the number of nodes: n + 1 numbers from 0.
    pub node_offsets: Vec<usize>,
    /// The first row of each node in `unary_features`, and the number of rows.
    pub label_offsets: Vec<usize>,
    /// `[label of a node][column]`.
    pub unary_features: Matrix,
    /// The features of the columns of `unary_features`; `None`: the first ones.
    pub unary_columns: Option<Vec<u32>>,
    /// One per node: a label of it, numbered from 0, or [`NO_LABEL`](crate::graphs::NO_LABEL).
    pub labels: Vec<i64>,
    /// One number >= 0 per node, where there are any.
    pub node_weights: Option<Vec<f64>>,
    /// The first edge of each example, and the number of edges: n + 1 numbers from 0.
    pub edge_offsets: Vec<usize>,
    /// Nodes at both ends, numbered within their example from 0.
    pub edges: Vec<[u32; 2]>,
    /// The first row of each edge in `pair_features`, and the number of rows.
    pub pair_offsets: Vec<usize>,
    /// `[label of the tail][label of the head][column]`, edge by edge.
    pub pair_features: Matrix,
    /// The features of the columns of `pair_features`; `None`: the first ones.
    pub pair_columns: Option<Vec<u32>>,
}

impl MrfArrays {
    /// Returns what does not depend on the kind of data.
    pub(crate) fn frame(&self) -> Frame<'_> {
        Frame {
            node_offsets: &self.node_offsets,
            node_weights: self.node_weights.as_deref(),
            edge_offsets: &self.edge_offsets,
            edges: &self.edges,
        }
    }

    /// Returns the number of examples.
    pub fn len(&self) -> usize {
        self.frame().len()
    }

    /// Returns true if there is no example.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the nodes of an example.
    pub fn nodes(&self, example: usize) -> Range<usize> {
        self.frame().nodes(example)
    }

    /// Returns the edges of an example.
    pub fn edges_of(&self, example: usize) -> Range<usize> {
        self.frame().edges_of(example)
    }
}
