//! Hinges and planes computed a second time, plainly, for `verify`.
//!
//! Scores are added up with twice the digits. Trees and small models are solved by eliminating one node after the
//! other, cuts by shortest augmenting paths (Edmonds and Karp); both share no code with training. What only an
//! approximate engine answers is asked of that engine again, with bounds: verified is then that data, features, losses
//! and scores are right and that the bound is the engine's, not the engine's proof.

use multiplane_core::example::Example;
use multiplane_core::oracle::Quality;
use multiplane_core::task::{Question, Task};

use super::engines::EngineChoice;
use super::labelling::{Labelling, UNLABELLED};
use super::scratch::PairwiseScratch;
use super::solver::StructureSolver;
use super::structure::Structure;
use super::task::PairwiseTask;
use crate::builtin::reference::{LabelFunction, Network, largest_sum};
use crate::double_double::DoubleDouble;
use crate::losses::NodeCosts;
use crate::reference::AddFeature;

/// By how much a labelling and the bound of a cut may differ, relative to the terms of scores.
const ROUNDING: f64 = 1e-20;

/// By how much edges may like to differ and still be taken for rounded ones that do not, relative to their terms.
const ATTRACTION: f64 = 1e-9;

/// The scores of one example: of labelled nodes, and of edges between them.
struct ReferenceScores<'a, S: Structure> {
    structure: &'a S,
    x: &'a S::Input,
    w: &'a [f64],
    truth: &'a Labelling,
    costs: NodeCosts<'a>,
    nodes: Vec<usize>,
    /// Tail, head, number.
    edges: Vec<(usize, usize, usize)>,
}

/// Returns `max_y loss + score - score of the truth`; where it is only bounded, the bound.
pub(super) fn hinge<S: StructureSolver>(task: &PairwiseTask<S>, x: &S::Input, truth: &Labelling, w: &[f64]) -> f64 {
    let (structure, plain) = (&task.0, ReferenceScores::new(&task.0, x, truth, w));
    let (mut scratch, mut memory) = (PairwiseScratch::default(), S::Memory::default());
    scratch.part.take(structure.nodes(x), structure.edges(x), Some(&truth.labels));
    match structure.engine(x, &scratch.part, &mut scratch.parents) {
        EngineChoice::Tree | EngineChoice::Brute => return plain.exact_hinge(),
        EngineChoice::Cut | EngineChoice::CutOrMessages => {
            if let Some(found) = plain.cut_hinge() {
                return found;
            }
        }
        EngineChoice::Expansion | EngineChoice::PersistentExpansion | EngineChoice::Messages => {}
    }
    let mut y = Labelling::default();
    let question = Question::augmented(Example { index: 0, input: x, truth }, w);
    let answer = task.decode(question.call(&mut scratch, &mut memory), &mut y);
    plain.claimed_hinge(answer, &y)
}

/// Returns the hinge of an example that is a cut at these weights; `None` if it is none.
#[cfg(test)]
pub(in crate::builtin) fn cut_hinge<S: StructureSolver>(
    task: &PairwiseTask<S>,
    x: &S::Input,
    truth: &Labelling,
    w: &[f64],
) -> Option<f64> {
    ReferenceScores::new(&task.0, x, truth, w).cut_hinge()
}

/// Hands over the parts of the plane that `code` says and returns its constant part.
pub(super) fn plane<S: Structure>(
    structure: &S,
    x: &S::Input,
    truth: &Labelling,
    code: &[u32],
    add: AddFeature<'_>,
) -> Option<f64> {
    let plain = ReferenceScores::new(structure, x, truth, &[]);
    let is_label = |node: usize| match truth.is_labelled(node) {
        true => (code[node] as usize) < structure.labels(x, node),
        false => code[node] == UNLABELLED,
    };
    if code.len() != truth.labels.len() || !(0..code.len()).all(is_label) {
        return None;
    }
    let mut circ = 0.0;
    for (y, sign) in [(code, 1.0), (&truth.labels[..], -1.0)] {
        for &node in &plain.nodes {
            structure.unary(x, node, y[node], &mut |k, value| add(k, sign * value));
            circ += if sign > 0.0 { plain.cost(node, y[node]) } else { 0.0 };
        }
        for &(tail, head, edge) in &plain.edges {
            circ += sign * structure.fixed_pair(y[tail], y[head]);
            structure.pair(x, edge, y[tail], y[head], &mut |k, value| add(k, sign * value));
        }
    }
    Some(circ)
}

impl<'a, S: Structure> ReferenceScores<'a, S> {
    /// Takes the part that the truth has labels of.
    fn new(structure: &'a S, x: &'a S::Input, truth: &'a Labelling, w: &'a [f64]) -> Self {
        let ends = structure.edges(x).iter().enumerate().map(|(edge, &[a, b])| (a as usize, b as usize, edge));
        let edges = ends.filter(|&(tail, head, _)| truth.is_labelled(tail) && truth.is_labelled(head)).collect();
        ReferenceScores { structure, x, w, truth, costs: truth.costs(), nodes: truth.labelled().collect(), edges }
    }

    fn labels(&self, node: usize) -> u32 {
        self.structure.labels(self.x, node) as u32
    }

    /// Returns what a label costs at a node.
    fn cost(&self, node: usize, label: u32) -> f64 {
        if self.truth.labels[node] == label { 0.0 } else { self.costs.at(node) }
    }

    /// Returns the score of a label at a node with the loss.
    fn augmented(&self, node: usize, label: u32) -> DoubleDouble {
        let mut score = DoubleDouble::ZERO;
        self.structure
            .unary(self.x, node, label, &mut |k, value| score = score + DoubleDouble::product(value, self.w[k]));
        score + self.cost(node, label).into()
    }

    /// Returns the score of an edge with these labels.
    fn pair(&self, edge: usize, a: u32, b: u32) -> DoubleDouble {
        let mut score = DoubleDouble::ZERO;
        self.structure
            .pair(self.x, edge, a, b, &mut |k, value| score = score + DoubleDouble::product(value, self.w[k]));
        DoubleDouble::from(self.structure.fixed_pair(a, b)) + score
    }

    /// Returns the score of a labelling with losses.
    fn score(&self, y: &[u32]) -> DoubleDouble {
        let of_node = |&node: &usize| self.augmented(node, y[node]);
        let of_edge = |&(tail, head, edge): &(usize, usize, usize)| self.pair(edge, y[tail], y[head]);
        self.nodes.iter().map(of_node).sum::<DoubleDouble>() + self.edges.iter().map(of_edge).sum()
    }

    /// Returns the score of the truth.
    fn of_truth(&self) -> DoubleDouble {
        self.score(&self.truth.labels)
    }

    /// Returns by how much the best score with losses of a tree or small model is above that of the truth.
    fn exact_hinge(&self) -> f64 {
        let place = |node: usize| self.nodes.partition_point(|&other| other < node);
        let labels: Vec<usize> = self.nodes.iter().map(|&node| self.labels(node) as usize).collect();
        let of_node = |(place, &node): (usize, &usize)| -> LabelFunction {
            (vec![place], (0..self.labels(node)).map(|label| self.augmented(node, label)).collect())
        };
        let of_edge = |&(tail, head, edge): &(usize, usize, usize)| -> LabelFunction {
            let (tails, heads) = (self.labels(tail), self.labels(head));
            let pair = |pair: u32| self.pair(edge, pair / heads, pair % heads);
            (vec![place(tail), place(head)], (0..tails * heads).map(pair).collect())
        };
        let functions = self.nodes.iter().enumerate().map(of_node).chain(self.edges.iter().map(of_edge)).collect();
        (largest_sum(&labels, functions) - self.of_truth()).value()
    }

    /// Returns the hinge that an answer of the engine stands for: that of its labelling, or its bound where that is
    /// higher.
    fn claimed_hinge(&self, answer: Result<Quality, String>, y: &Labelling) -> f64 {
        let own = || self.score(&y.labels) - self.of_truth();
        match answer {
            Ok(Quality::UpperBound(bound)) => own().max(DoubleDouble::from(bound) - self.of_truth()).value(),
            Ok(_) => own().value(),
            Err(_) => f64::NAN,
        }
    }

    /// Returns the hinge of an example that is a cut at these weights, no number where bound and labelling differ;
    /// `None` for other examples.
    fn cut_hinge(&self) -> Option<f64> {
        let (y, bound) = self.flow()?;
        let own = self.score(&y);
        let agree = (bound - own).value() <= ROUNDING * (1.0 + self.terms());
        Some(if agree { (own - self.of_truth()).value() } else { f64::NAN })
    }

    /// How large the numbers are that a best score is made of.
    fn terms(&self) -> f64 {
        let size = |score: DoubleDouble| score.value().abs();
        let of_node =
            |&node: &usize| (0..self.labels(node)).map(|label| size(self.augmented(node, label))).sum::<f64>();
        let of_edge = |&(tail, head, edge): &(usize, usize, usize)| {
            let (tails, heads) = (self.labels(tail), self.labels(head));
            (0..tails * heads).map(|at| size(self.pair(edge, at / heads, at % heads))).fold(0.0, f64::max)
        };
        self.nodes.iter().map(of_node).sum::<f64>() + self.edges.iter().map(of_edge).sum::<f64>()
    }

    /// Finds the best labelling of nodes with one or two labels whose edges like to agree, with an upper bound on its
    /// score with losses, in which edges that like to differ by a rounding like neither; `None` for all other examples.
    fn flow(&self) -> Option<(Vec<u32>, DoubleDouble)> {
        if self.nodes.iter().any(|&node| self.labels(node) > 2) {
            return None;
        }
        let count = self.structure.nodes(self.x);
        let mut network = Network::new(count);
        let mut slopes = vec![DoubleDouble::ZERO; count];
        let mut constant = DoubleDouble::ZERO;
        for &node in &self.nodes {
            let zero = self.augmented(node, 0);
            constant = constant - zero;
            if self.labels(node) == 2 {
                slopes[node] = zero - self.augmented(node, 1);
            }
        }
        for &(tail, head, edge) in &self.edges {
            let energy = |a: u32, b: u32| -self.pair(edge, a, b);
            let (two_tail, two_head) = (self.labels(tail) == 2, self.labels(head) == 2);
            let same = energy(0, 0);
            constant = constant + same;
            let of_tail = if two_tail { energy(1, 0) - same } else { DoubleDouble::ZERO };
            slopes[tail] = slopes[tail] + of_tail;
            if two_tail && two_head {
                // E = same + of_tail x_t + (E11 - E10) x_h + excess (1 - x_t) x_h
                let excess = energy(0, 1) + energy(1, 0) - same - energy(1, 1);
                if excess.value() < -ATTRACTION * (same.value().abs() + of_tail.value().abs()) {
                    return None;
                }
                slopes[head] = slopes[head] + (energy(1, 1) - energy(1, 0));
                network.part(head, tail, excess.max(DoubleDouble::ZERO), DoubleDouble::ZERO);
            } else if two_head {
                slopes[head] = slopes[head] + (energy(0, 1) - same);
            }
        }
        for &node in &self.nodes {
            network.lean(node, slopes[node]); // label 1 is the source's side
            constant = constant - (-slopes[node]).max(DoubleDouble::ZERO);
        }
        let (sides, flow) = network.cut();
        let label = |node: usize| match self.truth.is_labelled(node) {
            true => u32::from(sides[node] && self.labels(node) == 2),
            false => UNLABELLED,
        };
        Some(((0..count).map(label).collect(), -(constant + flow)))
    }
}
