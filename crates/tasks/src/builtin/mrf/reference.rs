//! Hinges and planes of pairwise models computed a second time, plainly, for `verify`.
//!
//! Scores are added up with twice the digits. Trees and small models are solved by eliminating one node after the other,
//! cuts by shortest augmenting paths; both share no code with training. What only message passing answers is asked of it
//! again: verified is then that data, features, losses and scores are right, not the engine's proof of its bound.

use super::decode::MrfScratch;
use super::input::MrfInput;
use super::layout::MrfTask;
use crate::builtin::pairwise::{Labelling, Plain, PlainScores, UNLABELLED, Way};
use crate::builtin::second_opinion::Network;
use crate::twofold::Twofold;

/// By how much two of our own values may differ, relative to the terms of scores.
const ROUNDING: f64 = 1e-9;

/// What labels score in one model.
struct MrfScores<'a> {
    x: &'a MrfInput,
    w: &'a [f64],
}

impl PlainScores for MrfScores<'_> {
    fn labels(&self, node: usize) -> usize {
        self.x.labels(node)
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
}

/// Returns `max_y loss + score - score of the truth` of one model; where it is only bounded, the bound.
pub(super) fn hinge(task: &MrfTask, x: &MrfInput, truth: &Labelling, w: &[f64]) -> f64 {
    let plain = Plain::new(MrfScores { x, w }, x.edges(), truth);
    let mut scratch = MrfScratch::default();
    scratch.part.take(x.nodes(), x.edges(), Some(&truth.labels));
    let way = task.way(x, &scratch.part, &mut scratch.parents);
    if matches!(way, Way::Tree | Way::Brute) {
        return plain.exact_hinge();
    }
    if let Some(found) = (way == Way::CutOrMessages).then(|| cut_hinge(x, truth, w)).flatten() {
        return found;
    }
    let mut y = Labelling::default();
    let answer = task.label((x, w, Some(truth)), &mut scratch, &mut y);
    plain.claimed_hinge(answer, &y)
}

/// Returns the hinge of a model that is a cut at these weights, no number where bound and labelling differ; `None` for
/// other models.
pub(super) fn cut_hinge(x: &MrfInput, truth: &Labelling, w: &[f64]) -> Option<f64> {
    let plain = Plain::new(MrfScores { x, w }, x.edges(), truth);
    let (y, bound) = flow(&plain)?;
    let own = plain.score(&y).value();
    let agree = bound - own <= ROUNDING * (1.0 + terms(&plain));
    Some(if agree { own - plain.of_truth().value() } else { f64::NAN })
}

/// How large the numbers are that a best score is made of.
fn terms(plain: &Plain<'_, MrfScores<'_>>) -> f64 {
    let node = |&node: &usize| {
        (0..plain.scores.x.labels(node)).map(|label| plain.augmented(node, label).value().abs()).fold(0.0, f64::max)
    };
    let edge = |&(tail, head, edge): &(usize, usize, usize)| {
        let (rows, columns) = (plain.scores.x.labels(tail), plain.scores.x.labels(head));
        (0..rows * columns)
            .map(|at| plain.scores.pair(edge, at / columns, at % columns).value().abs())
            .fold(0.0, f64::max)
    };
    plain.nodes.iter().map(node).sum::<f64>() + plain.edges.iter().map(edge).sum::<f64>()
}

/// Finds the best labelling of nodes with one or two labels whose edges like to agree, with an upper bound on its score
/// with losses; `None` for all other models.
fn flow(plain: &Plain<'_, MrfScores<'_>>) -> Option<(Vec<u32>, f64)> {
    if plain.nodes.iter().any(|&node| plain.scores.x.labels(node) > 2) {
        return None;
    }
    let mut network = Network::new(plain.scores.x.nodes());
    let mut slopes = vec![0.0; plain.scores.x.nodes()];
    let mut constant = Twofold::ZERO;
    for &node in &plain.nodes {
        let zero = plain.augmented(node, 0).value();
        constant = constant - zero.into();
        if plain.scores.x.labels(node) == 2 {
            slopes[node] = zero - plain.augmented(node, 1).value();
        }
    }
    for &(tail, head, edge) in &plain.edges {
        let energy = |a: usize, b: usize| -plain.scores.pair(edge, a, b).value();
        let (two_tail, two_head) = (plain.scores.x.labels(tail) == 2, plain.scores.x.labels(head) == 2);
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
    let label = |node: usize| match plain.truth.is_labelled(node) {
        true => u32::from(sides[node] && plain.scores.x.labels(node) == 2),
        false => UNLABELLED,
    };
    Some(((0..plain.scores.x.nodes()).map(label).collect(), -(constant + flow).value()))
}

/// Hands over the parts of the plane that `code` says and returns its constant part.
pub(super) fn plane(x: &MrfInput, truth: &Labelling, code: &[u32], add: &mut dyn FnMut(usize, f64)) -> Option<f64> {
    if !truth.admits(code, |node| x.labels(node)) {
        return None;
    }
    let plain = Plain::new(MrfScores { x, w: &[] }, x.edges(), truth);
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
