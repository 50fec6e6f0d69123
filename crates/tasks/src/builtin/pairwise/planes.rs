//! Parts of planes, which touch only nodes and edges at which a labelling differs from the truth.

use multiplane_core::plane::Plane;

use super::labelling::Labelling;

/// Hands over what the plane of `y`, times `scale`, has at the nodes: (node, label, factor) of features to be added.
/// Returns the loss, or `None` where no node is wrong.
pub(in crate::builtin) fn add_errors(
    truth: &Labelling,
    y: &Labelling,
    scale: f64,
    mut add: impl FnMut(usize, u32, f64),
) -> Option<f64> {
    let costs = truth.costs();
    let (mut loss, mut any) = (0.0, false);
    for node in truth.errors(y) {
        (loss, any) = (loss + costs.at(node), true);
        add(node, y.labels[node], scale);
        add(node, truth.labels[node], -scale);
    }
    any.then_some(loss)
}

/// Adds the numbers that are not 0.
pub(in crate::builtin) fn push_filled(dense: &[f64], out: &mut Plane) {
    dense.iter().zip(0..).filter(|(value, _)| **value != 0.0).for_each(|(&value, k)| out.push(k, value));
}
