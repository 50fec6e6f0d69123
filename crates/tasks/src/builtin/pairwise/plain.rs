//! Scores and best values of labellings computed a second time, plainly, for `verify`: with twice the digits, and trees and
//! small models by taking out one node after the other.

use multiplane_core::oracle::Quality;

use super::labelling::{Labelling, NodeCosts};
use crate::builtin::second_opinion::{Function, largest_sum};
use crate::twofold::Twofold;

/// What labels score, plainly.
pub(in crate::builtin) trait PlainScores {
    /// Returns how many labels a node has.
    fn labels(&self, node: usize) -> usize;

    /// Returns the score of a label at a node, without the loss.
    fn unary(&self, node: usize, label: usize) -> Twofold;

    /// Returns the score of an edge with these labels.
    fn pair(&self, edge: usize, a: usize, b: usize) -> Twofold;
}

/// The scores of one example: of labelled nodes, and of edges between them.
pub(in crate::builtin) struct Plain<'a, S> {
    pub(in crate::builtin) scores: S,
    pub(in crate::builtin) truth: &'a Labelling,
    costs: NodeCosts<'a>,
    pub(in crate::builtin) nodes: Vec<usize>,
    /// Tail, head, number.
    pub(in crate::builtin) edges: Vec<(usize, usize, usize)>,
}

impl<'a, S: PlainScores> Plain<'a, S> {
    /// Takes the part that the truth has labels of.
    pub(in crate::builtin) fn new(scores: S, edges: &[[u32; 2]], truth: &'a Labelling) -> Self {
        let ends = edges.iter().enumerate().map(|(edge, ends)| (ends[0] as usize, ends[1] as usize, edge));
        let edges = ends.filter(|&(tail, head, _)| truth.is_labelled(tail) && truth.is_labelled(head)).collect();
        Plain { scores, truth, costs: truth.costs(), nodes: truth.labelled().collect(), edges }
    }

    /// Returns what a label costs at a node.
    pub(in crate::builtin) fn cost(&self, node: usize, label: usize) -> f64 {
        if self.truth.labels[node] as usize == label { 0.0 } else { self.costs.at(node) }
    }

    /// Returns the score of a label at a node with the loss.
    pub(in crate::builtin) fn augmented(&self, node: usize, label: usize) -> Twofold {
        self.scores.unary(node, label) + self.cost(node, label).into()
    }

    /// Returns the score of a labelling with losses.
    pub(in crate::builtin) fn score(&self, y: &[u32]) -> Twofold {
        let of_node = |&node: &usize| self.augmented(node, y[node] as usize);
        let of_edge =
            |&(tail, head, edge): &(usize, usize, usize)| self.scores.pair(edge, y[tail] as usize, y[head] as usize);
        self.nodes.iter().map(of_node).sum::<Twofold>() + self.edges.iter().map(of_edge).sum()
    }

    /// Returns the score of the truth.
    pub(in crate::builtin) fn of_truth(&self) -> Twofold {
        self.score(&self.truth.labels)
    }

    /// Returns by how much the best score with losses of a tree or small model is above that of the truth.
    pub(in crate::builtin) fn exact_hinge(&self) -> f64 {
        let place = |node: usize| self.nodes.partition_point(|&other| other < node);
        let labels: Vec<usize> = self.nodes.iter().map(|&node| self.scores.labels(node)).collect();
        let mut functions: Vec<Function> = Vec::new();
        for (place, &node) in self.nodes.iter().enumerate() {
            functions.push((vec![place], (0..labels[place]).map(|label| self.augmented(node, label)).collect()));
        }
        for &(tail, head, edge) in &self.edges {
            let (tail, head) = (place(tail), place(head));
            let pair = |pair: usize| self.scores.pair(edge, pair / labels[head], pair % labels[head]);
            functions.push((vec![tail, head], (0..labels[tail] * labels[head]).map(pair).collect()));
        }
        (largest_sum(&labels, functions) - self.of_truth()).value()
    }

    /// Returns the hinge that an answer of the engine stands for: that of its labelling, or its bound where that is higher.
    pub(in crate::builtin) fn claimed_hinge(&self, answer: Result<Quality, String>, y: &Labelling) -> f64 {
        let own = || self.score(&y.labels) - self.of_truth();
        match answer {
            Ok(Quality::UpperBound(bound)) => own().max(Twofold::from(bound) - self.of_truth()).value(),
            Ok(_) => own().value(),
            Err(_) => f64::NAN,
        }
    }
}
