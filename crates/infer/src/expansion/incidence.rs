//! The edges of each node, side by side.

use crate::mrf::Mrf;

/// Edge indices sorted by node; every edge is there twice.
#[derive(Clone, Debug, Default)]
pub(super) struct Incidence {
    /// Where each node's edges begin, and where the last ones end.
    first: Vec<u32>,
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
            for node in [edge.tail, edge.head] {
                let slot = &mut self.first[node as usize + 1];
                self.edges[*slot as usize] = index as u32;
                *slot += 1;
            }
        }
        self.first.truncate(nodes + 1);
    }

    /// The edges of a node, by index.
    pub(super) fn of(&self, node: usize) -> &[u32] {
        &self.edges[self.first[node] as usize..self.first[node + 1] as usize]
    }
}
