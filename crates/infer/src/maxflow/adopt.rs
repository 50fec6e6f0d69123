//! Orphans: nodes whose arc to the parent is full, or roots whose excess is gone, find a new place in their trees.
//!
//! An orphan with a neighbour of a lower level to hang on stays where it is, with all below it. Otherwise it loses
//! its level, and its children are orphans. Only when all that lose theirs are known, a breadth-first search from the
//! nodes that kept theirs gives new levels. So a node is looked at a bounded number of times per mending, where
//! raising labels one by one (as in the paper) climbs as often as the tree has levels left: on large grids most of
//! the time went there (ADR 0018). The idea is that of Ramalingam and Reps, "An incremental algorithm for a
//! generalization of the shortest-path problem" (J. Algorithms 1996).

use super::capacity::Capacity;
use super::forest::{TerminalTrees, TreeSearch, height};
use super::network::{NONE, ORPHAN, ROOT, ResidualArc, ResidualNetwork};

impl TerminalTrees {
    /// Takes a node's parent away.
    #[inline]
    pub(super) fn orphan<C: Capacity, const S: bool>(&mut self, network: &mut ResidualNetwork<C>, node: u32) {
        let at = &mut network.nodes[node as usize];
        let level = height::<S>(at.level) as usize;
        at.parent = ORPHAN;
        at.next = std::mem::replace(&mut self.orphans[level], node);
        self.lowest = self.lowest.min(level);
        self.highest = self.highest.max(level);
    }
}

impl<C: Capacity> TreeSearch<'_, C> {
    /// Takes a node's parent away.
    #[inline]
    pub(super) fn orphan<const S: bool>(&mut self, node: u32) {
        self.forest.trees[S as usize].orphan::<C, S>(self.network, node);
    }

    /// Takes the parent from all children of a node, given its arcs.
    pub(super) fn orphan_children<const S: bool>(&mut self, first: u32, end: u32) {
        for arc in first..end {
            let there = self.network.arcs[arc as usize];
            let other = self.network.nodes[there.head as usize];
            if other.parent == there.reverse() && height::<S>(other.level) > 0 {
                self.orphan::<S>(there.head);
            }
        }
    }

    /// Finds all orphans a parent, or frees them, from low levels to high ones.
    #[inline]
    pub(super) fn adopt<const S: bool>(&mut self) {
        let mut level = self.forest.trees[S as usize].lowest;
        while level <= self.forest.trees[S as usize].highest {
            let node = self.forest.trees[S as usize].orphans[level];
            if node == NONE {
                level += 1;
                continue;
            }
            let at = &self.network.nodes[node as usize];
            self.forest.trees[S as usize].orphans[level] = at.next;
            // A change of capacities can have put it elsewhere since it was listed.
            if at.parent == ORPHAN && height::<S>(at.level) == level as i32 {
                self.adopt_one::<S>(node, level as i32);
            }
        }
        let trees = &mut self.forest.trees[S as usize];
        (trees.lowest, trees.highest) = (usize::MAX, 0);
        if !self.forest.lost.is_empty() {
            self.restore::<S>();
        }
    }

    /// Finds an orphan a parent of a lower level, or else takes its level.
    #[inline]
    fn adopt_one<const S: bool>(&mut self, node: u32, level: i32) {
        let ResidualNetwork { nodes, arcs, .. } = &mut *self.network;
        let at = nodes[node as usize];
        if if S { at.excess > C::ZERO } else { at.excess < C::ZERO } {
            nodes[node as usize].parent = ROOT;
            return;
        }
        let (mut best, mut by) = (self.forest.trees[S as usize].top, ORPHAN);
        let mut children = 0u64; // a bit for each arc
        // Without branches where they could not be predicted.
        for (arc, up) in (at.first..).zip(&arcs[at.first as usize..at.end as usize]) {
            let other = &nodes[up.head as usize];
            let above = height::<S>(other.level);
            let child = (above > 0) & (other.parent == up.reverse());
            children |= (child as u64) << ((arc - at.first) & 63);
            let better = (above > 0) & (above < best) & up.leads_up::<S>() & !child;
            (best, by) = if better { (above, arc) } else { (best, by) };
            if best < level {
                nodes[node as usize].parent = by;
                return;
            }
        }
        let at = &mut nodes[node as usize];
        let (first, end) = (at.first, at.end);
        (at.level, at.lost) = (lost::<S>(), level);
        at.parent = by; // a guess, for `seed`
        self.forest.lost.push(node);
        if end - first > u64::BITS {
            self.orphan_children::<S>(first, end);
            return;
        }
        while children != 0 {
            let arc = first + children.trailing_zeros();
            children &= children - 1;
            self.orphan::<S>(self.network.arcs[arc as usize].head);
        }
    }

    /// Gives lost nodes their new levels, up to the top one, and frees the others.
    fn restore<const S: bool>(&mut self) {
        let top = self.forest.trees[S as usize].top;
        let (mut level, mut highest) = self.seed::<S>(top);
        let mut queue = std::mem::take(&mut self.forest.queue);
        let mut from = 0;
        while level <= highest || from < queue.len() {
            let mut node = std::mem::replace(&mut self.forest.trees[S as usize].orphans[level as usize], NONE);
            while node != NONE {
                let at = &mut self.network.nodes[node as usize];
                if at.level == lost::<S>() {
                    at.level = if S { level } else { -level };
                    queue.push(node);
                }
                node = at.next;
            }
            let end = queue.len();
            if level == top {
                self.forest.trees[S as usize].active.extend(&queue[from..]);
                break;
            }
            for index in from..end {
                if queue.len() == self.forest.lost.len() {
                    break;
                }
                highest = highest.max(self.regrow::<S>(queue[index], level + 1, &mut queue));
            }
            from = end;
            level += 1;
        }
        if queue.len() < self.forest.lost.len() {
            for &node in &self.forest.lost {
                let at = &mut self.network.nodes[node as usize];
                if at.level == lost::<S>() {
                    at.level = 0;
                }
            }
        }
        queue.clear();
        self.forest.queue = queue;
        self.forest.lost.clear();
    }

    /// Lists the lost nodes that can hang on nodes of lower than the top level, by the level that they get; returns
    /// the lowest and the highest of these levels.
    fn seed<const S: bool>(&mut self, top: i32) -> (i32, i32) {
        let (mut lowest, mut highest) = (top + 1, 0);
        let ResidualNetwork { nodes, arcs, .. } = &mut *self.network;
        for &node in &self.forest.lost {
            let at = nodes[node as usize];
            let mut by = at.parent;
            let over = |up: &ResidualArc<C>| height::<S>(nodes[up.head as usize].level);
            let mut best = if by == ORPHAN { 0 } else { over(&arcs[by as usize]) };
            if best <= 0 {
                (best, by) = (top, ORPHAN);
                for (arc, up) in (at.first..).zip(&arcs[at.first as usize..at.end as usize]) {
                    let above = over(up);
                    if 0 < above && above < best && up.leads_up::<S>() {
                        (best, by) = (above, arc);
                    }
                }
            }
            let at = &mut nodes[node as usize];
            at.parent = by;
            if by != ORPHAN {
                let level = at.lost.max(best + 1);
                (lowest, highest) = (lowest.min(level), highest.max(level));
                at.next = std::mem::replace(&mut self.forest.trees[S as usize].orphans[level as usize], node);
            }
        }
        (lowest, highest)
    }

    /// Hangs the lost neighbours of a node on it. One that had a higher level keeps that, and is listed for later: it
    /// may not have been searched from. Returns the highest level that was listed.
    #[inline]
    fn regrow<const S: bool>(&mut self, node: u32, level: i32, queue: &mut Vec<u32>) -> i32 {
        let mut highest = 0;
        let ResidualNetwork { nodes, arcs, .. } = &mut *self.network;
        let at = &nodes[node as usize];
        for there in &arcs[at.first as usize..at.end as usize] {
            if there.leads_on::<S>() {
                let head = &mut nodes[there.head as usize];
                if head.level != lost::<S>() {
                    continue;
                } else if head.lost <= level {
                    head.level = if S { level } else { -level };
                    head.parent = there.reverse();
                    queue.push(there.head);
                } else if head.parent == ORPHAN {
                    head.parent = there.reverse();
                    highest = highest.max(head.lost);
                    let list = &mut self.forest.trees[S as usize].orphans[head.lost as usize];
                    head.next = std::mem::replace(list, there.head);
                }
            }
        }
        highest
    }
}

/// Returns the level of a node that has lost its own and may get another.
#[inline(always)]
const fn lost<const S: bool>() -> i32 {
    if S { -i32::MAX } else { i32::MAX }
}
