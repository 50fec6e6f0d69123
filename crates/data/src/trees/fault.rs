//! Faults of trees, with their places in the line.

use std::fmt;

/// The part of a tree that is at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreePlace {
    /// The tree as a whole.
    Tree,
    /// A node, counted from 0.
    Node(usize),
    /// An edge of the list of edges, counted from 0.
    Edge(usize),
}

/// A fault of a tree: `node 3: found X, expected Y`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeFault {
    /// Its place.
    pub place: TreePlace,
    /// The text found, and the rule.
    pub message: String,
}

impl TreeFault {
    /// Makes the fault of a node.
    pub fn node(node: usize, message: impl Into<String>) -> Self {
        TreeFault { place: TreePlace::Node(node), message: message.into() }
    }

    /// Makes the fault of an edge.
    pub fn edge(edge: usize, message: impl Into<String>) -> Self {
        TreeFault { place: TreePlace::Edge(edge), message: message.into() }
    }

    /// Makes the fault of a whole tree.
    pub fn tree(message: impl Into<String>) -> Self {
        TreeFault { place: TreePlace::Tree, message: message.into() }
    }

    /// Makes the fault of a tree with several roots.
    pub fn second_root(first: usize, second: usize) -> Self {
        TreeFault::node(second, format!("found a second root after node {first}, expected one node without a parent"))
    }
}

impl fmt::Display for TreeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            TreePlace::Tree => f.write_str(&self.message),
            TreePlace::Node(node) => write!(f, "node {node}: {}", self.message),
            TreePlace::Edge(edge) => write!(f, "edge {edge}: {}", self.message),
        }
    }
}

impl std::error::Error for TreeFault {}
