//! Graphs as arrays.

use std::ops::Range;

use crate::container::Matrix;
use crate::pairwise::Frame;

/// Graphs as arrays, one after the other: all nodes, then all edges, with offsets by example.
#[derive(Clone, Debug)]
pub struct GraphArrays {
    /// The first node of each example, and the number of nodes: n + 1 numbers from 0.
    pub node_offsets: Vec<usize>,
    /// `[node][feature]`.
    pub node_features: Matrix,
    /// One per node: any whole number from 0, or [`NO_LABEL`](super::NO_LABEL).
    pub labels: Vec<i64>,
    /// One number >= 0 per node, such as its size, where there are any.
    pub node_weights: Option<Vec<f64>>,
    /// The first edge of each example, and the number of edges: n + 1 numbers from 0.
    pub edge_offsets: Vec<usize>,
    /// Nodes at both ends, numbered within their example from 0.
    pub edges: Vec<[u32; 2]>,
    /// `[edge][feature]`, where edges have any.
    pub edge_features: Option<Matrix>,
}

impl GraphArrays {
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
