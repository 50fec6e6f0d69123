//! Hinges and planes of graphs computed a second time, plainly, for `verify`.
//!
//! Scores are added up with twice the digits. Two labels that like to agree are a flow found by shortest augmenting
//! paths (Edmonds and Karp), small graphs and trees are solved by eliminating one node after the other; both share no
//! code with training. What only an approximate engine answers is asked of that engine again, with bounds: verified is
//! then that data, features, losses and scores are right and that the bound is the engine's, not the engine's proof.

use super::decode::{GraphMemory, GraphScratch};
use super::input::GraphInput;
use super::labelling::{Labelling, UNLABELLED};
use super::layout::GraphTask;
use super::spec::{Inference, Pairwise};
use crate::builtin::second_opinion::{Network, largest_sum};
use crate::twofold::Twofold;
use multiplane_core::oracle::Quality;

/// By how much two of our own values may differ, relative to the terms of scores.
const ROUNDING: f64 = 1e-20;

/// The scores of one graph, plainly: of labelled nodes, and of edges between them.
struct Plain<'a> {
    task: &'a GraphTask,
    x: &'a GraphInput,
    w: &'a [f64],
    nodes: Vec<usize>,
    edges: Vec<(usize, usize, usize)>,
}

impl<'a> Plain<'a> {
    fn new(task: &'a GraphTask, x: &'a GraphInput, truth: &Labelling, w: &'a [f64]) -> Self {
        let labelled = |node: usize| truth.labels[node] != UNLABELLED;
        let nodes = (0..x.nodes()).filter(|&node| labelled(node)).collect();
        let ends = x.edges().iter().enumerate().map(|(edge, ends)| (ends[0] as usize, ends[1] as usize, edge));
        let edges = ends.filter(|&(tail, head, _)| labelled(tail) && labelled(head)).collect();
        Plain { task, x, w, nodes, edges }
    }

    fn unary(&self, node: usize, label: usize) -> Twofold {
        let weights = &self.w[label * self.task.features..];
        self.x.row(node).iter().zip(weights).map(|(value, &weight)| Twofold::product(value, weight)).sum()
    }

    fn pair(&self, edge: usize, a: usize, b: usize) -> Twofold {
        let differ = Twofold::from(if a == b { 0.0 } else { -self.task.potts });
        let learned = (0..self.task.edge_features).map(|feature| {
            let value = self.x.edge_row(edge).map_or(1.0, |row| row.iter().nth(feature).unwrap_or(0.0));
            let start = self.task.labels * self.task.features + feature * self.task.table();
            match self.task.pairwise {
                Pairwise::Cut if a == b => Twofold::ZERO,
                Pairwise::Cut => -Twofold::product(value, self.w[start]),
                Pairwise::Full => Twofold::product(value, self.w[start + a * self.task.labels + b]),
            }
        });
        differ + learned.sum()
    }

    /// Score of a labelling, without losses.
    fn score(&self, y: &[u32]) -> Twofold {
        let of_node = |&node: &usize| self.unary(node, y[node] as usize);
        let of_edge = |&(tail, head, edge): &(usize, usize, usize)| self.pair(edge, y[tail] as usize, y[head] as usize);
        self.nodes.iter().map(of_node).sum::<Twofold>() + self.edges.iter().map(of_edge).sum()
    }

    /// Score of a label at a node with the loss.
    fn augmented(&self, truth: &Labelling, node: usize, label: usize) -> Twofold {
        let wrong = truth.labels[node] as usize != label;
        self.unary(node, label) + (if wrong { truth.cost(node) } else { 0.0 }).into()
    }
}

/// Returns `max_y loss + score - score of the truth` of one graph; where it is only bounded, the bound.
pub(super) fn hinge(task: &GraphTask, x: &GraphInput, truth: &Labelling, w: &[f64]) -> f64 {
    let plain = Plain::new(task, x, truth, w);
    let of_truth = plain.score(&truth.labels);
    let relative = |y: &[u32]| {
        let wrong = plain.nodes.iter().filter(|&&node| y[node] != truth.labels[node]);
        let loss: Twofold = wrong.map(|&node| Twofold::from(truth.cost(node))).sum();
        plain.score(y) + loss - of_truth
    };
    let (mut scratch, mut memory) = (GraphScratch::default(), GraphMemory::default());
    scratch.part.take(x.nodes(), x.edges(), Some(&truth.labels));
    match task.way(&scratch.part, &mut scratch.parents) {
        Inference::MinCut if task.is_binary_cut() => {
            let (y, bound) = flow(&plain, truth);
            agreed(relative(&y), bound - of_truth, &plain, truth)
        }
        Inference::Tree | Inference::Brute => (eliminate(&plain, truth) - of_truth).value(),
        _ => {
            let mut y = Labelling::default();
            match task.label((x, w, Some(truth)), &mut scratch, &mut memory, &mut y) {
                Ok(Quality::UpperBound(bound)) => relative(&y.labels).max(Twofold::from(bound) - of_truth).value(),
                Ok(_) => relative(&y.labels).value(),
                Err(_) => f64::NAN,
            }
        }
    }
}

/// Returns a value that is reached, if the bound says that no other is higher; else no number.
fn agreed(value: Twofold, bound: Twofold, plain: &Plain<'_>, truth: &Labelling) -> f64 {
    let size = |&node: &usize| {
        (0..plain.task.labels).map(|label| plain.augmented(truth, node, label).value().abs()).sum::<f64>()
    };
    let terms: f64 = plain.nodes.iter().map(size).sum();
    if (bound - value).value() <= ROUNDING * (1.0 + terms) { value.value() } else { f64::NAN }
}

/// Finds the best labelling of two labels that like to agree by shortest augmenting paths, and an upper bound on its
/// score with losses.
fn flow(plain: &Plain<'_>, truth: &Labelling) -> (Vec<u32>, Twofold) {
    let count = plain.x.nodes();
    let mut network = Network::new(count);
    let mut best = Twofold::ZERO;
    for &node in &plain.nodes {
        let (zero, one) = (plain.augmented(truth, node, 0), plain.augmented(truth, node, 1));
        best = best + zero.max(one);
        network.lean(node, zero - one); // label 1 is the source's side
    }
    for &(tail, head, edge) in &plain.edges {
        let cost = (-plain.pair(edge, 0, 1)).max(Twofold::ZERO);
        network.part(tail, head, cost, cost);
    }
    let (sides, flow) = network.cut();
    let label = |node: usize| if truth.labels[node] == UNLABELLED { UNLABELLED } else { u32::from(sides[node]) };
    ((0..count).map(label).collect(), best - flow)
}

/// Returns the best score with losses of a tree or small graph.
fn eliminate(plain: &Plain<'_>, truth: &Labelling) -> Twofold {
    let labels = plain.task.labels;
    let place = |node: usize| plain.nodes.partition_point(|&other| other < node);
    let mut functions: Vec<(Vec<usize>, Vec<Twofold>)> = Vec::new();
    for (place, &node) in plain.nodes.iter().enumerate() {
        functions.push((vec![place], (0..labels).map(|label| plain.augmented(truth, node, label)).collect()));
    }
    for &(tail, head, edge) in &plain.edges {
        let pairs = (0..labels * labels).map(|pair| plain.pair(edge, pair / labels, pair % labels));
        functions.push((vec![place(tail), place(head)], pairs.collect()));
    }
    largest_sum(&vec![labels; plain.nodes.len()], functions)
}

/// Hands over the parts of the plane that `code` says and returns its constant part.
pub(super) fn plane(
    task: &GraphTask,
    x: &GraphInput,
    truth: &Labelling,
    code: &[u32],
    add: &mut dyn FnMut(usize, f64),
) -> Option<f64> {
    let sound = |(&label, &truth): (&u32, &u32)| match truth {
        UNLABELLED => label == UNLABELLED,
        _ => (label as usize) < task.labels,
    };
    if code.len() != truth.labels.len() || !code.iter().zip(&truth.labels).all(sound) {
        return None;
    }
    let plain = Plain::new(task, x, truth, &[]);
    let mut circ = 0.0;
    for (y, sign) in [(code, 1.0), (&truth.labels[..], -1.0)] {
        for &node in &plain.nodes {
            let start = y[node] as usize * task.features;
            x.row(node).iter().enumerate().for_each(|(k, value)| add(start + k, sign * value));
            circ += if sign > 0.0 && y[node] != truth.labels[node] { truth.cost(node) } else { 0.0 };
        }
        for &(tail, head, edge) in &plain.edges {
            let (a, b) = (y[tail] as usize, y[head] as usize);
            circ -= if a == b { 0.0 } else { sign * task.potts };
            for feature in 0..task.edge_features {
                let value = x.edge_row(edge).map_or(1.0, |row| row.iter().nth(feature).unwrap_or(0.0));
                let start = task.labels * task.features + feature * task.table();
                match task.pairwise {
                    Pairwise::Cut if a == b => {}
                    Pairwise::Cut => add(start, -sign * value),
                    Pairwise::Full => add(start + a * task.labels + b, sign * value),
                }
            }
        }
    }
    Some(circ)
}
