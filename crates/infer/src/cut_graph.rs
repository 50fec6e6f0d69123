//! The network of a model's edges, in which engines of cuts change only the capacities that differ from the last solve.

use crate::error::InferError;
use crate::maxflow::Graph;
use crate::mrf::Mrf;

/// A node of the source's side pays its slope, where that is positive; one of the sink's side its negative, where that
/// is positive. An edge has capacities forward and backward.
#[derive(Clone, Debug, Default)]
pub(crate) struct CutGraph {
    pub(crate) graph: Graph<f64>,
    slopes: Vec<f64>,
    capacities: Vec<(f64, f64)>,
}

impl CutGraph {
    /// Lays out the network of a model's shape, without capacities.
    pub(crate) fn build(&mut self, problem: &Mrf) -> Result<(), InferError> {
        self.graph.clear();
        self.graph.add_nodes(problem.nodes());
        for edge in problem.edges() {
            self.graph.add_edge(edge.tail, edge.head, 0.0, 0.0)?;
        }
        self.slopes.clear();
        self.slopes.resize(problem.nodes(), 0.0);
        self.capacities.clear();
        self.capacities.resize(problem.edges().len(), (0.0, 0.0));
        Ok(())
    }

    /// Sets what a node pays on the source's side less what it pays on the sink's.
    pub(crate) fn set_slope(&mut self, node: usize, slope: f64) -> Result<(), InferError> {
        if slope != self.slopes[node] {
            self.graph.set_terminal(node as u32, (-slope).max(0.0), slope.max(0.0))?;
            self.slopes[node] = slope;
        }
        Ok(())
    }

    /// Sets the capacities of an edge.
    pub(crate) fn set_edge(&mut self, edge: usize, capacities: (f64, f64)) -> Result<(), InferError> {
        if capacities != self.capacities[edge] {
            self.graph.set_edge(edge as u32, capacities.0, capacities.1)?;
            self.capacities[edge] = capacities;
        }
        Ok(())
    }
}
