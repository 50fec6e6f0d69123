//! The results of sum-product: the distribution of a model's labellings, by node and by edge.

use crate::mrf::{Edge, Mrf};

/// The distribution `p(y) = e^-energy(y) / Z` of the labellings y of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marginals {
    /// `ln Z`, the sum of `e^-energy` over all labellings; the model's constant counts.
    pub log_partition: f64,
    values: Vec<f64>,
    node_starts: Vec<usize>,
    edge_starts: Vec<usize>,
}

impl Marginals {
    /// Returns how probable each label of a node is.
    ///
    /// # Panics
    /// Where there is no such node.
    pub fn node(&self, node: u32) -> &[f64] {
        &self.values[self.node_starts[node as usize]..self.node_starts[node as usize + 1]]
    }

    /// Returns how probable each pair of labels of an edge is: row-major, the tail's label chooses the row. Edges of
    /// the same two nodes have the same.
    ///
    /// # Panics
    /// Where there is no such edge.
    pub fn edge(&self, edge: u32) -> &[f64] {
        &self.values[self.edge_starts[edge as usize]..self.edge_starts[edge as usize + 1]]
    }

    /// Returns the probabilities of all labels of all nodes, laid out as the model's [unaries](Mrf::unaries), then those
    /// of all edges.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    pub(super) fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Returns the place of a pair of labels among all values, given the label of the edge's end `one` and the other's.
    pub(super) fn place(&self, problem: &Mrf, edge: u32, one: u32) -> impl Fn(usize, usize) -> usize + use<> {
        let Edge { tail, head, .. } = problem.edges()[edge as usize];
        let (start, columns) = (self.edge_starts[edge as usize], problem.labels(head));
        let strides = if tail == one { [columns, 1] } else { [1, columns] };
        move |x, y| start + x * strides[0] + y * strides[1]
    }

    pub(super) fn node_mut(&mut self, node: u32) -> &mut [f64] {
        &mut self.values[self.node_starts[node as usize]..self.node_starts[node as usize + 1]]
    }

    /// Makes room for a model's nodes and edges; what it holds means nothing.
    pub(super) fn lay_out(&mut self, problem: &Mrf) {
        problem.offsets().clone_into(&mut self.node_starts);
        let mut size = problem.unaries().len();
        self.edge_starts.clear();
        self.edge_starts.push(size);
        for edge in problem.edges() {
            size += problem.labels(edge.tail) * problem.labels(edge.head);
            self.edge_starts.push(size);
        }
        self.values.resize(size, 0.0);
    }
}
