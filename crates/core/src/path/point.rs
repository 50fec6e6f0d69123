//! A certified point of a path.

use serde::{Deserialize, Serialize};

use crate::run::GapTarget;

/// A point w(phi) with its certificate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathPoint {
    /// Strength of the regulariser.
    pub lambda: f64,
    /// `w(phi)`.
    pub w: Vec<f64>,
    /// `P(w)` by one call per example.
    pub primal: f64,
    /// `F(phi)`.
    pub dual: f64,
    /// `sum_i score(phi^i; w)`, by which the gap grows when w is kept: at `rho lambda` it is `gap + (1 - rho)` times
    /// this. Without a prior it is `F - lambda/2 |w|^2`, with a kernel that of `dual` and `square`.
    pub score: f64,
    /// `|w|^2` (with a kernel `<u, M u>`), by which P falls with lambda where w is kept. With a kernel no more than it is in
    /// exact arithmetic, so that P is not said to fall further than it does.
    pub square: f64,
    /// By how much `dual + lambda/2 square` may be below its exact value: 0 without a kernel, where both are exact but for
    /// their last digits.
    pub unsaid: f64,
}

impl PathPoint {
    /// Returns `P - F`: exact, as both belong to this point.
    pub fn gap(&self) -> f64 {
        self.primal - self.dual
    }

    /// Returns the smallest share of lambda at which w is still good to `eps`; 0 where it is for every lambda, `None`
    /// where it is not even here. At `rho lambda` the gap is `gap + (1 - rho) score`, and P is
    /// `primal - (1 - rho) lambda/2 |w|^2`: both are lines in rho, so that what holds at both ends holds between.
    pub fn reach(&self, eps: impl Into<GapTarget>) -> Option<f64> {
        let eps = eps.into();
        let room = eps.at(self.primal) - self.gap();
        let slope = match eps {
            GapTarget::Absolute(_) => self.score,
            GapTarget::Percent(_) => self.score + eps.at(0.5 * self.lambda * self.square),
        };
        let holds = room >= 0.0; // not so for NaN
        holds.then(|| if slope <= room { 0.0 } else { 1.0 - room / slope })
    }
}
