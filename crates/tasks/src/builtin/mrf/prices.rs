//! What calls and planes of pairwise models cost, by their sizes; see [`prices`](crate::builtin::prices).

use multiplane_core::oracle::Prices;

use super::input::MrfInput;
use super::layout::MrfTask;
use super::spec::Inference;
use crate::builtin::graph::part::Part;

/// A call beside everything that grows.
const CALL: f64 = 1e-6;

/// A feature read and weighed, and a node or edge laid out.
const FEATURE: f64 = 1e-9;
const PLACE: f64 = 1.5e-7;

/// A pair of labels of an edge, in an iteration of message passing, and in the only one of a tree.
const MESSAGE: f64 = 2.5e-9;

/// Iterations of message passing that a call takes, as a share of the most.
const ITERATIONS: f64 = 0.5;

/// An energy of a labelling, in enumeration.
const ENUMERATED: f64 = 3e-9;

/// A plane that is stored with its numbers, and each of them: score, step and averages.
const STORED_PLANE: f64 = 1e-6;
const STORED_NUMBER: f64 = 4e-10;

/// Returns the prices of a pairwise model.
pub(super) fn of_model(task: &MrfTask, x: &MrfInput) -> Prices {
    let (nodes, edges) = (x.nodes(), x.edges().len());
    let rows: usize = (0..nodes).map(|node| x.labels(node)).sum();
    let pairs: usize = (0..edges).map(|edge| x.pair_rows(edge).len()).sum();
    let read = (rows * x.unary().1.len() + pairs * x.pair().1.len()) as f64 * FEATURE;
    let places = (nodes + edges) as f64;
    let mut part = Part::default();
    part.take(nodes, x.edges(), None);
    let inference = match task.way(x, &part, &mut Vec::new()) {
        Inference::Tree => MESSAGE * (rows + pairs) as f64,
        Inference::Brute => {
            let labellings: f64 = (0..nodes).map(|node| x.labels(node) as f64).product();
            ENUMERATED * labellings * places
        }
        Inference::Auto | Inference::Trws => MESSAGE * pairs as f64 * ITERATIONS * task.max_iterations as f64,
    };
    Prices::of_sizes(CALL + read + PLACE * places + inference, STORED_PLANE + STORED_NUMBER * task.features as f64)
}
