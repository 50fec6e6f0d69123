//! One tree as the task sees it.

use multiplane_core::task::UNLABELLED;
use multiplane_infer::InferError;
use multiplane_infer::score_tree::{ROOT, TreeShape};

use crate::builtin::pairwise::Labelling;
use crate::data::SparseRows;

/// A tree of nodes with features.
#[derive(Clone, Debug)]
pub struct TreeInput {
    rows: SparseRows,
    shape: TreeShape,
    /// The shape without the edges of nodes that have no label, if there are such.
    labelled: Option<TreeShape>,
    types: Vec<u32>,
    /// The nodes that have a parent.
    below: Vec<u32>,
}

impl TreeInput {
    /// Takes the features of the nodes, their parents ([`ROOT`] of roots, of which there may be several), and the types
    /// of the edges to the parents; those of roots are not looked at.
    ///
    /// # Errors
    ///
    /// A parent that is no node, and a cycle.
    ///
    /// # Panics
    /// If there are not as many rows, parents and types.
    pub fn new(rows: SparseRows, parents: &[u32], types: Vec<u32>) -> Result<Self, InferError> {
        assert_eq!((rows.len(), types.len()), (parents.len(), parents.len()), "one per node");
        let below = (0..parents.len() as u32).filter(|&node| parents[node as usize] != ROOT).collect();
        Ok(TreeInput { rows, shape: TreeShape::new(parents)?, labelled: None, types, below })
    }

    /// Takes in which nodes have a label in the truth.
    ///
    /// # Errors
    ///
    /// None: without some of its edges a forest is one.
    pub(super) fn take_truth(&mut self, truth: &[u32]) -> Result<(), InferError> {
        if truth.contains(&UNLABELLED) {
            let is_open = |node: u32| node == ROOT || truth[node as usize] == UNLABELLED;
            let parents = self.shape.parents().iter().zip(0..);
            let kept = |(&parent, node): (&u32, u32)| if is_open(node) || is_open(parent) { ROOT } else { parent };
            self.labelled = Some(TreeShape::new(&parents.map(kept).collect::<Vec<u32>>())?);
        }
        Ok(())
    }

    /// Returns the features, a row per node.
    pub fn rows(&self) -> &SparseRows {
        &self.rows
    }

    /// Returns the number of nodes.
    pub fn nodes(&self) -> usize {
        self.rows.len()
    }

    /// Returns who is whose parent; if the truth is given, among the nodes that have a label.
    pub fn shape(&self, truth: Option<&Labelling>) -> &TreeShape {
        let is_partial = |_: &&TreeShape| truth.is_some_and(|truth| truth.contains(&UNLABELLED));
        self.labelled.as_ref().filter(is_partial).unwrap_or(&self.shape)
    }

    /// Returns the type of each node's edge to its parent.
    pub fn types(&self) -> &[u32] {
        &self.types
    }

    /// Returns the edges, in the order of their children: type, parent, child.
    pub fn edges(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        (0..self.below.len()).map(|edge| self.edge(edge))
    }

    /// Returns the number of edges.
    pub(super) fn edge_count(&self) -> usize {
        self.below.len()
    }

    /// Returns an edge: type, parent, child.
    pub(super) fn edge(&self, edge: usize) -> (usize, usize, usize) {
        let child = self.below[edge] as usize;
        (self.types[child] as usize, self.shape.parents()[child] as usize, child)
    }
}
