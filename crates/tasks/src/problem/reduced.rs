//! A model with fewer parts than its run came to.

use super::vocabulary::Vocabulary;

/// A model that was reduced, with what its primal value takes.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// Its weights in the layout of files.
    pub w: Vec<f64>,
    /// The facts that it must remember, among them its rows of support.
    pub vocabulary: Vocabulary,
    /// The point of training's metric that has its coefficients.
    pub point: Vec<f64>,
}
