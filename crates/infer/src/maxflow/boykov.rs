//! The trees of Boykov and Kolmogorov ("An experimental comparison of min-cut/max-flow algorithms for energy
//! minimization in vision", PAMI 2004): a head start on large graphs.
//!
//! Nodes grow in the order in which they were reached, and an orphan with a subtree hangs on whatever neighbour has a
//! root, at any distance. Paths are not the shortest, and there is no good bound on the number of them; but far less
//! of the trees is done anew after each, which shows where they are large (ADR 0018). So the number of paths is
//! limited, and incremental breadth-first search, which starts over from the residuals, has the last word in any
//! case.
//!
//! Of the fields of nodes, `level` is the signed distance that was last seen, `lost` the time of that, and `next` tells
//! whether the node is queued.

use std::collections::VecDeque;

use super::capacity::Capacity;
use super::forest::height;
use super::network::{NONE, ORPHAN, ROOT, ResidualNetwork};

/// Working memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Queues {
    active: VecDeque<u32>,
    orphans: VecDeque<u32>,
}

/// The search at work on a network. `S`: in the trees of the source, not of the sink.
pub(super) struct HeadStart<'a, C> {
    pub(super) network: &'a mut ResidualNetwork<C>,
    pub(super) queues: &'a mut Queues,
    /// Paths so far.
    pub(super) time: i32,
}

impl<C: Capacity> HeadStart<'_, C> {
    /// Sends flow until no residual path is left, or along `limit` paths.
    pub(super) fn run(&mut self, limit: i32) {
        self.queues.active.clear();
        for (index, node) in self.network.nodes.iter_mut().enumerate() {
            (node.level, node.parent, node.lost, node.next) = (0, ORPHAN, 0, NONE);
            if node.excess != C::ZERO {
                (node.level, node.parent, node.next) = (if node.excess > C::ZERO { 1 } else { -1 }, ROOT, 0);
                self.queues.active.push_back(index as u32);
            }
        }
        while let Some(node) = self.queues.active.pop_front() {
            self.network.nodes[node as usize].next = NONE;
            loop {
                let bridge = match self.network.nodes[node as usize].level.signum() {
                    1 => self.grow::<true>(node),
                    -1 => self.grow::<false>(node),
                    _ => break,
                };
                let Some(bridge) = bridge else { break };
                self.time += 1;
                if self.time > limit {
                    return;
                }
                self.augment(bridge);
            }
        }
    }

    /// Takes the free neighbours of a node into its tree, until one of the other side is found: the arc between.
    fn grow<const S: bool>(&mut self, node: u32) -> Option<u32> {
        let at = self.network.nodes[node as usize];
        let level = height::<S>(at.level) + 1;
        for arc in at.first..at.end {
            let there = self.network.arcs[arc as usize];
            if there.leads_on::<S>() {
                let head = &mut self.network.nodes[there.head as usize];
                let other = height::<S>(head.level);
                if other < 0 {
                    return Some(if S { arc } else { there.reverse() });
                }
                // A shorter way, as far as known: worth to be taken.
                if other == 0 || (head.lost <= at.lost && other > level) {
                    (head.level, head.lost) = (if S { level } else { -level }, at.lost);
                    head.parent = there.reverse();
                    if other == 0 {
                        self.activate(there.head);
                    }
                }
            }
        }
        None
    }

    #[inline]
    fn activate(&mut self, node: u32) {
        let at = &mut self.network.nodes[node as usize];
        if at.next == NONE {
            at.next = 0;
            self.queues.active.push_back(node);
        }
    }

    fn augment(&mut self, bridge: u32) {
        let (tail, head, amount) = self.network.fill_bridge(bridge);
        self.send::<true>(tail, amount);
        self.send::<false>(head, amount);
        while let Some(node) = self.queues.orphans.pop_front() {
            match self.network.nodes[node as usize].level > 0 {
                true => self.adopt::<true>(node),
                false => self.adopt::<false>(node),
            }
        }
    }

    /// Sends flow between a node and its root; nodes that thereby lose their parent are orphans, the nearest to the
    /// root first.
    fn send<const S: bool>(&mut self, node: u32, amount: C) {
        let orphans = &mut self.queues.orphans;
        self.network.send::<S>(node, amount, |network, node| {
            network.nodes[node as usize].parent = ORPHAN;
            orphans.push_front(node);
        });
    }

    /// Finds an orphan the parent that is nearest to a root, or frees it.
    fn adopt<const S: bool>(&mut self, node: u32) {
        let at = self.network.nodes[node as usize];
        let (mut best, mut by) = (i32::MAX, ORPHAN);
        for arc in at.first..at.end {
            let up = self.network.arcs[arc as usize];
            if up.leads_up::<S>()
                && let Some(distance) = self.distance::<S>(up.head)
                && distance < best
            {
                (best, by) = (distance, arc);
            }
        }
        let time = self.time;
        let orphan = &mut self.network.nodes[node as usize];
        if by != ORPHAN {
            (orphan.parent, orphan.lost) = (by, time);
            orphan.level = if S { best + 1 } else { -best - 1 };
            return;
        }
        orphan.level = 0;
        for arc in at.first..at.end {
            let up = self.network.arcs[arc as usize];
            let other = &mut self.network.nodes[up.head as usize];
            if height::<S>(other.level) > 0 {
                if other.parent == up.reverse() {
                    other.parent = ORPHAN;
                    self.queues.orphans.push_back(up.head);
                }
                if up.leads_up::<S>() {
                    self.activate(up.head);
                }
            }
        }
    }

    /// Returns the number of nodes from a node to its root, if it has one: found by walking up, and remembered on the
    /// way.
    #[inline]
    fn distance<const S: bool>(&mut self, start: u32) -> Option<i32> {
        let ResidualNetwork { nodes, arcs, .. } = &mut *self.network;
        if height::<S>(nodes[start as usize].level) <= 0 {
            return None;
        }
        let (mut node, mut distance) = (start, 0);
        loop {
            let at = &nodes[node as usize];
            if at.lost == self.time && at.parent != ORPHAN {
                distance += height::<S>(at.level);
                break;
            }
            distance += 1;
            match at.parent {
                ROOT => break,
                ORPHAN => return None,
                parent => node = arcs[parent as usize].head,
            }
        }
        let (mut node, mut left) = (start, distance);
        loop {
            let at = &mut nodes[node as usize];
            if at.lost == self.time {
                break;
            }
            (at.lost, at.level) = (self.time, if S { left } else { -left });
            left -= 1;
            if at.parent == ROOT {
                break;
            }
            node = arcs[at.parent as usize].head;
        }
        Some(distance)
    }
}
