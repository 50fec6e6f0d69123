//! Which engine answers, by the shape of what is asked.

use super::part::Part;

/// Energies, labellings times nodes and edges, up to which enumeration is quick: a fraction of a millisecond.
const ENUMERATED: f64 = 20_000.0;

/// What finds the best labelling of any model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::builtin) enum Way {
    /// Max-product. Exact.
    Tree,
    /// Enumeration. Exact.
    Brute,
    /// A minimum cut where nodes have two labels at most and edges like to agree at the weights of the call; else messages.
    CutOrMessages,
    /// Message passing, with a bound.
    Messages,
}

impl Way {
    /// Returns the exact way that the shape of a part allows, where one is quick; node v has `labels(v)` labels.
    pub(in crate::builtin) fn exact(
        part: &Part,
        labels: impl Fn(usize) -> usize,
        parents: &mut Vec<u32>,
    ) -> Option<Way> {
        if part.is_forest(parents) {
            return Some(Way::Tree);
        }
        let labellings: f64 = part.nodes.iter().map(|&node| labels(node as usize) as f64).product();
        (labellings * (part.nodes.len() + part.edges.len()) as f64 <= ENUMERATED).then_some(Way::Brute)
    }
}
