//! Incremental breadth-first search: trees of shortest residual paths grow from the nodes with an excess, level by
//! level, in turns from the source's side and from the sink's; where they meet, flow is sent between the two roots, and
//! the trees are mended instead of grown anew (Goldberg, Hed, Kaplan, Tarjan and Werneck, "Maximum flows by incremental
//! breadth-first search", ESA 2011).
//!
//! Invariants between calls, for the source's trees (the sink's are the mirror image):
//! - A root has an excess. Any other node has a parent of a lower level with a residual arc from the parent.
//! - Nodes below the top level have been searched from: their residual arcs lead to nodes of the source's trees only.
//!
//! So when neither side has a node at its top level, no residual path leads from an excess to a deficit, and the
//! source's trees hold exactly the nodes that can be reached from an excess, the sink's those that reach a deficit.
//! Levels are not less than distances, and never fall while a node stays in its tree. O(nodes^2 edges) at worst, with
//! any capacities: each sending of flow empties an arc or a root exactly, also in floating point.

use super::capacity::Capacity;
use super::network::{NONE, ORPHAN, ROOT, ResidualNetwork};

/// The trees of one terminal.
#[derive(Clone, Debug, Default)]
pub(super) struct TerminalTrees {
    /// The highest level: its nodes have not been searched from yet.
    pub(super) top: i32,
    /// The nodes of the top level, and perhaps some that were.
    pub(super) active: Vec<u32>,
    /// The first of the orphans of each level.
    pub(super) orphans: Vec<u32>,
    /// Levels outside `lowest..=highest` have no orphan.
    pub(super) lowest: usize,
    pub(super) highest: usize,
}

/// The trees of both terminals, and working memory.
#[derive(Clone, Debug, Default)]
pub(super) struct SearchForest {
    /// Of the sink, of the source: by `S as usize`.
    pub(super) trees: [TerminalTrees; 2],
    spare: Vec<u32>,
    pub(super) lost: Vec<u32>,
    pub(super) queue: Vec<u32>,
}

impl SearchForest {
    /// Returns the larger number of levels of the two sides.
    pub(super) fn height(&self) -> i32 {
        self.trees[0].top.max(self.trees[1].top)
    }
}

/// The search at work on a network. `S` says in all that follows: in the trees of the source, not of the sink.
pub(super) struct TreeSearch<'a, C> {
    pub(super) network: &'a mut ResidualNetwork<C>,
    pub(super) forest: &'a mut SearchForest,
}

impl<C: Capacity> TreeSearch<'_, C> {
    /// Sends what can go from a node straight to a neighbour: a good part of all flow, where neighbours differ.
    pub(super) fn send_to_neighbours(&mut self) {
        for node in 0..self.network.nodes.len() {
            let at = self.network.nodes[node];
            if at.excess > C::ZERO {
                let mut excess = at.excess;
                for arc in at.first..at.end {
                    let there = self.network.arcs[arc as usize];
                    let needed = C::ZERO - self.network.nodes[there.head as usize].excess;
                    if needed > C::ZERO && there.is_open() {
                        let amount = excess.min(needed).min(there.residual);
                        self.network.push(arc, amount);
                        self.network.nodes[there.head as usize].excess = amount - needed;
                        excess = excess - amount;
                        if excess == C::ZERO {
                            break;
                        }
                    }
                }
                self.network.nodes[node].excess = excess;
            }
        }
    }

    /// Forgets all trees and plants new ones: a root at each node with an excess.
    pub(super) fn plant(&mut self) {
        for trees in &mut self.forest.trees {
            trees.top = 1;
            trees.active.clear();
            trees.orphans.clear();
            trees.orphans.resize(2, NONE);
            (trees.lowest, trees.highest) = (usize::MAX, 0);
        }
        for node in 0..self.network.nodes.len() as u32 {
            let at = &mut self.network.nodes[node as usize];
            (at.level, at.parent) = (0, ORPHAN);
            self.root(node);
        }
    }

    /// Makes a node outside of all trees a root of the top level, if it has an excess.
    #[inline]
    pub(super) fn root(&mut self, node: u32) {
        let at = &mut self.network.nodes[node as usize];
        if at.excess == C::ZERO {
            return;
        }
        let source = at.excess > C::ZERO;
        let trees = &mut self.forest.trees[source as usize];
        at.level = if source { trees.top } else { -trees.top };
        at.parent = ROOT;
        trees.active.push(node);
    }

    /// Grows both forests until neither can, and sends flow wherever they meet.
    pub(super) fn run(&mut self) {
        loop {
            let [sink, source] = &self.forest.trees;
            match (source.active.is_empty(), sink.active.is_empty()) {
                (true, true) => break,
                (false, true) => self.grow::<true>(),
                (true, false) => self.grow::<false>(),
                _ if source.top <= sink.top => self.grow::<true>(),
                _ => self.grow::<false>(),
            }
        }
    }

    /// Adds one level to the trees.
    fn grow<const S: bool>(&mut self) {
        let trees = &mut self.forest.trees[S as usize];
        let level = trees.top;
        trees.top = level + 1;
        trees.orphans.resize(level as usize + 2, NONE);
        let mut scan = std::mem::take(&mut self.forest.spare);
        std::mem::swap(&mut scan, &mut trees.active);
        for &node in &scan {
            if height::<S>(self.network.nodes[node as usize].level) == level {
                self.scan::<S>(node, level);
            }
        }
        scan.clear();
        self.forest.spare = scan;
    }

    /// Takes the free neighbours of a node into its tree, and sends flow to those of the other side.
    #[inline]
    fn scan<const S: bool>(&mut self, node: u32, level: i32) {
        let mut arc = self.network.nodes[node as usize].first;
        let end = self.network.nodes[node as usize].end;
        while arc < end {
            let there = self.network.arcs[arc as usize];
            if there.leads_on::<S>() {
                let other = self.network.nodes[there.head as usize].level;
                if other == 0 {
                    self.attach::<S>(there.head, there.reverse());
                } else if height::<S>(other) < 0 {
                    self.augment(if S { arc } else { there.reverse() });
                    if height::<S>(self.network.nodes[node as usize].level) != level {
                        return;
                    }
                    continue; // the arc may have more to give
                }
            }
            arc += 1;
        }
    }

    /// Hangs a free node at the top level, by an arc to its parent.
    #[inline]
    pub(super) fn attach<const S: bool>(&mut self, node: u32, arc: u32) {
        let trees = &mut self.forest.trees[S as usize];
        let at = &mut self.network.nodes[node as usize];
        at.level = if S { trees.top } else { -trees.top };
        at.parent = arc;
        trees.active.push(node);
    }

    /// Sends flow from root to root over an arc from the source's trees to the sink's, and mends the trees.
    pub(super) fn augment(&mut self, bridge: u32) {
        let (tail, head, amount) = self.network.fill_bridge(bridge);
        self.send::<true>(tail, amount);
        self.send::<false>(head, amount);
        self.adopt::<true>();
        self.adopt::<false>();
    }

    #[inline]
    fn send<const S: bool>(&mut self, node: u32, amount: C) {
        let trees = &mut self.forest.trees[S as usize];
        self.network.send::<S>(node, amount, |network, node| trees.orphan::<C, S>(network, node));
    }
}

/// Returns the level in the trees: positive in these, negative in the other terminal's, 0 in none.
#[inline(always)]
pub(super) fn height<const S: bool>(level: i32) -> i32 {
    if S { level } else { -level }
}
