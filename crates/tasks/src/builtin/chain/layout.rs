//! The chain's weights: where they stand, and the scores of labels at positions.
//!
//! Weights: `unary[feature][label]`, `pair[from][to]`, then with `ends` `start[label]`, `end[label]`: what a feature
//! says of all labels stands together, so that scoring costs one stretch of memory a feature. In files it is
//! `unary[label][feature]`.

use std::sync::Arc;

use multiplane_core::linalg;
use multiplane_core::task::UNLABELLED;

use crate::builtin::chain::transitions::AllowedSteps;
use crate::builtin::label_codes::PairSlots;
use crate::builtin::pairwise::Labelling;
use crate::data::SparseRows;
use crate::losses::CostTable;
use crate::problem::tables::{Axis, WeightTable};

/// The task: labels, features, costs.
#[derive(Clone, Debug)]
pub struct Chain {
    pub(super) labels: usize,
    pub(super) features: usize,
    pub(super) ends: bool,
    pub(super) costs: CostTable,
    pub(super) rule: Option<Arc<AllowedSteps>>,
}

impl Chain {
    /// Makes a task of `labels` labels on positions with `features` features.
    pub fn new(labels: usize, features: usize, ends: bool, costs: CostTable) -> Self {
        Chain { labels, features, ends, costs, rule: None }
    }

    /// Forbids steps.
    pub fn with_rule(self, rule: Option<Arc<AllowedSteps>>) -> Self {
        Chain { rule, ..self }
    }

    /// Returns if these are numbers of labels whose steps are all allowed, or [`UNLABELLED`].
    pub(super) fn allows(&self, y: &[u32]) -> bool {
        let known = y.iter().all(|&label| label == UNLABELLED || (label as usize) < self.labels);
        known && self.rule.as_ref().is_none_or(|rule| rule.first_fault(y).is_none())
    }

    /// The scores of steps, `-inf` if forbidden; `room` holds them if they are not the weights themselves.
    pub(super) fn pairs<'a>(&self, w: &'a [f64], room: &'a mut Vec<f64>) -> &'a [f64] {
        let weights = &w[self.pair_start()..self.ends_start()];
        let Some(rule) = &self.rule else { return weights };
        room.clear();
        room.extend(weights.iter().zip(&rule.pairs).map(|(weight, step)| weight + step));
        room
    }

    /// Returns where the pair weights begin.
    pub(super) fn pair_start(&self) -> usize {
        self.labels * self.features
    }

    /// Returns where the start weights begin.
    pub(super) fn ends_start(&self) -> usize {
        self.pair_start() + self.labels * self.labels
    }

    pub(super) fn pair_index(&self, from: u32, to: u32) -> u32 {
        (self.pair_start() + from as usize * self.labels + to as usize) as u32
    }

    /// Returns the weights of neighbours and ends of a sequence.
    pub(super) fn slots<'a>(&'a self, x: &'a SparseRows) -> ChainSlots<'a> {
        ChainSlots { chain: self, x }
    }

    /// Scores of each label at each position, loss and ends included, into `unary`. Positions without a label in the
    /// truth have none.
    pub(super) fn score_positions(&self, x: &SparseRows, w: &[f64], truth: Option<&Labelling>, unary: &mut Vec<f64>) {
        let (len, labels) = (x.len(), self.labels);
        unary.clear();
        unary.resize(len * labels, 0.0);
        let factors = truth.map(|truth| truth.factors(&self.costs));
        for (t, scores) in unary.chunks_exact_mut(labels).enumerate() {
            let right = truth.map(|truth| truth[t]);
            if right == Some(UNLABELLED) {
                continue;
            }
            let row = x.row(t);
            linalg::add_rows(row.indices, row.values, w, scores);
            if let (Some(right), Some(factors)) = (right, factors) {
                linalg::axpy(factors.at(t), self.costs.row(right), scores);
            }
        }
        if self.ends && len > 0 {
            let ends = &w[self.ends_start()..];
            linalg::axpy(1.0, &ends[..labels], &mut unary[..labels]);
            linalg::axpy(1.0, &ends[labels..2 * labels], &mut unary[(len - 1) * labels..]);
        }
        if let Some(rule) = &self.rule {
            rule.add_ends(unary);
        }
    }
}

/// The tables of the weights in files. Features without names are counted from 1, as in files of tagged rows.
pub(super) fn tables(labels: usize, features: usize, ends: bool) -> Vec<WeightTable> {
    let label = |name| Axis::labels(name, labels);
    let mut tables = vec![
        WeightTable::new("unary", [label("label"), Axis::features("feature", features, 1)]),
        WeightTable::new("pair", [label("from"), label("to")]),
    ];
    if ends {
        tables.extend(["start", "end"].map(|name| WeightTable::new(name, [label("label")])));
    }
    tables
}

/// The weights beside rows of a sequence: of neighbours, then of both ends.
pub(super) struct ChainSlots<'a> {
    chain: &'a Chain,
    x: &'a SparseRows,
}

impl PairSlots for ChainSlots<'_> {
    fn rows(&self) -> &SparseRows {
        self.x
    }

    fn labels(&self) -> usize {
        self.chain.labels
    }

    fn places(&self) -> usize {
        self.x.len().saturating_sub(1) + if self.chain.ends && !self.x.is_empty() { 2 } else { 0 }
    }

    fn weight(&self, y: &[u32], place: usize) -> u32 {
        let (ends, last) = (self.chain.ends_start() as u32, self.x.len() - 1);
        let label = |label: u32, start: u32| if label == UNLABELLED { UNLABELLED } else { start + label };
        match place {
            _ if place < last && (y[place] == UNLABELLED || y[place + 1] == UNLABELLED) => UNLABELLED,
            _ if place < last => self.chain.pair_index(y[place], y[place + 1]),
            _ if place == last => label(y[0], ends),
            _ => label(y[last], ends + self.chain.labels as u32),
        }
    }
}
