//! What completing truths that are known in part leads to.

use std::sync::Arc;

use multiplane_core::plane::Plane;

use super::Problem;

/// A problem whose truths have a label for every variable, or for none. Variables without one before cost nothing.
pub struct Completion {
    /// The problem.
    pub problem: Arc<dyn Problem>,
    /// The number of truths that are others than before.
    pub changed: usize,
    /// By how much the mean score of the truths is higher than before, if those were complete.
    pub rise: f64,
    /// By how much the planes of examples change: the planes of complete truths of before, as the new ones see them.
    pub moves: Vec<(usize, Plane)>,
}
