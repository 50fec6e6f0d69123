//! Incremental breadth-first search (Goldberg, Hed, Kaplan, Tarjan and Werneck, ESA 2011).

use super::capacity::Capacity;
use super::network::{NONE, Network, ORPHAN, ROOT};

/// The trees of one terminal: of the source if they are number 1, of the sink if number 0.
#[derive(Clone, Debug, Default)]
struct Trees {
    /// The highest level; its nodes have not been searched from yet.
    top: i32,
    /// The nodes of the top level, and perhaps some that were.
    active: Vec<u32>,
    /// First of the orphans of each level.
    orphans: Vec<u32>,
    /// Levels outside `lowest..=highest` have no orphan.
    lowest: usize,
    highest: usize,
}

/// The search forests of both terminals.
#[derive(Clone, Debug, Default)]
pub(super) struct Forest {
    trees: [Trees; 2],
    spare: Vec<u32>,
    lost: Vec<u32>,
    queue: Vec<u32>,
}

/// The search at work on a network.
pub(super) struct Search<'a, C> {
    pub(super) network: &'a mut Network<C>,
    pub(super) forest: &'a mut Forest,
}

impl<C: Capacity> Search<'_, C> {
    /// Plants new trees: one at each node with an excess.
    pub(super) fn plant(&mut self) {
        for trees in &mut self.forest.trees {
            trees.top = 1;
            trees.active.clear();
            trees.orphans.clear();
            trees.orphans.resize(3, NONE);
            (trees.lowest, trees.highest) = (usize::MAX, 0);
        }
        for (index, node) in self.network.nodes.iter_mut().enumerate() {
            node.current = node.first;
            (node.level, node.parent) = (0, ORPHAN);
            if node.excess > C::ZERO {
                (node.level, node.parent) = (1, ROOT);
                self.forest.trees[1].active.push(index as u32);
            } else if node.excess < C::ZERO {
                (node.level, node.parent) = (-1, ROOT);
                self.forest.trees[0].active.push(index as u32);
            }
        }
    }

    /// Sends what can go from a node straight to a neighbour.
    pub(super) fn send_to_neighbours(&mut self) {
        for node in 0..self.network.nodes.len() {
            let mut excess = self.network.nodes[node].excess;
            if excess > C::ZERO {
                for arc in self.network.nodes[node].first..self.network.nodes[node].end {
                    let there = self.network.arcs[arc as usize];
                    let needed = C::ZERO - self.network.nodes[there.head as usize].excess;
                    if needed > C::ZERO && there.is_open() {
                        let amount = excess.min(needed).min(there.residual);
                        self.network.push(arc, amount);
                        excess = excess - amount;
                        self.network.nodes[there.head as usize].excess = amount - needed;
                        if excess == C::ZERO {
                            break;
                        }
                    }
                }
                self.network.nodes[node].excess = excess;
            }
        }
    }

    /// Grows both forests until neither can, and sends flow wherever they meet.
    pub(super) fn run(&mut self) {
        loop {
            let [sink, source] = &self.forest.trees;
            match (source.active.len(), sink.active.len()) {
                (0, 0) => break,
                (_, 0) => self.grow::<true>(),
                (0, _) => self.grow::<false>(),
                _ if source.top <= sink.top => self.grow::<true>(),
                _ => self.grow::<false>(),
            }
        }
    }

    /// Adds one level to the trees of the source (`S`) or the sink.
    fn grow<const S: bool>(&mut self) {
        let trees = &mut self.forest.trees[S as usize];
        let level = trees.top;
        trees.top = level + 1;
        trees.orphans.resize(level as usize + 3, NONE);
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

    fn scan<const S: bool>(&mut self, node: u32, level: i32) {
        let mut arc = self.network.nodes[node as usize].first;
        let end = self.network.nodes[node as usize].end;
        while arc < end {
            let there = self.network.arcs[arc as usize];
            if if S { there.is_open() } else { there.reverse_is_open() } {
                let head = &mut self.network.nodes[there.head as usize];
                if head.level == 0 {
                    head.level = if S { level + 1 } else { -level - 1 };
                    head.parent = there.reverse();
                    head.current = head.first;
                    self.forest.trees[S as usize].active.push(there.head);
                } else if (head.level < 0) == S {
                    self.augment(if S { arc } else { there.reverse() });
                    if height::<S>(self.network.nodes[node as usize].level) != level {
                        return;
                    }
                    continue;
                }
            }
            arc += 1;
        }
    }

    /// Sends flow from the source's forest to the sink's over an arc between them, and mends the forests.
    fn augment(&mut self, bridge: u32) {
        let there = self.network.arcs[bridge as usize];
        let tail = self.network.arcs[there.reverse() as usize].head;
        let amount = self.room::<true>(tail, there.residual);
        let amount = self.room::<false>(there.head, amount);
        self.network.push(bridge, amount);
        self.send::<true>(tail, amount);
        self.send::<false>(there.head, amount);
        self.adopt::<true>();
        self.adopt::<false>();
    }

    /// What can flow between a node and its root, up to `most`.
    #[inline]
    fn room<const S: bool>(&self, mut node: u32, mut most: C) -> C {
        loop {
            let at = &self.network.nodes[node as usize];
            if at.parent == ROOT {
                return most.min(if S { at.excess } else { C::ZERO - at.excess });
            }
            let up = &self.network.arcs[at.parent as usize];
            let residual = if S { self.network.arcs[up.reverse() as usize].residual } else { up.residual };
            most = most.min(residual);
            node = up.head;
        }
    }

    #[inline]
    fn send<const S: bool>(&mut self, mut node: u32, amount: C) {
        loop {
            let at = &mut self.network.nodes[node as usize];
            let parent = at.parent;
            if parent == ROOT {
                at.excess = if S { at.excess - amount } else { at.excess + amount };
                if at.excess == C::ZERO {
                    self.orphan::<S>(node);
                }
                return;
            }
            let up = &self.network.arcs[parent as usize];
            let (above, along) = (up.head, if S { up.reverse() } else { parent });
            if self.network.push(along, amount) {
                self.orphan::<S>(node);
            }
            node = above;
        }
    }

    #[inline]
    fn orphan<const S: bool>(&mut self, node: u32) {
        let at = &mut self.network.nodes[node as usize];
        let level = height::<S>(at.level) as usize;
        let trees = &mut self.forest.trees[S as usize];
        at.parent = ORPHAN;
        at.next = std::mem::replace(&mut trees.orphans[level], node);
        trees.lowest = trees.lowest.min(level);
        trees.highest = trees.highest.max(level);
    }

    /// Finds new parents for all orphans and their descendants, each node at most once: first which of them lose
    /// their level, from low levels to high ones, then their new levels by a search from what is left.
    fn adopt<const S: bool>(&mut self) {
        let mut level = self.forest.trees[S as usize].lowest;
        while level <= self.forest.trees[S as usize].highest {
            let node = self.forest.trees[S as usize].orphans[level];
            if node == NONE {
                level += 1;
                continue;
            }
            self.forest.trees[S as usize].orphans[level] = self.network.nodes[node as usize].next;
            if !self.keeps_level::<S>(node, level as i32) {
                self.lose::<S>(node);
            }
        }
        let trees = &mut self.forest.trees[S as usize];
        (trees.lowest, trees.highest) = (usize::MAX, 0);
        if !self.forest.lost.is_empty() {
            self.restore::<S>();
        }
    }

    /// Whether an orphan finds a parent without a change of level.
    #[inline]
    fn keeps_level<const S: bool>(&mut self, node: u32, level: i32) -> bool {
        let at = self.network.nodes[node as usize];
        if if S { at.excess > C::ZERO } else { at.excess < C::ZERO } {
            self.network.nodes[node as usize].parent = ROOT;
            return true;
        }
        for arc in at.current..at.end {
            let up = &self.network.arcs[arc as usize];
            if if S { up.reverse_is_open() } else { up.is_open() } {
                let above = height::<S>(self.network.nodes[up.head as usize].level);
                if 0 < above && above < level {
                    let at = &mut self.network.nodes[node as usize];
                    (at.parent, at.current) = (arc, arc);
                    return true;
                }
            }
        }
        false
    }

    /// Takes a node out of its tree: its children are orphans.
    #[inline]
    fn lose<const S: bool>(&mut self, node: u32) {
        let at = &mut self.network.nodes[node as usize];
        at.level = 0;
        let (first, end) = (at.first, at.end);
        self.forest.lost.push(node);
        for arc in first..end {
            let up = self.network.arcs[arc as usize];
            let other = &self.network.nodes[up.head as usize];
            if other.parent == up.reverse() && height::<S>(other.level) > 0 {
                self.orphan::<S>(up.head);
            }
        }
    }

    /// Gives lost nodes their new levels where they still have one below the top, by breadth-first search.
    fn restore<const S: bool>(&mut self) {
        let top = self.forest.trees[S as usize].top;
        let mut queue = std::mem::take(&mut self.forest.queue);
        let (mut lowest, mut highest) = (top + 1, 0);
        for index in 0..self.forest.lost.len() {
            let node = self.forest.lost[index];
            let at = &self.network.nodes[node as usize];
            let (mut best, mut by) = (top, ORPHAN);
            for arc in at.first..at.end {
                let up = &self.network.arcs[arc as usize];
                if if S { up.reverse_is_open() } else { up.is_open() } {
                    let above = height::<S>(self.network.nodes[up.head as usize].level);
                    if 0 < above && above < best {
                        (best, by) = (above, arc);
                    }
                }
            }
            if by != ORPHAN {
                let level = best + 1;
                (lowest, highest) = (lowest.min(level), highest.max(level));
                let at = &mut self.network.nodes[node as usize];
                at.parent = by;
                at.next = std::mem::replace(&mut self.forest.trees[S as usize].orphans[level as usize], node);
            }
        }
        self.forest.lost.clear();
        let mut level = lowest;
        let mut from = 0;
        while level <= highest || from < queue.len() {
            let mut node = std::mem::replace(&mut self.forest.trees[S as usize].orphans[level as usize], NONE);
            while node != NONE {
                let at = &mut self.network.nodes[node as usize];
                if at.level == 0 {
                    at.level = if S { level } else { -level };
                    at.current = at.first;
                    queue.push(node);
                }
                node = at.next;
            }
            if level == top {
                self.forest.trees[S as usize].active.extend(&queue[from..]);
                break;
            }
            let end = queue.len();
            for index in from..end {
                self.regrow::<S>(queue[index], level + 1, &mut queue);
            }
            from = end;
            level += 1;
        }
        queue.clear();
        self.forest.queue = queue;
    }

    #[inline]
    fn regrow<const S: bool>(&mut self, node: u32, level: i32, queue: &mut Vec<u32>) {
        let at = &self.network.nodes[node as usize];
        for arc in at.first..at.end {
            let there = &self.network.arcs[arc as usize];
            if if S { there.is_open() } else { there.reverse_is_open() } {
                let head = &mut self.network.nodes[there.head as usize];
                if head.level == 0 {
                    head.level = if S { level } else { -level };
                    head.parent = there.reverse();
                    head.current = head.first;
                    queue.push(there.head);
                }
            }
        }
    }
}

/// The level in the trees of the source (`S`) or the sink: positive in these, negative in the other ones.
#[inline(always)]
fn height<const S: bool>(level: i32) -> i32 {
    if S { level } else { -level }
}
