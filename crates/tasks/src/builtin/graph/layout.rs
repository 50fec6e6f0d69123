//! Where the weights of a graph model stand.

use std::ops::Range;

use super::spec::{Inference, Pairwise};

/// The task: labels, features, and what edges say.
#[derive(Clone, Debug)]
pub struct GraphTask {
    pub(super) labels: usize,
    pub(super) features: usize,
    /// Features of an edge; a table needs one, which is 1 where the data has none.
    pub(super) edge_features: usize,
    pub(super) pairwise: Pairwise,
    /// What an edge whose ends differ costs, whatever the weights.
    pub(super) potts: f64,
    pub(super) inference: Inference,
    pub(super) max_iterations: u64,
}

impl GraphTask {
    /// Makes a task of so many labels, features of nodes and features of edges; see [`GraphSpec`](super::GraphSpec) for
    /// the rest.
    pub fn new(labels: usize, features: usize, edge_features: usize, spec: &super::GraphSpec) -> Self {
        let edge_features = if spec.pairwise == Pairwise::Full { edge_features.max(1) } else { edge_features };
        let super::GraphSpec { pairwise, potts, inference, max_iterations, .. } = *spec;
        GraphTask { labels, features, edge_features, pairwise, potts, inference, max_iterations }
    }

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

    /// Whether two labels whose edges like to agree are what this is about.
    pub(super) fn is_binary_cut(&self) -> bool {
        self.labels == 2 && self.pairwise == Pairwise::Cut
    }
}
