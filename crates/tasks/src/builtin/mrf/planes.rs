//! Features of labellings, and planes, which touch only nodes and edges at which a labelling differs from the truth.

use multiplane_core::plane::Plane;

use super::input::MrfInput;
use super::layout::MrfTask;
use super::scores::{add_row, gather, score_row};
use crate::builtin::pairwise::{Labelling, add_errors, push_filled};

/// Whether a label is one of a node.
fn known(x: &MrfInput, node: usize, label: u32) -> bool {
    (label as usize) < x.labels(node)
}

/// Returns the edges whose ends both have a label, with these.
fn labelled<'a>(x: &'a MrfInput, y: &'a [u32]) -> impl Iterator<Item = (usize, u32, u32)> + 'a {
    x.edges().iter().enumerate().filter_map(move |(edge, &[tail, head])| {
        let (a, b) = (y[tail as usize], y[head as usize]);
        (known(x, tail as usize, a) && known(x, head as usize, b)).then_some((edge, a, b))
    })
}

/// Adds `scale * phi(x, y)`; nodes without a label have no features, and their edges none either.
pub(super) fn add_features(x: &MrfInput, y: &[u32], scale: f64, out: &mut [f64]) {
    for (node, &label) in y.iter().enumerate().filter(|(node, label)| known(x, *node, **label)) {
        add_row(scale, x.unary_row(node, label), x.unary().1, out);
    }
    for (edge, a, b) in labelled(x, y) {
        add_row(scale, x.pair_row(edge, a, b), x.pair().1, out);
    }
}

/// Returns `<w, phi(x, y)>`, and its terms without signs.
pub(super) fn score(x: &MrfInput, y: &[u32], w: &[f64]) -> (f64, f64) {
    let (mut unary, mut pair) = (Vec::new(), Vec::new());
    gather(w, x.unary().1, &mut unary);
    gather(w, x.pair().1, &mut pair);
    let (mut score, mut terms) = (0.0, 0.0);
    let mut add = |value: f64| (score, terms) = (score + value, terms + value.abs());
    for (node, &label) in y.iter().enumerate().filter(|(node, label)| known(x, *node, **label)) {
        add(score_row(x.unary_row(node, label), &unary));
    }
    labelled(x, y).for_each(|(edge, a, b)| add(score_row(x.pair_row(edge, a, b), &pair)));
    (score, terms)
}

impl MrfTask {
    /// Writes the plane of a labelling, times `scale`. `dense` is working memory.
    pub(super) fn write_plane(
        &self,
        x: &MrfInput,
        (truth, y): (&Labelling, &Labelling),
        scale: f64,
        dense: &mut Vec<f64>,
        out: &mut Plane,
    ) {
        out.clear();
        dense.clear();
        dense.resize(self.features, 0.0);
        let loss = add_errors(truth, y, scale, |node, label, factor| {
            add_row(factor, x.unary_row(node, label), x.unary().1, dense);
        });
        let Some(loss) = loss else {
            out.seal();
            return;
        };
        let differs = |node: u32| truth.labels[node as usize] != y.labels[node as usize];
        let changed = |&(edge, _, _): &(usize, u32, u32)| x.edges()[edge].into_iter().any(differs);
        for (labels, factor) in [(&y.labels, scale), (&truth.labels, -scale)] {
            for (edge, a, b) in labelled(x, labels).filter(changed) {
                add_row(factor, x.pair_row(edge, a, b), x.pair().1, dense);
            }
        }
        let filled = dense.iter().filter(|value| **value != 0.0).count();
        // An index costs half of a number, and a step's time.
        if 2 * filled > self.features {
            out.dense(self.features).copy_from_slice(dense);
        } else {
            push_filled(dense, out);
        }
        out.set_circ(scale * loss);
        out.seal();
    }
}
