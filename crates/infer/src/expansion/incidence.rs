//! The edges of each node, side by side.

use crate::mrf::Mrf;

/// Edge indices sorted by node, those to nodes of lower index first; every edge is there twice.
#[derive(Clone, Debug, Default)]
pub(super) struct Incidence {
    /// The first edge of each node, and the end of the last ones.
    first: Vec<u32>,
    /// The first of those to nodes of higher index.
    middle: Vec<u32>,
    edges: Vec<u32>,
}

impl Incidence {
    /// Sorts the edges of a model: O(nodes + edges).
    pub(super) fn build(&mut self, problem: &Mrf) {
        let nodes = problem.nodes();
        self.first.clear();
        self.first.resize(nodes + 2, 0);
        for edge in problem.edges() {
            self.first[edge.tail as usize + 2] += 1;
            self.first[edge.head as usize + 2] += 1;
        }
        for node in 2..nodes + 2 {
            self.first[node] += self.first[node - 1];
        }
        self.edges.clear();
        self.edges.resize(2 * problem.edges().len(), 0);
        // Each slot moves on as it is filled, so that in the end it is where the next node begins.
        for (index, edge) in problem.edges().iter().enumerate() {
            self.put(edge.tail.max(edge.head), index);
        }
        self.middle.clear();
        self.middle.extend_from_slice(&self.first[1..=nodes]);
        for (index, edge) in problem.edges().iter().enumerate() {
            self.put(edge.tail.min(edge.head), index);
        }
        self.first.truncate(nodes + 1);
    }

    fn put(&mut self, node: u32, index: usize) {
        let slot = &mut self.first[node as usize + 1];
        self.edges[*slot as usize] = index as u32;
        *slot += 1;
    }

    /// Returns the edges of a node, by index.
    pub(super) fn of(&self, node: usize) -> &[u32] {
        &self.edges[self.first[node] as usize..self.first[node + 1] as usize]
    }

    /// Returns a node's edges to nodes of lower and of higher index.
    #[inline]
    pub(super) fn sides(&self, node: usize) -> (&[u32], &[u32]) {
        self.of(node).split_at((self.middle[node] - self.first[node]) as usize)
    }
}
