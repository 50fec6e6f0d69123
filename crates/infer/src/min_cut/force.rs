//! The labels that forbidden pairs force: unit propagation (Dowling and Gallier, "Linear-time algorithms for testing
//! the satisfiability of propositional Horn formulae", 1984) over the edges that forbid.
//!
//! Cost: O(nodes + edges); a node becomes a constant once, and then its edges are looked at.

use crate::mrf::Mrf;

/// The label of a node that is no constant.
pub(super) const FREE: u32 = u32::MAX;

/// The search with its working memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Force {
    /// Edges that forbid pairs.
    hard: Vec<u32>,
    /// These edges sorted by node: each is there twice.
    sorted: Vec<u32>,
    /// The first of each node's among them, and the end of the last ones.
    first: Vec<usize>,
    /// Nodes that became constants, whose edges are to be looked at again.
    pending: Vec<u32>,
}

impl Force {
    /// Makes constants of the nodes that constants and forbidden pairs force; returns false where nothing is allowed.
    pub(super) fn run(&mut self, problem: &Mrf, fixed: &mut [u32]) -> bool {
        self.hard.clear();
        let edges = problem.edges().iter().zip(0..);
        self.hard.extend(edges.filter(|(edge, _)| problem.term(edge).forbids()).map(|(_, index)| index));
        if self.hard.is_empty() {
            return true;
        }
        self.sort(problem);
        // Each edge once, as some force by themselves; then from constant to constant.
        self.pending.clear();
        let Force { hard, sorted, first, pending } = self;
        if !hard.iter().all(|&edge| force_ends(problem, edge, fixed, pending)) {
            return false;
        }
        while let Some(node) = pending.pop() {
            let incident = &sorted[first[node as usize]..first[node as usize + 1]];
            if !incident.iter().all(|&edge| force_ends(problem, edge, fixed, pending)) {
                return false;
            }
        }
        true
    }

    fn sort(&mut self, problem: &Mrf) {
        let nodes = problem.nodes();
        let ends = |edge: u32| {
            let edge = problem.edges()[edge as usize];
            [edge.tail as usize, edge.head as usize]
        };
        self.first.clear();
        self.first.resize(nodes + 2, 0);
        for node in self.hard.iter().flat_map(|&edge| ends(edge)) {
            self.first[node + 2] += 1;
        }
        for node in 2..nodes + 2 {
            self.first[node] += self.first[node - 1];
        }
        self.sorted.clear();
        self.sorted.resize(2 * self.hard.len(), 0);
        for &edge in &self.hard {
            // Each slot moves on as it is filled, so that in the end it is where the next node begins.
            for node in ends(edge) {
                self.sorted[self.first[node + 1]] = edge;
                self.first[node + 1] += 1;
            }
        }
    }
}

/// Fixes the ends of an edge of which one label only has an allowed partner; returns false where none has.
fn force_ends(problem: &Mrf, edge: u32, fixed: &mut [u32], pending: &mut Vec<u32>) -> bool {
    let edge = &problem.edges()[edge as usize];
    let (tail, head) = (edge.tail as usize, edge.head as usize);
    let allowed = |a, b| problem.edge_energy(edge, a, b) < f64::INFINITY;
    let tails = supported(values(fixed[tail]), values(fixed[head]), allowed);
    let heads = supported(values(fixed[head]), values(fixed[tail]), |b, a| allowed(a, b));
    for (node, left) in [(tail, tails), (head, heads)] {
        let Some(left) = left else { return false };
        if left != fixed[node] {
            fixed[node] = left;
            pending.push(node as u32);
        }
    }
    true
}

/// Returns the labels that a binary node can take.
fn values(fixed: u32) -> &'static [u32] {
    match fixed {
        FREE => &[0, 1],
        0 => &[0],
        _ => &[1],
    }
}

/// Returns what is left of `mine` if each label needs an allowed partner in `theirs`; nothing left: `None`.
fn supported(mine: &[u32], theirs: &[u32], allowed: impl Fn(u32, u32) -> bool) -> Option<u32> {
    let mut left = mine.iter().filter(|&&a| theirs.iter().any(|&b| allowed(a, b)));
    match (left.next(), left.next()) {
        (None, _) => None,
        (Some(&label), None) => Some(label),
        _ => Some(FREE),
    }
}
