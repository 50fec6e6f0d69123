//! A network laid out straight from where its nodes and edges come from, and solved once: no list of given edges.
//!
//! The caller says each node's degree when it adds the node, which takes the place of the counting sort of
//! [`Graph`](super::Graph). On a grid of a million pixels that is a third of the memory, and much of the time of a cut
//! that is easy.

use super::boykov::Queues;
use super::forest::{SearchForest, TreeSearch};
use super::graph::LARGE;
use super::network::{NONE, ORPHAN, ResidualArc, ResidualNetwork, ResidualNode};
use super::solve::start_anew;

/// A network of symmetric edges, and what it takes to solve it.
#[derive(Clone, Debug, Default)]
pub(crate) struct DirectFlow {
    network: ResidualNetwork<f64>,
    forest: SearchForest,
    queues: Queues,
}

impl DirectFlow {
    /// Removes all nodes and edges.
    pub(crate) fn clear(&mut self) {
        self.network.clear();
    }

    /// Adds a node that is to have so many edges and returns its number: `excess` is what the source can send into it,
    /// or if negative what the sink takes.
    #[inline]
    pub(crate) fn add_node(&mut self, excess: f64, edges: u32) -> u32 {
        let ResidualNetwork { nodes, arcs, .. } = &mut self.network;
        let first = arcs.len();
        let fresh = ResidualNode {
            excess,
            first: first as u32,
            end: first as u32,
            parent: ORPHAN,
            level: 0,
            next: NONE,
            lost: 0,
        };
        nodes.push(fresh);
        arcs.resize(first + edges as usize, ResidualArc::joining(0, 0, 0.0));
        nodes.len() as u32 - 1
    }

    /// Adds an edge with a positive capacity in both directions.
    #[inline]
    pub(crate) fn add_edge(&mut self, tail: u32, head: u32, capacity: f64) {
        let there = self.slot(tail);
        let back = self.slot(head);
        self.network.arcs[there as usize] = ResidualArc::joining(head, back, capacity);
        self.network.arcs[back as usize] = ResidualArc::joining(tail, there, capacity);
    }

    #[inline]
    fn slot(&mut self, node: u32) -> u32 {
        let end = &mut self.network.nodes[node as usize].end;
        *end += 1;
        *end - 1
    }

    /// Sends the largest flow.
    pub(crate) fn solve(&mut self) {
        let mut search = TreeSearch { network: &mut self.network, forest: &mut self.forest };
        start_anew(&mut search, &mut self.queues, LARGE);
        search.run();
    }

    /// Returns what the source could not send into a node, if positive.
    #[inline]
    pub(crate) fn excess(&self, node: u32) -> f64 {
        self.network.nodes[node as usize].excess
    }

    /// Calls `each` with the capacities of the edges of a node on the source's side that lead to the sink's.
    #[inline]
    pub(crate) fn each_cut_edge(&self, node: u32, mut each: impl FnMut(f64)) {
        let at = &self.network.nodes[node as usize];
        for arc in &self.network.arcs[at.first as usize..at.end as usize] {
            if !self.is_source_side(arc.head) {
                // Flow moves capacity from one direction to the other.
                each(0.5 * (arc.residual + self.network.arcs[arc.reverse() as usize].residual));
            }
        }
    }

    /// Returns whether a node is on the source's side in every smallest cut.
    #[inline]
    pub(crate) fn is_source_side(&self, node: u32) -> bool {
        self.network.nodes[node as usize].level > 0
    }
}
