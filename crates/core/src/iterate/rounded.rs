//! Dual values of the iterate and of averages, with bounds on their rounding.

use super::Iterate;
use crate::average::{Averages, MovingAverage};
use crate::rounding::{PointTerms, Rounded, Rounding, TermSizes};

/// The largest error of one addition to a weight, in units of u times the terms: the step's product, its length, the
/// sum.
const PER_ADDITION: f64 = 4.0;

impl Iterate {
    /// Returns F with a bound on its rounding. F itself is a running sum: it is held against what phi gives now.
    ///
    /// `add_phi` is as in [`rebuild`](Iterate::rebuild); `additions` are those that the planes themselves went through
    /// since they came from the oracle, and `seen` tells of them where the task says nothing. Costs O(d) and `add_phi`.
    pub fn rounded(
        &self,
        rounding: &Rounding,
        additions: f64,
        seen: impl FnOnce(&[f64]) -> TermSizes,
        add_phi: impl FnOnce(&mut [f64]) -> (f64, f64),
    ) -> Rounded {
        // With a kernel the image stays, as a new one costs as much as a pass. Its error is counted, and measured where
        // the bound stands in the way of a certificate.
        let metric = self.metric();
        let mut free = if metric.has_kernel() { self.weights.clone() } else { vec![0.0; self.weights.len()] };
        let coefficients = metric.coefficients_mut(&mut free);
        coefficients.fill(0.0);
        let (circ, sums) = add_phi(coefficients);
        self.regularizer.free_weights(coefficients);
        let value = self.regularizer.dual(&free, circ);
        let image = self.additions.since_rebuild;
        let point = PointTerms { free: &free, circ, additions: additions + sums, image, present: true };
        let found = rounding.dual(&self.regularizer, value, point, seen);
        Rounded::new(self.value, found.rounding + (self.value - value).max(0.0))
    }

    /// Returns the dual values of the averaged points, where averages are kept, with bounds on their rounding;
    /// `additions` as in [`rounded`](Iterate::rounded). Costs O(d) each.
    pub fn rounded_averages(
        &self,
        rounding: &Rounding,
        additions: f64,
        seen: impl Fn(&[f64]) -> TermSizes,
    ) -> impl Iterator<Item = Rounded> {
        let bound = |value: f64, free: &[f64], circ: f64, sums: f64| {
            let (additions, image) = (additions + PER_ADDITION * sums, PER_ADDITION * sums);
            let point = PointTerms { free, circ, additions, image, present: false };
            rounding.dual(&self.regularizer, value, point, &seen)
        };
        let mut free = Vec::new();
        let best = |averages: &Averages| averages.best(self.free(), self.circ, &self.regularizer, &mut free);
        let sums = self.additions.in_all + self.additions.since_rebuild;
        let weighted = self.averages.as_ref().and_then(best).map(|(value, circ)| bound(value, &free, circ, sums));
        let recent = self.recent.as_ref().and_then(MovingAverage::average);
        let recent = recent.map(|(free, circ)| {
            let sums = self.recent.as_ref().map_or(0.0, MovingAverage::additions);
            bound(self.regularizer.dual(free, circ), free, circ, sums)
        });
        weighted.into_iter().chain(recent)
    }
}
