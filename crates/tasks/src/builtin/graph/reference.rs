//! Hinges and planes of graphs computed a second time, plainly, for `verify`.
//!
//! Scores are added up with twice the digits. Two labels that like to agree are a flow found by shortest augmenting
//! paths (Edmonds and Karp), small graphs and trees are solved by eliminating one node after the other; both share no
//! code with training. What only an approximate engine answers is asked of that engine again, with bounds: verified is
//! then that data, features, losses and scores are right and that the bound is the engine's, not the engine's proof.

use std::collections::VecDeque;

use super::decode::{GraphMemory, GraphScratch};
use super::input::GraphInput;
use super::labelling::{Labelling, UNLABELLED};
use super::layout::GraphTask;
use super::spec::{Inference, Pairwise};
use crate::twofold::Twofold;
use multiplane_core::oracle::Quality;

/// By how much two of our own values may differ, relative to the terms of scores.
const ROUNDING: f64 = 1e-9;

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
    fn augmented(&self, truth: &Labelling, node: usize, label: usize) -> f64 {
        let wrong = truth.labels[node] as usize != label;
        (self.unary(node, label) + (if wrong { truth.cost(node) } else { 0.0 }).into()).value()
    }
}

/// Returns `max_y loss + score - score of the truth` of one graph; where it is only bounded, the bound.
pub(super) fn hinge(task: &GraphTask, x: &GraphInput, truth: &Labelling, w: &[f64]) -> f64 {
    let plain = Plain::new(task, x, truth, w);
    let of_truth = plain.score(&truth.labels);
    let relative = |y: &[u32]| {
        let loss: f64 = plain.nodes.iter().filter(|&&node| y[node] != truth.labels[node]).map(|&n| truth.cost(n)).sum();
        (plain.score(y) + loss.into() - of_truth).value()
    };
    let (mut scratch, mut memory) = (GraphScratch::default(), GraphMemory::default());
    scratch.part.take(x, Some(&truth.labels));
    match task.way(&scratch.part, &mut scratch.parents) {
        Inference::MinCut if task.is_binary_cut() => {
            let (y, bound) = flow(&plain, truth);
            agreed(relative(&y), bound - of_truth.value(), &plain, truth)
        }
        Inference::Tree | Inference::Brute => eliminate(&plain, truth) - of_truth.value(),
        _ => {
            let mut y = Labelling::default();
            match task.label((x, w, Some(truth)), &mut scratch, &mut memory, &mut y) {
                Ok(Quality::UpperBound(bound)) => {
                    let (own, bound) = (relative(&y.labels), bound - of_truth.value());
                    own.max(bound)
                }
                Ok(_) => relative(&y.labels),
                Err(_) => f64::NAN,
            }
        }
    }
}

/// Returns a value that is reached, if the bound says that no other is higher; else no number.
fn agreed(value: f64, bound: f64, plain: &Plain<'_>, truth: &Labelling) -> f64 {
    let size =
        |&node: &usize| (0..plain.task.labels).map(|label| plain.augmented(truth, node, label).abs()).sum::<f64>();
    let terms: f64 = plain.nodes.iter().map(size).sum();
    if bound - value <= ROUNDING * (1.0 + terms) { value } else { f64::NAN }
}

/// Finds the best labelling of two labels that like to agree by shortest augmenting paths, and an upper bound on its
/// score with losses.
fn flow(plain: &Plain<'_>, truth: &Labelling) -> (Vec<u32>, f64) {
    let count = plain.x.nodes();
    let (source, sink) = (count, count + 1);
    // (to, residual), an arc and its reverse side by side.
    let (mut arcs, mut out): (Vec<(usize, f64)>, Vec<Vec<usize>>) = (Vec::new(), vec![Vec::new(); count + 2]);
    let mut join = |from: usize, to: usize, there: f64, back: f64| {
        out[from].push(arcs.len());
        arcs.push((to, there));
        out[to].push(arcs.len());
        arcs.push((from, back));
    };
    let mut best = 0.0;
    for &node in &plain.nodes {
        let (zero, one) = (plain.augmented(truth, node, 0), plain.augmented(truth, node, 1));
        best += zero.max(one);
        join(source, node, (one - zero).max(0.0), 0.0); // lost where the node is on the sink's side: label 0
        join(node, sink, (zero - one).max(0.0), 0.0);
    }
    for &(tail, head, edge) in &plain.edges {
        let cost = (-plain.pair(edge, 0, 1).value()).max(0.0);
        join(tail, head, cost, cost);
    }
    loop {
        let mut by = vec![usize::MAX; count + 2];
        let mut queue = VecDeque::from([source]);
        while let Some(node) = queue.pop_front() {
            for &arc in &out[node] {
                let (to, residual) = arcs[arc];
                if residual > 0.0 && to != source && by[to] == usize::MAX {
                    by[to] = arc;
                    queue.push_back(to);
                }
            }
        }
        if by[sink] == usize::MAX {
            let label = |node: usize| u32::from(by[node] != usize::MAX);
            let labels = (0..count).map(|node| if truth.labels[node] == UNLABELLED { UNLABELLED } else { label(node) });
            return (labels.collect(), best);
        }
        let mut path = Vec::new();
        let mut node = sink;
        while node != source {
            path.push(by[node]);
            node = arcs[by[node] ^ 1].0;
        }
        let sent = path.iter().map(|&arc| arcs[arc].1).fold(f64::INFINITY, f64::min);
        for arc in path {
            arcs[arc].1 -= sent;
            arcs[arc ^ 1].1 += sent;
        }
        best -= sent;
    }
}

/// Returns the best score with losses by maximising over one node after the other: of those left, the one with the
/// fewest neighbours.
fn eliminate(plain: &Plain<'_>, truth: &Labelling) -> f64 {
    let labels = plain.task.labels;
    // A function of the labels of some nodes: `[label of the first][of the second]...`.
    let mut functions: Vec<(Vec<usize>, Vec<f64>)> = Vec::new();
    for &node in &plain.nodes {
        functions.push((vec![node], (0..labels).map(|label| plain.augmented(truth, node, label)).collect()));
    }
    for &(tail, head, edge) in &plain.edges {
        let pairs = (0..labels * labels).map(|pair| plain.pair(edge, pair / labels, pair % labels).value());
        functions.push((vec![tail, head], pairs.collect()));
    }
    let mut left = plain.nodes.clone();
    let mut constant = 0.0;
    while !left.is_empty() {
        let neighbours = |node: usize| {
            let with = functions.iter().filter(|(scope, _)| scope.contains(&node)).flat_map(|(scope, _)| scope);
            let mut others: Vec<usize> = with.copied().filter(|&other| other != node).collect();
            others.sort_unstable();
            others.dedup();
            others
        };
        let place = (0..left.len()).min_by_key(|&place| neighbours(left[place]).len()).unwrap_or(0);
        let node = left.swap_remove(place);
        let scope = neighbours(node);
        let (with, without): (Vec<_>, Vec<_>) = functions.into_iter().partition(|(scope, _)| scope.contains(&node));
        functions = without;
        let size = labels.pow(scope.len() as u32);
        let digit = |number: usize, place: usize| number / labels.pow((scope.len() - 1 - place) as u32) % labels;
        let value = |number: usize, own: usize| -> f64 {
            let label = |of: usize| match scope.iter().position(|&other| other == of) {
                Some(place) => digit(number, place),
                None => own,
            };
            let at = |scope: &Vec<usize>| scope.iter().fold(0, |at, &of| at * labels + label(of));
            with.iter().map(|(scope, values)| values[at(scope)]).sum()
        };
        let best = |number: usize| (0..labels).map(|own| value(number, own)).fold(f64::NEG_INFINITY, f64::max);
        let table: Vec<f64> = (0..size).map(best).collect();
        if scope.is_empty() { constant += table[0] } else { functions.push((scope, table)) }
    }
    constant
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
