//! What calls and planes of graphs cost, by their sizes; see [`prices`](crate::builtin::prices).

use multiplane_core::oracle::Prices;

use super::input::GraphInput;
use super::layout::GraphTask;
use super::spec::Pairwise;

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

/// Iterations of message passing that a call takes, as a share of the most.
const ITERATIONS: f64 = 0.5;

/// A plane that is stored with its numbers, and each of them: score, step and averages.
const STORED_PLANE: f64 = 1e-6;
const STORED_NUMBER: f64 = 4e-10;

/// Returns the prices of a graph.
pub(super) fn of_graph(task: &GraphTask, x: &GraphInput) -> Prices {
    let (nodes, edges, labels) = (x.nodes() as f64, x.edges().len() as f64, task.labels as f64);
    let labels_read = if task.is_binary_cut() { 1.0 } else { labels };
    let scores = nodes * task.features as f64 * (FEATURE + FEATURE_LABEL * labels_read);
    let inference = match task.pairwise {
        Pairwise::Cut if task.labels <= 2 => CUT * (nodes + edges),
        Pairwise::Cut => EXPANSION * (nodes + edges) * labels,
        Pairwise::Full => MESSAGE * edges * labels * labels * ITERATIONS * task.max_iterations as f64,
    };
    Prices::of_sizes(CALL + scores + inference, STORED_PLANE + STORED_NUMBER * task.weights() as f64)
}
