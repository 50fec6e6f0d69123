//! What calls and planes of graphs cost, by their sizes; see [`prices`](crate::builtin::prices).

use multiplane_core::oracle::Prices;

use super::decode::GraphWay;
use super::input::GraphInput;
use super::layout::GraphTask;
use crate::builtin::pairwise::{Part, Sizes, Way, of_planes, of_way};

/// A call beside everything that grows.
const CALL: f64 = 1e-6;

/// A feature of a node, read, and times a label.
const FEATURE: f64 = 8e-11;
const FEATURE_LABEL: f64 = 1.2e-10;

/// A node or edge in a cut that starts from the last flow.
const CUT: f64 = 6.5e-8;

/// A node or edge times a label in expansion moves with their sweeps.
const EXPANSION: f64 = 4.7e-8;

/// An edge times a pair of labels, in an iteration of message passing.
const MESSAGE: f64 = 2e-9;

/// A node or edge laid out for the engine of trees, or for enumeration.
const PLACE: f64 = 1e-7;

/// Returns the prices of a graph.
pub(super) fn of_graph(task: &GraphTask, x: &GraphInput) -> Prices {
    let (nodes, edges, labels) = (x.nodes() as f64, x.edges().len() as f64, task.labels as f64);
    let places = nodes + edges;
    let labels_read = if task.is_binary_cut() { 1.0 } else { labels };
    let scores = nodes * task.features as f64 * (FEATURE + FEATURE_LABEL * labels_read);
    let mut part = Part::default();
    part.take(x.nodes(), x.edges(), None);
    let inference = match task.way(&part, &mut Vec::new()) {
        GraphWay::Cut => CUT * places,
        GraphWay::Expansion => EXPANSION * places * labels,
        GraphWay::Engine(way) => {
            let laid_out = if matches!(way, Way::Tree | Way::Brute) { PLACE * places } else { 0.0 };
            let sizes = Sizes {
                places,
                labels: labels * nodes,
                pairs: edges * labels * labels,
                labellings: labels.powi(x.nodes().min(1 << 20) as i32),
                max_iterations: task.max_iterations,
            };
            laid_out + of_way(way, sizes, MESSAGE)
        }
    };
    Prices::of_sizes(CALL + scores + inference, of_planes(task.weights()))
}
