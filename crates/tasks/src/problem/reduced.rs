//! A model with fewer parts than its run came to.

use super::vocabulary::Vocabulary;

/// A model that was reduced, with what its primal value takes.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// Its weights in the layout of files.
    pub w: Vec<f64>,
    /// The facts that it must remember, among them its rows of support.
    pub vocabulary: Vocabulary,
    /// Its weights as training's oracles are handed them (`[d]`).
    pub images: Vec<f64>,
    /// Its squared length `<u, M u>`.
    pub square: f64,
    /// A bound on the terms without signs that a weight of `images` is the sum of.
    pub terms: f64,
    /// Values of the kernel computed, beside those of the metric.
    pub evaluations: u64,
}
