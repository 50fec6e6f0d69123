//! Hinges and planes of graphs computed a second time, plainly, for `verify`.
//!
//! Scores are added up with twice the digits. Two labels that like to agree are a flow found by shortest augmenting
//! paths (Edmonds and Karp), small graphs and trees are solved by eliminating one node after the other; both share no
//! code with training. What only an approximate engine answers is asked of that engine again, with bounds: verified is
//! then that data, features, losses and scores are right and that the bound is the engine's, not the engine's proof.

use super::decode::{GraphMemory, GraphScratch, GraphWay};
use super::input::GraphInput;
use super::layout::GraphTask;
use super::spec::Pairwise;
use crate::builtin::pairwise::{Labelling, Plain, PlainScores, UNLABELLED, Way};
use crate::builtin::second_opinion::Network;
use crate::twofold::Twofold;

/// By how much two of our own values may differ, relative to the terms of scores.
const ROUNDING: f64 = 1e-20;

/// What labels score in one graph.
struct GraphScores<'a> {
    task: &'a GraphTask,
    x: &'a GraphInput,
    w: &'a [f64],
}

impl PlainScores for GraphScores<'_> {
    fn labels(&self, _: usize) -> usize {
        self.task.labels
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
}

/// Returns `max_y loss + score - score of the truth` of one graph; where it is only bounded, the bound.
pub(super) fn hinge(task: &GraphTask, x: &GraphInput, truth: &Labelling, w: &[f64]) -> f64 {
    let plain = Plain::new(GraphScores { task, x, w }, x.edges(), truth);
    let (mut scratch, mut memory) = (GraphScratch::default(), GraphMemory::default());
    scratch.part.take(x.nodes(), x.edges(), Some(&truth.labels));
    match task.way(&scratch.part, &mut scratch.parents) {
        GraphWay::Cut if task.is_binary_cut() => {
            let ((y, bound), of_truth) = (flow(&plain), plain.of_truth());
            agreed(plain.score(&y) - of_truth, bound - of_truth, &plain)
        }
        GraphWay::Engine(Way::Tree | Way::Brute) => plain.exact_hinge(),
        _ => {
            let mut y = Labelling::default();
            let answer = task.label((x, w, Some(truth)), &mut scratch, &mut memory, &mut y);
            plain.claimed_hinge(answer, &y)
        }
    }
}

/// Returns a value that is reached, if the bound says that no other is higher; else no number.
fn agreed(value: Twofold, bound: Twofold, plain: &Plain<'_, GraphScores<'_>>) -> f64 {
    let size = |&node: &usize| {
        (0..plain.scores.task.labels).map(|label| plain.augmented(node, label).value().abs()).sum::<f64>()
    };
    let terms: f64 = plain.nodes.iter().map(size).sum();
    if (bound - value).value() <= ROUNDING * (1.0 + terms) { value.value() } else { f64::NAN }
}

/// Finds the best labelling of two labels that like to agree by shortest augmenting paths, and an upper bound on its
/// score with losses.
fn flow(plain: &Plain<'_, GraphScores<'_>>) -> (Vec<u32>, Twofold) {
    let count = plain.scores.x.nodes();
    let mut network = Network::new(count);
    let mut best = Twofold::ZERO;
    for &node in &plain.nodes {
        let (zero, one) = (plain.augmented(node, 0), plain.augmented(node, 1));
        best = best + zero.max(one);
        network.lean(node, zero - one); // label 1 is the source's side
    }
    for &(tail, head, edge) in &plain.edges {
        let cost = (-plain.scores.pair(edge, 0, 1)).max(Twofold::ZERO);
        network.part(tail, head, cost, cost);
    }
    let (sides, flow) = network.cut();
    let label = |node: usize| if plain.truth.is_labelled(node) { u32::from(sides[node]) } else { UNLABELLED };
    ((0..count).map(label).collect(), best - flow)
}

/// Hands over the parts of the plane that `code` says and returns its constant part.
pub(super) fn plane(
    task: &GraphTask,
    x: &GraphInput,
    truth: &Labelling,
    code: &[u32],
    add: &mut dyn FnMut(usize, f64),
) -> Option<f64> {
    if !truth.admits(code, |_| task.labels) {
        return None;
    }
    let plain = Plain::new(GraphScores { task, x, w: &[] }, x.edges(), truth);
    let mut circ = 0.0;
    for (y, sign) in [(code, 1.0), (&truth.labels[..], -1.0)] {
        for &node in &plain.nodes {
            let start = y[node] as usize * task.features;
            x.row(node).iter().enumerate().for_each(|(k, value)| add(start + k, sign * value));
            circ += if sign > 0.0 { plain.cost(node, y[node] as usize) } else { 0.0 };
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
