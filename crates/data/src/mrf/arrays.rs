//! The arrays of pairwise models.

use std::ops::{Deref, DerefMut};

use crate::container::Matrix;
use crate::pairwise::NodesAndEdges;

/// Pairwise models as arrays, one after the other: all nodes with their labels, then all edges with theirs.
#[derive(Clone, Debug)]
pub struct MrfArrays {
    /// Nodes and edges; a label is one of its node, numbered from 0.
    pub frame: NodesAndEdges,
    /// The first row of each node in `unary_features`, and the number of rows.
    pub label_offsets: Vec<usize>,
    /// `[label of a node][column]`.
    pub unary_features: Matrix,
    /// The features of the columns of `unary_features`; `None`: the first ones.
    pub unary_columns: Option<Vec<u32>>,
    /// The first row of each edge in `pair_features`, and the number of rows.
    pub pair_offsets: Vec<usize>,
    /// `[label of the tail][label of the head][column]`, edge by edge.
    pub pair_features: Matrix,
    /// The features of the columns of `pair_features`; `None`: the first ones.
    pub pair_columns: Option<Vec<u32>>,
}

impl Deref for MrfArrays {
    type Target = NodesAndEdges;

    fn deref(&self) -> &NodesAndEdges {
        &self.frame
    }
}

impl DerefMut for MrfArrays {
    fn deref_mut(&mut self) -> &mut NodesAndEdges {
        &mut self.frame
    }
}
