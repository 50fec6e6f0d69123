//! What calls and planes of pairwise models cost, by their sizes; see [`prices`](crate::builtin::prices).

use multiplane_core::oracle::Prices;

use super::input::MrfInput;
use super::layout::MrfTask;
use crate::builtin::pairwise::{Part, Sizes, of_planes, of_way};

/// A call beside everything that grows.
const CALL: f64 = 1e-6;

/// A feature read and weighed, and a node or edge laid out.
const FEATURE: f64 = 1e-9;
const PLACE: f64 = 1.5e-7;

/// A pair of labels of an edge, in an iteration of message passing.
const MESSAGE: f64 = 2.5e-9;

/// Returns the prices of a pairwise model.
pub(super) fn of_model(task: &MrfTask, x: &MrfInput) -> Prices {
    let (nodes, edges) = (x.nodes(), x.edges().len());
    let rows: usize = (0..nodes).map(|node| x.labels(node)).sum();
    let pairs: usize = (0..edges).map(|edge| x.pair_rows(edge).len()).sum();
    let read = (rows * x.unary().1.len() + pairs * x.pair().1.len()) as f64 * FEATURE;
    let places = (nodes + edges) as f64;
    let mut part = Part::default();
    part.take(nodes, x.edges(), None);
    let sizes = Sizes {
        places,
        labels: rows as f64,
        pairs: pairs as f64,
        labellings: (0..nodes).map(|node| x.labels(node) as f64).product(),
        max_iterations: task.max_iterations,
    };
    let inference = of_way(task.way(x, &part, &mut Vec::new()), sizes, MESSAGE);
    Prices::of_sizes(CALL + read + PLACE * places + inference, of_planes(task.features))
}
