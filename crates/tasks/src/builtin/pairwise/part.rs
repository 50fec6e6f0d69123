//! The nodes and edges that a question is about.

use super::labelling::{Labelling, UNLABELLED};

/// An edge between nodes of a [`LabelledPart`].
#[derive(Clone, Copy, Debug)]
pub(in crate::builtin) struct PartEdge {
    /// Places of its ends among the nodes of the part.
    pub(in crate::builtin) tail: u32,
    pub(in crate::builtin) head: u32,
    /// Its number in the graph.
    pub(in crate::builtin) edge: u32,
}

/// The nodes that a question is about, and the edges between them: all, or where a truth is given the labelled ones.
#[derive(Debug, Default)]
pub struct LabelledPart {
    /// Numbers in the graph.
    pub(in crate::builtin) nodes: Vec<u32>,
    pub(in crate::builtin) edges: Vec<PartEdge>,
    /// By node of the graph, its place among `nodes`.
    places: Vec<u32>,
}

impl LabelledPart {
    /// Takes the part of a graph of so many nodes that is labelled, all of it without a truth.
    pub(in crate::builtin) fn take(&mut self, nodes: usize, edges: &[[u32; 2]], truth: Option<&[u32]>) {
        let is_in = |node: usize| truth.is_none_or(|truth| truth[node] != UNLABELLED);
        self.nodes.clear();
        self.places.clear();
        for node in 0..nodes {
            let place = if is_in(node) { self.nodes.len() as u32 } else { UNLABELLED };
            self.places.push(place);
            if place != UNLABELLED {
                self.nodes.push(node as u32);
            }
        }
        self.edges.clear();
        for (&[tail, head], edge) in edges.iter().zip(0..) {
            let [tail, head] = [tail, head].map(|end| self.places[end as usize]);
            if tail != UNLABELLED && head != UNLABELLED {
                self.edges.push(PartEdge { tail, head, edge });
            }
        }
    }

    /// Returns the place of a node of the graph among the nodes of the part, which it must be one of.
    pub(in crate::builtin) fn place(&self, node: usize) -> usize {
        self.places[node] as usize
    }

    /// Returns the labels of its nodes, of labels by node of the graph.
    pub(in crate::builtin) fn labels_of(&self, labels: &[u32]) -> Vec<u32> {
        self.nodes.iter().map(|&node| labels[node as usize]).collect()
    }

    /// Writes labellings of its nodes into `out`, the other nodes as in the first of `out`.
    pub(in crate::builtin) fn write_list(&self, list: &[Vec<u32>], out: &mut [Labelling]) {
        let base = out[0].clone();
        for (out, labels) in out.iter_mut().zip(list) {
            out.clone_from(&base);
            self.nodes.iter().zip(labels).for_each(|(&node, &label)| out.labels[node as usize] = label);
        }
    }

    /// Returns if there is no cycle; several edges of the same nodes make none.
    pub(in crate::builtin) fn is_forest(&self, parents: &mut Vec<u32>) -> bool {
        parents.clear();
        parents.extend(0..self.nodes.len() as u32);
        let mut simple: Vec<(u32, u32)> =
            self.edges.iter().map(|edge| (edge.tail.min(edge.head), edge.tail.max(edge.head))).collect();
        simple.sort_unstable();
        simple.dedup();
        if simple.len() >= self.nodes.len().max(1) {
            return false;
        }
        for (tail, head) in simple {
            let (one, other) = (root(parents, tail), root(parents, head));
            if one == other {
                return false;
            }
            parents[one as usize] = other;
        }
        true
    }
}

/// Returns what stands for the tree of a node, and shortens the way there.
fn root(parents: &mut [u32], mut node: u32) -> u32 {
    while parents[node as usize] != node {
        parents[node as usize] = parents[parents[node as usize] as usize];
        node = parents[node as usize];
    }
    node
}
