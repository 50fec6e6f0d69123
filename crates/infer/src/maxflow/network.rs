//! How the residual network lies in memory: the arcs of a node side by side, each with the place of its reverse.
//!
//! A search reads all arcs of a node at a time, so these are contiguous (16 bytes per arc: a grid's node has one cache
//! line of them). Laid out by a counting sort over the edges: O(nodes + edges).

use super::capacity::Capacity;

/// No node, no arc.
pub(super) const NONE: u32 = u32::MAX;
/// As a parent: the node hangs on its own terminal.
pub(super) const ROOT: u32 = u32::MAX;
/// As a parent: there is none.
pub(super) const ORPHAN: u32 = u32::MAX - 1;

/// An edge as it was given.
#[derive(Clone, Copy, Debug)]
pub(super) struct GivenEdge<C> {
    pub(super) tail: u32,
    pub(super) head: u32,
    pub(super) forward: C,
    pub(super) backward: C,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ResidualArc<C> {
    /// The capacity that is left.
    pub(super) residual: C,
    pub(super) head: u32,
    /// Index of the reverse arc; the highest bit tells whether that one has a residual, so that a search against the
    /// arcs' direction need not look there.
    reverse: u32,
}

const OPEN: u32 = 1 << 31;

impl<C: Capacity> ResidualArc<C> {
    /// Makes an arc of an edge with the same capacity in both directions.
    #[inline(always)]
    pub(super) fn joining(head: u32, reverse: u32, capacity: C) -> Self {
        ResidualArc { residual: capacity, head, reverse: reverse | open(capacity) }
    }

    #[inline(always)]
    pub(super) fn reverse(&self) -> u32 {
        self.reverse & !OPEN
    }

    #[inline(always)]
    pub(super) fn reverse_is_open(&self) -> bool {
        self.reverse & OPEN != 0
    }

    /// Returns whether the arc's tail can hang on its head in a tree of the source (`S`) or the sink.
    #[inline(always)]
    pub(super) fn leads_up<const S: bool>(&self) -> bool {
        if S { self.reverse_is_open() } else { self.is_open() }
    }

    /// Returns whether a search from the source (`S`), or one from the sink against the arcs' direction, can go this
    /// way.
    #[inline(always)]
    pub(super) fn leads_on<const S: bool>(&self) -> bool {
        if S { self.is_open() } else { self.reverse_is_open() }
    }

    #[inline(always)]
    pub(super) fn is_open(&self) -> bool {
        self.residual > C::ZERO
    }
}

/// A node with its state in the search.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResidualNode<C> {
    /// The flow that the source can still send into the node if positive, that the sink can still take if negative.
    pub(super) excess: C,
    /// Its arcs: `first..end`.
    pub(super) first: u32,
    pub(super) end: u32,
    /// Arc to its parent in its tree, [`ROOT`] or [`ORPHAN`].
    pub(super) parent: u32,
    /// Its level: positive in the source's trees, negative in the sink's, 0 in none.
    pub(super) level: i32,
    /// The next in a list of orphans.
    pub(super) next: u32,
    /// The level that was lost, until there is a new one.
    pub(super) lost: i32,
}

/// Nodes and arcs.
#[derive(Clone, Debug)]
pub(super) struct ResidualNetwork<C> {
    pub(super) nodes: Vec<ResidualNode<C>>,
    pub(super) arcs: Vec<ResidualArc<C>>,
    /// By edge, its forward arc.
    pub(super) arc_of: Vec<u32>,
}

impl<C> Default for ResidualNetwork<C> {
    fn default() -> Self {
        ResidualNetwork { nodes: Vec::new(), arcs: Vec::new(), arc_of: Vec::new() }
    }
}

impl<C: Capacity> ResidualNetwork<C> {
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.arcs.clear();
        self.arc_of.clear();
    }

    /// Lays out a graph with its residuals at its capacities.
    pub(super) fn build(&mut self, terminals: &[(C, C)], edges: &[GivenEdge<C>]) {
        let fresh = |&(source, sink): &(C, C)| ResidualNode {
            excess: source - sink,
            first: 0,
            end: 0,
            parent: ORPHAN,
            level: 0,
            next: NONE,
            lost: 0,
        };
        self.nodes.clear();
        self.nodes.extend(terminals.iter().map(fresh));
        for edge in edges {
            self.nodes[edge.tail as usize].end += 1;
            self.nodes[edge.head as usize].end += 1;
        }
        let mut start = 0;
        for node in &mut self.nodes {
            let degree = node.end;
            (node.first, node.end) = (start, start);
            start += degree;
        }
        self.arcs.resize(edges.len() * 2, ResidualArc { residual: C::ZERO, head: 0, reverse: 0 });
        self.arc_of.clear();
        self.arc_of.reserve(edges.len());
        for edge in edges {
            let there = take_slot(&mut self.nodes[edge.tail as usize]);
            let back = take_slot(&mut self.nodes[edge.head as usize]);
            self.arcs[there as usize] =
                ResidualArc { residual: edge.forward, head: edge.head, reverse: back | open(edge.backward) };
            self.arcs[back as usize] =
                ResidualArc { residual: edge.backward, head: edge.tail, reverse: there | open(edge.forward) };
            self.arc_of.push(there);
        }
    }

    /// Takes all flow out.
    pub(super) fn reset(&mut self, terminals: &[(C, C)], edges: &[GivenEdge<C>]) {
        for (node, &(source, sink)) in self.nodes.iter_mut().zip(terminals) {
            node.excess = source - sink;
        }
        for (index, edge) in edges.iter().enumerate() {
            self.set_residuals(self.arc_of[index], edge.forward, edge.backward);
        }
    }

    /// Sets the residuals of an arc and its reverse.
    pub(super) fn set_residuals(&mut self, arc: u32, forward: C, backward: C) {
        let back = self.arcs[arc as usize].reverse();
        let there = &mut self.arcs[arc as usize];
        (there.residual, there.reverse) = (forward, back | open(backward));
        let reverse = &mut self.arcs[back as usize];
        (reverse.residual, reverse.reverse) = (backward, arc | open(forward));
    }

    /// Sends flow along an arc; returns whether the arc is full then.
    #[inline(always)]
    pub(super) fn push(&mut self, arc: u32, amount: C) -> bool {
        let there = &mut self.arcs[arc as usize];
        there.residual = there.residual - amount;
        there.reverse |= OPEN;
        let full = !there.is_open();
        let back = there.reverse();
        let reverse = &mut self.arcs[back as usize];
        reverse.residual = reverse.residual + amount;
        if full {
            reverse.reverse &= !OPEN;
        }
        full
    }

    /// Returns what can flow between a node and its root, up to `most`.
    #[inline]
    pub(super) fn room<const S: bool>(&self, mut node: u32, mut most: C) -> C {
        loop {
            let at = &self.nodes[node as usize];
            if at.parent == ROOT {
                return most.min(if S { at.excess } else { C::ZERO - at.excess });
            }
            let up = &self.arcs[at.parent as usize];
            most = most.min(if S { self.arcs[up.reverse() as usize].residual } else { up.residual });
            node = up.head;
        }
    }

    /// Sends over an arc from the source's trees to the sink's what can flow from root to root; returns the arc's ends and
    /// the amount.
    #[inline(always)]
    pub(super) fn fill_bridge(&mut self, bridge: u32) -> (u32, u32, C) {
        let there = self.arcs[bridge as usize];
        let tail = self.arcs[there.reverse() as usize].head;
        let amount = self.room::<true>(tail, there.residual);
        let amount = self.room::<false>(there.head, amount);
        self.push(bridge, amount);
        (tail, there.head, amount)
    }

    /// Sends flow between a node and its root, and tells `orphan` the nodes that thereby lose their parent.
    #[inline]
    pub(super) fn send<const S: bool>(&mut self, mut node: u32, amount: C, mut orphan: impl FnMut(&mut Self, u32)) {
        loop {
            let at = &mut self.nodes[node as usize];
            let parent = at.parent;
            if parent == ROOT {
                at.excess = if S { at.excess - amount } else { at.excess + amount };
                if at.excess == C::ZERO {
                    orphan(self, node);
                }
                return;
            }
            let up = &self.arcs[parent as usize];
            let (above, along) = (up.head, if S { up.reverse() } else { parent });
            if self.push(along, amount) {
                orphan(self, node);
            }
            node = above;
        }
    }
}

#[inline(always)]
fn take_slot<C>(node: &mut ResidualNode<C>) -> u32 {
    let slot = node.end;
    node.end += 1;
    slot
}

#[inline(always)]
fn open<C: Capacity>(residual: C) -> u32 {
    if residual > C::ZERO { OPEN } else { 0 }
}
