//! The metric between directions of phi: how far a direction moves the weights, and what two directions have in common.
//!
//! Here it is the identity: weights and directions have the same coordinates. A kernel on parts makes it
//! `M = (K x I) + I` over coefficients of rows and linear coordinates (ADR 0020): then the weights that an oracle is
//! handed are the image `M u`. Whatever moves weights or measures a direction of phi asks here. The norm of w itself
//! (penalty and dual value in `regularizer`, the line search between averages, the start of a path) is a plain sum of
//! squares still: with a kernel it is the product of u with its image, which those places will have to be handed.

use crate::linalg;
use crate::plane::Star;

/// The identity metric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Metric;

impl Metric {
    /// Adds `alpha` times the image of a direction to `weights` (`[d]`). Costs O(stored coefficients).
    pub fn add(self, alpha: f64, direction: Star<'_>, weights: &mut [f64]) {
        direction.add_to(alpha, weights);
    }

    /// Returns the squared length `<d, M d>` of a direction.
    pub fn square(self, direction: Star<'_>) -> f64 {
        linalg::sum_squares(direction.values())
    }

    /// Returns the inner product `<p, M q>` of direction p with one whose image `M q` is at hand, all coordinates.
    pub fn inner(self, p: Star<'_>, image: &[f64]) -> f64 {
        p.dot(image)
    }
}
