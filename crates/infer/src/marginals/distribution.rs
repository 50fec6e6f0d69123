//! The results of sum-product: the distribution of a model's labellings, by node and by edge.

use crate::mrf::Mrf;

/// The distribution `p(y) = e^-energy(y) / Z` of the labellings y of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marginals {
    /// `ln Z`, the sum of `e^-energy` over all labellings; the model's constant counts.
    pub log_partition: f64,
    /// The entropy of the distribution, in nats.
    pub entropy: f64,
    nodes: Vec<f64>,
    node_starts: Vec<usize>,
    edges: Vec<f64>,
    edge_starts: Vec<usize>,
}

impl Marginals {
    /// Returns how probable each label of a node is.
    ///
    /// # Panics
    /// Where there is no such node.
    pub fn node(&self, node: u32) -> &[f64] {
        &self.nodes[self.node_starts[node as usize]..self.node_starts[node as usize + 1]]
    }

    /// Returns how probable each pair of labels of an edge is: row-major, the tail's label chooses the row. Edges of
    /// the same two nodes have the same.
    ///
    /// # Panics
    /// Where there is no such edge.
    pub fn edge(&self, edge: u32) -> &[f64] {
        &self.edges[self.edge_starts[edge as usize]..self.edge_starts[edge as usize + 1]]
    }

    /// Returns the probabilities of all labels of all nodes, laid out as the model's [unaries](Mrf::unaries).
    pub fn nodes(&self) -> &[f64] {
        &self.nodes
    }

    pub(super) fn node_mut(&mut self, node: u32) -> &mut [f64] {
        &mut self.nodes[self.node_starts[node as usize]..self.node_starts[node as usize + 1]]
    }

    pub(super) fn edge_mut(&mut self, edge: u32) -> &mut [f64] {
        &mut self.edges[self.edge_starts[edge as usize]..self.edge_starts[edge as usize + 1]]
    }

    /// Makes room for a model's nodes and edges; what it holds means nothing.
    pub(super) fn lay_out(&mut self, problem: &Mrf) {
        problem.offsets().clone_into(&mut self.node_starts);
        self.nodes.resize(problem.unaries().len(), 0.0);
        self.edge_starts.clear();
        self.edge_starts.push(0);
        let mut size = 0;
        for edge in problem.edges() {
            size += problem.labels(edge.tail) * problem.labels(edge.head);
            self.edge_starts.push(size);
        }
        self.edges.resize(size, 0.0);
    }

    pub(super) fn clear(&mut self) {
        self.nodes.fill(0.0);
        self.edges.fill(0.0);
    }

    pub(super) fn scale(&mut self, factor: f64) {
        self.nodes.iter_mut().chain(&mut self.edges).for_each(|value| *value *= factor);
    }
}
