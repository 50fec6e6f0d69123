//! The task of sets of labels, and the places of its weights.

use super::costs::SetCosts;
use super::graph::LabelGraph;
use crate::builtin::prices::SetSearch;
use crate::problem::tables::{Axis, WeightTable};

/// Most labels whose sets are all looked at where the pairs make a cycle.
pub const MOST_ENUMERATED: usize = 16;

/// The task: features, pairs of labels, costs. A labelling is 0 or 1 for every label.
#[derive(Clone, Debug)]
pub struct Multilabel {
    pub(super) features: usize,
    pub(super) graph: LabelGraph,
    pub(super) costs: SetCosts,
}

/// The tables of the weights in files, with the axis of pairs. Features are counted from 1, as in files of them.
pub(super) fn tables(labels: usize, features: usize, pairs: Axis) -> Vec<WeightTable> {
    let of_pairs = [pairs, Axis::own("which", ["neither", "second", "first", "both"])];
    vec![
        WeightTable::new("unary", [Axis::labels("label", labels), Axis::features("feature", features, 1)]),
        WeightTable::new("pair", of_pairs).noted("which of the two labels a set has"),
    ]
}

impl Multilabel {
    /// Makes a task on rows of `features` features; `costs` must be for the labels of `graph`.
    pub fn new(features: usize, graph: LabelGraph, costs: SetCosts) -> Self {
        Multilabel { features, graph, costs }
    }

    /// Returns the number of labels.
    pub(super) fn labels(&self) -> usize {
        self.graph.labels()
    }

    /// Returns where the weights of pairs begin.
    pub(super) fn pair_start(&self) -> usize {
        self.labels() * self.features
    }

    /// The weight that a pair has in a set.
    pub(super) fn pair_index(&self, edge: usize, y: &[u32]) -> usize {
        let [j, k] = self.graph.edges()[edge].map(|label| y[label as usize] as usize);
        self.pair_start() + 4 * edge + 2 * j + k
    }

    /// How the best set is found.
    pub(super) fn search(&self) -> SetSearch {
        match self.graph.forest() {
            Some(_) => SetSearch::Messages,
            None if self.labels() <= MOST_ENUMERATED => SetSearch::Enumeration,
            None => SetSearch::Sweeps,
        }
    }
}
