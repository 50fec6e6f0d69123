//! A certified point of a path.

/// A point w(phi) with its certificate.
#[derive(Clone, Debug, PartialEq)]
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

    /// Returns the smallest share of lambda at which w is still good to `gap`; 0 where it is for every lambda, `None`
    /// where it is not even here.
    pub fn reach(&self, gap: f64) -> Option<f64> {
        let room = gap - self.gap();
        let holds = room >= 0.0; // not so for NaN
        holds.then(|| if self.score <= room { 0.0 } else { 1.0 - room / self.score })
    }
}
