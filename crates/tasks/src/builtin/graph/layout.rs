//! The places of the weights of graphs.

use std::ops::Range;

use super::spec::{GraphInference, Pairwise};
use crate::builtin::pairwise::PairwiseTask;
use crate::problem::tables::{Axis, WeightTable};

/// Labelling the nodes of graphs.
pub type GraphTask = PairwiseTask<GraphStructure>;

/// Graphs: labels, features, and what edges say.
#[derive(Clone, Debug)]
pub struct GraphStructure {
    pub(super) labels: usize,
    pub(super) features: usize,
    /// Features of an edge; a table needs one, which is 1 where the data has none.
    pub(super) edge_features: usize,
    pub(super) pairwise: Pairwise,
    /// The cost of an edge whose ends differ, whatever the weights.
    pub(super) potts: f64,
    pub(super) inference: GraphInference,
    pub(super) max_iterations: u64,
}

/// The tables of the weights of so many labels and features, with those of edges as the task has them. Features are
/// counted from 0, as columns of arrays are.
pub(super) fn tables((labels, features): (usize, usize), edge_features: usize, pairwise: Pairwise) -> Vec<WeightTable> {
    let label = |name| Axis::labels(name, labels);
    let edge = Axis::numbers("edge feature", edge_features);
    let of_edges = match pairwise {
        Pairwise::Cut => WeightTable::new("edge", [edge]).noted("what it costs if the ends of an edge differ"),
        Pairwise::Full => WeightTable::new("pair", [edge, label("from"), label("to")]),
    };
    vec![WeightTable::new("unary", [label("label"), Axis::features("feature", features, 0)]), of_edges]
}

/// Features of an edge that have weights: a table needs one, which is 1 where the data has none.
pub(super) fn weighted_edge_features(edge_features: usize, pairwise: Pairwise) -> usize {
    if pairwise == Pairwise::Full { edge_features.max(1) } else { edge_features }
}

impl GraphTask {
    /// Makes a task of so many labels, features of nodes and features of edges; see [`GraphSpec`](super::GraphSpec) for
    /// the rest.
    pub fn new(labels: usize, features: usize, edge_features: usize, spec: &super::GraphSpec) -> Self {
        let edge_features = weighted_edge_features(edge_features, spec.pairwise);
        let super::GraphSpec { pairwise, potts, inference, max_iterations, .. } = *spec;
        PairwiseTask(GraphStructure { labels, features, edge_features, pairwise, potts, inference, max_iterations })
    }
}

impl GraphStructure {
    /// Returns the number of weights.
    pub(super) fn weights(&self) -> usize {
        self.edge_start() + self.edge_features * self.table()
    }

    /// Returns where the weights of edges begin.
    pub(super) fn edge_start(&self) -> usize {
        self.labels * self.features
    }

    /// Returns the weights that an edge feature has.
    pub(super) fn table(&self) -> usize {
        match self.pairwise {
            Pairwise::Cut => 1,
            Pairwise::Full => self.labels * self.labels,
        }
    }

    /// Returns where the weights of an edge feature stand.
    pub(super) fn of_edge_feature(&self, feature: usize) -> Range<usize> {
        let start = self.edge_start() + feature * self.table();
        start..start + self.table()
    }

    /// Returns if there are two labels, whose edges like to agree.
    pub(super) fn is_binary_cut(&self) -> bool {
        self.labels == 2 && self.pairwise == Pairwise::Cut
    }
}
