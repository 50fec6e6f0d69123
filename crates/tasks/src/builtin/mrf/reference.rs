//! Hinges and planes of pairwise models computed a second time, plainly, for `verify`.
//!
//! Scores are added up with twice the digits. Trees and small models are solved by eliminating one node after the other,
//! cuts by shortest augmenting paths; both share no code with training. What only message passing answers is asked of it
//! again: verified is then that data, features, losses and scores are right, not the engine's proof of its bound.

use multiplane_core::oracle::Quality;

use super::decode::MrfScratch;
use super::input::MrfInput;
use super::layout::MrfTask;
use super::spec::Inference;
use crate::builtin::graph::{Labelling, UNLABELLED};
use crate::builtin::second_opinion::{Network, largest_sum};
use crate::twofold::Twofold;

/// By how much two of our own values may differ, relative to the terms of scores.
const ROUNDING: f64 = 1e-9;

/// The scores of one model, plainly: of labelled nodes, and of edges between them.
struct Plain<'a> {
    x: &'a MrfInput,
    w: &'a [f64],
    truth: &'a Labelling,
    nodes: Vec<usize>,
    /// Tail, head, number.
    edges: Vec<(usize, usize, usize)>,
}

impl<'a> Plain<'a> {
    fn new(x: &'a MrfInput, truth: &'a Labelling, w: &'a [f64]) -> Self {
        let labelled = |node: usize| truth.labels[node] != UNLABELLED;
        let nodes = (0..x.nodes()).filter(|&node| labelled(node)).collect();
        let ends = x.edges().iter().enumerate().map(|(edge, ends)| (ends[0] as usize, ends[1] as usize, edge));
        let edges = ends.filter(|&(tail, head, _)| labelled(tail) && labelled(head)).collect();
        Plain { x, w, truth, nodes, edges }
    }

    fn unary(&self, node: usize, label: usize) -> Twofold {
        let columns = self.x.unary().1.iter();
        let row = self.x.unary_row(node, label as u32).iter();
        row.zip(columns).map(|(value, &column)| Twofold::product(value, self.w[column as usize])).sum()
    }

    fn pair(&self, edge: usize, a: usize, b: usize) -> Twofold {
        let columns = self.x.pair().1.iter();
        let row = self.x.pair_row(edge, a as u32, b as u32).iter();
        row.zip(columns).map(|(value, &column)| Twofold::product(value, self.w[column as usize])).sum()
    }

    /// Score of a labelling with losses.
    fn score(&self, y: &[u32]) -> Twofold {
        let of_node = |&node: &usize| self.unary(node, y[node] as usize) + self.cost(node, y[node] as usize).into();
        let of_edge = |&(tail, head, edge): &(usize, usize, usize)| self.pair(edge, y[tail] as usize, y[head] as usize);
        self.nodes.iter().map(of_node).sum::<Twofold>() + self.edges.iter().map(of_edge).sum()
    }

    fn cost(&self, node: usize, label: usize) -> f64 {
        if self.truth.labels[node] as usize == label { 0.0 } else { self.truth.cost(node) }
    }

    /// Score of a label at a node with the loss.
    fn augmented(&self, node: usize, label: usize) -> Twofold {
        self.unary(node, label) + self.cost(node, label).into()
    }
}

/// Returns `max_y loss + score - score of the truth` of one model; where it is only bounded, the bound.
pub(super) fn hinge(task: &MrfTask, x: &MrfInput, truth: &Labelling, w: &[f64]) -> f64 {
    let plain = Plain::new(x, truth, w);
    let of_truth = plain.score(&truth.labels);
    let mut scratch = MrfScratch::default();
    scratch.part.take(x.nodes(), x.edges(), Some(&truth.labels));
    let way = task.way(x, &scratch.part, &mut scratch.parents);
    if matches!(way, Inference::Tree | Inference::Brute) {
        return (eliminate(&plain) - of_truth).value();
    }
    if let Some(found) = (way == Inference::Auto).then(|| cut_hinge(x, truth, w)).flatten() {
        return found;
    }
    let mut y = Labelling::default();
    let quality = task.label((x, w, Some(truth)), &mut scratch, &mut y);
    let own = || (plain.score(&y.labels) - of_truth).value();
    match quality {
        Ok(Quality::UpperBound(bound)) => own().max(bound - of_truth.value()),
        Ok(_) => own(),
        Err(_) => f64::NAN,
    }
}

/// Returns the hinge of a model that is a cut at these weights, no number where bound and labelling differ; `None` for
/// other models.
pub(super) fn cut_hinge(x: &MrfInput, truth: &Labelling, w: &[f64]) -> Option<f64> {
    let plain = Plain::new(x, truth, w);
    let (y, bound) = flow(&plain)?;
    let own = plain.score(&y).value();
    let agree = bound - own <= ROUNDING * (1.0 + terms(&plain));
    Some(if agree { own - plain.score(&truth.labels).value() } else { f64::NAN })
}

/// How large the numbers are that a best score is made of.
fn terms(plain: &Plain<'_>) -> f64 {
    let node = |&node: &usize| {
        (0..plain.x.labels(node)).map(|label| plain.augmented(node, label).value().abs()).fold(0.0, f64::max)
    };
    let edge = |&(tail, head, edge): &(usize, usize, usize)| {
        let (rows, columns) = (plain.x.labels(tail), plain.x.labels(head));
        (0..rows * columns).map(|at| plain.pair(edge, at / columns, at % columns).value().abs()).fold(0.0, f64::max)
    };
    plain.nodes.iter().map(node).sum::<f64>() + plain.edges.iter().map(edge).sum::<f64>()
}

/// Finds the best labelling of nodes with one or two labels whose edges like to agree, with an upper bound on its score
/// with losses; `None` for all other models.
fn flow(plain: &Plain<'_>) -> Option<(Vec<u32>, f64)> {
    if plain.nodes.iter().any(|&node| plain.x.labels(node) > 2) {
        return None;
    }
    let mut network = Network::new(plain.x.nodes());
    let mut slopes = vec![0.0; plain.x.nodes()];
    let mut constant = Twofold::ZERO;
    for &node in &plain.nodes {
        let zero = plain.augmented(node, 0).value();
        constant = constant - zero.into();
        if plain.x.labels(node) == 2 {
            slopes[node] = zero - plain.augmented(node, 1).value();
        }
    }
    for &(tail, head, edge) in &plain.edges {
        let energy = |a: usize, b: usize| -plain.pair(edge, a, b).value();
        let (two_tail, two_head) = (plain.x.labels(tail) == 2, plain.x.labels(head) == 2);
        let same = energy(0, 0);
        constant = constant + same.into();
        let of_tail = if two_tail { energy(1, 0) - same } else { 0.0 };
        match (two_tail, two_head) {
            (true, true) => {
                // E = same + of_tail x_t + (E11 - E10) x_h + excess (1 - x_t) x_h
                let excess = energy(0, 1) + energy(1, 0) - same - energy(1, 1);
                if excess < -ROUNDING * (same.abs() + of_tail.abs()) {
                    return None;
                }
                slopes[tail] += of_tail;
                slopes[head] += energy(1, 1) - energy(1, 0);
                network.part(head, tail, excess.max(0.0).into(), Twofold::ZERO);
            }
            _ => {
                slopes[tail] += of_tail;
                slopes[head] += if two_head { energy(0, 1) - same } else { 0.0 };
            }
        }
    }
    for &node in &plain.nodes {
        network.lean(node, slopes[node].into()); // label 1 is the source's side
        constant = constant + slopes[node].min(0.0).into();
    }
    let (sides, flow) = network.cut();
    let label = |node: usize| match plain.truth.labels[node] {
        UNLABELLED => UNLABELLED,
        _ => u32::from(sides[node] && plain.x.labels(node) == 2),
    };
    Some(((0..plain.x.nodes()).map(label).collect(), -(constant + flow).value()))
}

/// Returns the best score with losses of a tree or small model.
fn eliminate(plain: &Plain<'_>) -> Twofold {
    let place = |node: usize| plain.nodes.partition_point(|&other| other < node);
    let labels: Vec<usize> = plain.nodes.iter().map(|&node| plain.x.labels(node)).collect();
    let mut functions: Vec<(Vec<usize>, Vec<Twofold>)> = Vec::new();
    for (place, &node) in plain.nodes.iter().enumerate() {
        functions.push((vec![place], (0..labels[place]).map(|label| plain.augmented(node, label)).collect()));
    }
    for &(tail, head, edge) in &plain.edges {
        let (tail, head) = (place(tail), place(head));
        let pairs =
            (0..labels[tail] * labels[head]).map(|pair| plain.pair(edge, pair / labels[head], pair % labels[head]));
        functions.push((vec![tail, head], pairs.collect()));
    }
    largest_sum(&labels, functions)
}

/// Hands over the parts of the plane that `code` says and returns its constant part.
pub(super) fn plane(x: &MrfInput, truth: &Labelling, code: &[u32], add: &mut dyn FnMut(usize, f64)) -> Option<f64> {
    let sound = |(node, (&label, &truth)): (usize, (&u32, &u32))| match truth {
        UNLABELLED => label == UNLABELLED,
        _ => (label as usize) < x.labels(node),
    };
    if code.len() != truth.labels.len() || !code.iter().zip(&truth.labels).enumerate().all(sound) {
        return None;
    }
    let plain = Plain::new(x, truth, &[]);
    let mut circ = 0.0;
    for (y, sign) in [(code, 1.0), (&truth.labels[..], -1.0)] {
        for &node in &plain.nodes {
            let row = x.unary_row(node, y[node]).iter();
            row.zip(x.unary().1).for_each(|(value, &column)| add(column as usize, sign * value));
            circ += if sign > 0.0 { plain.cost(node, y[node] as usize) } else { 0.0 };
        }
        for &(tail, head, edge) in &plain.edges {
            let row = x.pair_row(edge, y[tail], y[head]).iter();
            row.zip(x.pair().1).for_each(|(value, &column)| add(column as usize, sign * value));
        }
    }
    Some(circ)
}
