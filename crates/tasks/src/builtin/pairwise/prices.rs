//! Prices of calls and planes, by the sizes of an example and what answers it; see [`prices`](crate::builtin::prices).

use super::engines::EngineChoice;

/// A pair of labels of an edge, in the only iteration of a tree.
const MESSAGE: f64 = 2.5e-9;

/// Iterations of message passing that a call takes, as a share of the most.
const ITERATIONS: f64 = 0.5;

/// An energy of a labelling, in enumeration.
const ENUMERATED: f64 = 3e-9;

/// A plane that is stored with its numbers, and each of them: score, step and averages.
const STORED_PLANE: f64 = 1e-6;
const STORED_NUMBER: f64 = 4e-10;

/// How much there is to look at.
#[derive(Clone, Copy, Debug)]
pub(in crate::builtin) struct ExampleSizes {
    /// Nodes and edges.
    pub(in crate::builtin) places: f64,
    /// Labels of all nodes.
    pub(in crate::builtin) labels: f64,
    /// Pairs of labels of all edges.
    pub(in crate::builtin) pairs: f64,
    pub(in crate::builtin) labellings: f64,
    pub(in crate::builtin) max_iterations: u64,
}

/// Returns what finding the best labelling costs; `message` is that of a pair of labels in an iteration of message
/// passing.
pub(in crate::builtin) fn of_engine(engine: EngineChoice, sizes: ExampleSizes, message: f64) -> f64 {
    match engine {
        EngineChoice::Tree => MESSAGE * (sizes.labels + sizes.pairs),
        EngineChoice::Brute => ENUMERATED * sizes.labellings * sizes.places,
        _ => message * sizes.pairs * ITERATIONS * sizes.max_iterations as f64,
    }
}

/// Returns what a plane of so many weights costs that is kept.
pub(in crate::builtin) fn of_planes(weights: usize) -> f64 {
    STORED_PLANE + STORED_NUMBER * weights as f64
}
