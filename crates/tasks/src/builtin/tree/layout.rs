//! The tree's weights: where they stand, and the scores of labels at nodes.
//!
//! Weights: `unary[feature][label]`, then for every type of edges `pair[label of the child][label of the parent]`, as
//! the engine reads them. In files it is `unary[label][feature]`, `pair[type][parent's label][child's label]`.

use multiplane_core::linalg;
use multiplane_core::task::UNLABELLED;

use super::input::TreeInput;
use crate::builtin::label_codes::PairSlots;
use crate::builtin::pairwise::Labelling;
use crate::data::SparseRows;
use crate::losses::CostTable;
use crate::problem::tables::{Axis, WeightTable};

/// The task: labels, features, types of edges, costs.
#[derive(Clone, Debug)]
pub struct TreeTask {
    pub(super) labels: usize,
    pub(super) features: usize,
    pub(super) types: usize,
    pub(super) costs: CostTable,
}

impl TreeTask {
    /// Makes a task of `labels` labels on nodes with `features` features and edges of `types` types.
    pub fn new(labels: usize, features: usize, types: usize, costs: CostTable) -> Self {
        TreeTask { labels, features, types, costs }
    }

    /// Returns where the pair weights begin.
    pub(super) fn pair_start(&self) -> usize {
        self.labels * self.features
    }

    /// The weight of a pair of labels: those of parent and child.
    pub(super) fn pair_index(&self, of: usize, from: u32, to: u32) -> u32 {
        (self.pair_start() + (of * self.labels + to as usize) * self.labels + from as usize) as u32
    }

    /// Returns the weights of the edges of a tree.
    pub(super) fn slots<'a>(&'a self, x: &'a TreeInput) -> TreeSlots<'a> {
        TreeSlots { task: self, x }
    }

    /// Scores of each label at each node, loss included, into `unary`. Nodes without a label in the truth have none.
    pub(super) fn score_nodes(&self, x: &TreeInput, w: &[f64], truth: Option<&Labelling>, unary: &mut Vec<f64>) {
        unary.clear();
        unary.resize(x.nodes() * self.labels, 0.0);
        let factors = truth.map(|truth| truth.factors(&self.costs));
        for (node, scores) in unary.chunks_exact_mut(self.labels).enumerate() {
            let right = truth.map(|truth| truth[node]);
            if right == Some(UNLABELLED) {
                continue;
            }
            let row = x.rows().row(node);
            linalg::add_rows(row.indices, row.values, w, scores);
            if let (Some(right), Some(factors)) = (right, factors) {
                linalg::axpy(factors.at(node), self.costs.row(right), scores);
            }
        }
    }
}

/// The tables of the weights in files, with the axis of types of edges. Features without names are counted from 0, as
/// lists are.
pub(super) fn tables(labels: usize, features: usize, types: Axis) -> Vec<WeightTable> {
    let label = |name| Axis::labels(name, labels);
    vec![
        WeightTable::new("unary", [label("label"), Axis::features("feature", features, 0)]),
        WeightTable::new("pair", [types, label("from"), label("to")]).noted("from the parent's label to the child's"),
    ]
}

/// The weights beside rows of a tree: one for each edge.
pub(super) struct TreeSlots<'a> {
    task: &'a TreeTask,
    x: &'a TreeInput,
}

impl PairSlots for TreeSlots<'_> {
    fn rows(&self) -> &SparseRows {
        self.x.rows()
    }

    fn labels(&self) -> usize {
        self.task.labels
    }

    fn places(&self) -> usize {
        self.x.edge_count()
    }

    fn weight(&self, y: &[u32], place: usize) -> u32 {
        let (of, parent, child) = self.x.edge(place);
        match y[parent] == UNLABELLED || y[child] == UNLABELLED {
            true => UNLABELLED,
            false => self.task.pair_index(of, y[parent], y[child]),
        }
    }
}
