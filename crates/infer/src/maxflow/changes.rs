//! New capacities on a network with flow: the flow stays, as far as it still fits, and so do the trees (Kohli and Torr,
//! "Dynamic graph cuts for efficient inference in Markov random fields", PAMI 2007; with excesses instead of repairs of
//! the flow: Goldberg, Hed, Kaplan, Kohli, Tarjan and Werneck, "Faster and more dynamic maximum flow by incremental
//! breadth-first search", ESA 2015).
//!
//! Flow beyond a lowered capacity is taken back from its arc: an excess at the tail, a deficit at the head. Nothing
//! else needs to be done for the flow, as excesses may be anywhere. What follows restores what forest.rs promises of
//! trees.

use super::capacity::Capacity;
use super::forest::{TreeSearch, height};
use super::network::{ROOT, ResidualNetwork};

impl<C: Capacity> ResidualNetwork<C> {
    /// Gives an edge new capacities.
    pub(super) fn change_edge(&mut self, edge: usize, capacity: (C, C), before: (C, C)) {
        let arc = self.arc_of[edge];
        let there = self.arcs[arc as usize];
        let back = self.arcs[there.reverse() as usize];
        let (tail, head) = (back.head as usize, there.head as usize);
        // From the smaller residual, which has lost fewer digits. It lies between the capacities, so that no sum below
        // is beyond that of all capacities, before or now.
        let mut sent = match there.residual <= back.residual {
            true => before.0 - there.residual,
            false => back.residual - before.1,
        };
        let least = C::ZERO - capacity.1;
        let fits = if sent > capacity.0 {
            capacity.0
        } else if sent < least {
            least
        } else {
            sent
        };
        if fits != sent {
            self.nodes[tail].excess = self.nodes[tail].excess + (sent - fits);
            self.nodes[head].excess = self.nodes[head].excess - (sent - fits);
            sent = fits;
        }
        let (forward, backward) = (capacity.0 - sent, capacity.1 + sent);
        self.set_residuals(arc, forward, backward);
    }
}

impl<C: Capacity> TreeSearch<'_, C> {
    /// Mends the trees after changes of the excess of `nodes` and the residuals of `edges`, whose ends are among
    /// `nodes`. May leave nodes at the top levels, for [`run`](TreeSearch::run). Uses `arcs` as working memory.
    pub(super) fn mend(&mut self, nodes: &[u32], edges: &[u32], arcs: &mut Vec<u32>) {
        arcs.clear();
        for &node in nodes {
            self.place(node, arcs);
        }
        for &edge in edges {
            let arc = self.network.arc_of[edge as usize];
            arcs.extend([arc, self.network.arcs[arc as usize].reverse()]);
        }
        for &arc in arcs.iter() {
            self.cut_full::<true>(self.network.arcs[arc as usize].reverse());
            self.cut_full::<false>(arc);
        }
        self.adopt::<true>();
        self.adopt::<false>();
        for &arc in arcs.iter() {
            self.join(arc);
        }
        arcs.clear();
    }

    /// Puts a node where its excess belongs. If it thereby leaves a tree, its arcs are listed.
    fn place(&mut self, node: u32, arcs: &mut Vec<u32>) {
        let at = self.network.nodes[node as usize];
        let side = |positive: bool, negative: bool| positive as i32 - negative as i32;
        let now = side(at.excess > C::ZERO, at.excess < C::ZERO);
        let was = at.level.signum();
        if was == 0 {
            self.root(node);
        } else if now == was {
            self.network.nodes[node as usize].parent = ROOT;
        } else if now == 0 {
            match (at.parent == ROOT, was > 0) {
                (true, true) => self.orphan::<true>(node),
                (true, false) => self.orphan::<false>(node),
                _ => {}
            }
        } else {
            for arc in at.first..at.end {
                let reverse = self.network.arcs[arc as usize].reverse();
                arcs.extend([arc, reverse]);
            }
            match was > 0 {
                true => self.orphan_children::<true>(at.first, at.end),
                false => self.orphan_children::<false>(at.first, at.end),
            }
            self.root(node);
        }
    }

    /// Orphans the tail of an arc to its parent that is full.
    fn cut_full<const S: bool>(&mut self, arc: u32) {
        let up = self.network.arcs[arc as usize];
        let node = self.network.arcs[up.reverse() as usize].head;
        let at = self.network.nodes[node as usize];
        if height::<S>(at.level) > 0 && at.parent == arc && !up.leads_up::<S>() {
            self.orphan::<S>(node);
        }
    }

    /// Makes good that a node which had been searched from has a residual arc out of its side's trees.
    fn join(&mut self, arc: u32) {
        loop {
            let there = self.network.arcs[arc as usize];
            let tail = self.network.arcs[there.reverse() as usize].head;
            let (from, to) = (self.network.nodes[tail as usize].level, self.network.nodes[there.head as usize].level);
            let [sink, source] = &self.forest.trees;
            let (searched_from, searched_to) = (0 < from && from < source.top, to < 0 && -sink.top < to);
            if !there.is_open() {
                return;
            } else if searched_from && to == 0 {
                return self.attach::<true>(there.head, there.reverse());
            } else if searched_to && from == 0 {
                return self.attach::<false>(tail, arc);
            } else if (searched_from && to < 0) || (searched_to && from > 0) {
                self.augment(arc);
            } else {
                return;
            }
        }
    }
}
