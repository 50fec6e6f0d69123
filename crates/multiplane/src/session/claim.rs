//! The verdict of `verify` on a bound that a file states: true, not true, or beyond what the judge's own digits can
//! tell.
//!
//! Bounds are rounded outward, but for nine digits. So the value found must not lie on their wrong side by more than
//! that, whatever rounding did in training; only the judge's own error is granted, and where that could hide a false
//! bound, the answer is that nothing can be said.

use multiplane_core::metric::Metric;
use multiplane_core::regularizer::Regularizer;
use multiplane_core::rounding::{Rounding, TermSizes, UNIT};
use multiplane_tasks::problem::Problem;

use crate::error::Error;

/// The part of a bound that may be left unsaid, relative.
pub(crate) const TOLERANCE: f64 = 1e-9;

/// An uncertainty of a bound that need not be most of a gap to be allowed, relative: as in training.
const NOTICEABLE: f64 = 1e-6;

/// The verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds.
    True,
    /// It does not.
    Untrue,
    /// The recomputed value is not exact enough to tell.
    Unknown,
}

impl Verdict {
    /// Judges a bound that the recomputed value, which is off by at most `error`, lies beyond by `excess`.
    pub fn of(excess: f64, error: f64, bound: f64) -> Verdict {
        let allowed = TOLERANCE * bound.abs() + f64::MIN_POSITIVE;
        if !(excess.is_finite() && error.is_finite()) {
            Verdict::Unknown
        } else if excess + error <= allowed {
            Verdict::True
        } else if excess - error > allowed {
            Verdict::Untrue
        } else {
            Verdict::Unknown
        }
    }
}

/// A primal value that a file states, and the one found at its weights.
#[derive(Clone, Copy, Debug)]
pub struct PrimalClaim {
    /// P at the weights, recomputed.
    pub found: f64,
    /// By how much that may be off.
    pub error: f64,
    /// The value that the file states.
    pub reported: f64,
    /// If it is an upper bound on P, and one that training can have come to.
    pub verdict: Verdict,
}

impl PrimalClaim {
    /// Recomputes P at `w` and judges what is reported of it. `w` and `prior` are in the layout of files; `gap` is what
    /// is claimed to lie between the bounds.
    ///
    /// # Errors
    ///
    /// As of [`hinge`](multiplane_tasks::problem::ProblemReference::hinge).
    pub fn of(
        problem: &dyn Problem,
        prior: Option<&[f64]>,
        (w, lambda): (&[f64], f64),
        (reported, gap): (f64, Option<f64>),
        threads: usize,
    ) -> Result<PrimalClaim, Error> {
        let found = problem.reference().primal(prior, w, lambda, threads)?;
        let (error, margin) = roundings(problem, prior, (w, lambda), found);
        let mut verdict = Verdict::of(found - reported, error, reported);
        // Rounded outward by no more than what training's bounds say; where they are not known, by no more than would
        // have been certified.
        let most = margin.unwrap_or_else(|| gap.unwrap_or(f64::INFINITY).max(NOTICEABLE * reported.abs()));
        if verdict == Verdict::True && reported - found > error + most + TOLERANCE * reported.abs() {
            verdict = Verdict::Untrue;
        }
        Ok(PrimalClaim { found, error, reported, verdict })
    }

    /// Returns the relative difference of the two values.
    pub fn relative_difference(&self) -> f64 {
        if self.found == self.reported {
            return 0.0;
        }
        (self.found - self.reported).abs() / (self.reported.abs() + f64::MIN_POSITIVE)
    }

    /// Returns why nothing can be said, where that is so.
    pub fn doubt(&self) -> Option<String> {
        let (found, error) = (self.found, self.error);
        (self.verdict == Verdict::Unknown).then(|| {
            format!(
                "the primal value cannot be verified: it is {found} up to {error:.1e}, by the digits that the judge has; the \
                 features or weights are too large for 64-bit numbers"
            )
        })
    }
}

/// By how much the judge's P may be off, and by how much training may have rounded its own outward, where the task
/// bounds its terms. Sums one after the other have more roundings than a decoder's, which has up to 16 sums side by
/// side.
fn roundings(
    problem: &dyn Problem,
    prior: Option<&[f64]>,
    (w, lambda): (&[f64], f64),
    primal: f64,
) -> (f64, Option<f64>) {
    const MORE: f64 = 64.0;
    let last = 8.0 * UNIT * primal.abs(); // hinges, their mean and the penalty are doubles
    let Some(magnitudes) = problem.oracles().magnitudes() else { return (last, None) };
    let mut regularizer = Regularizer::from(lambda);
    if let Some(prior) = prior {
        regularizer = regularizer.with_prior(problem.from_file_layout(prior));
    }
    let w = problem.from_file_layout(w);
    let terms = magnitudes.most(&w) + magnitudes.constant();
    let scores = 4.0 * MORE * (magnitudes.additions() + 32.0) * terms;
    let rounding = Rounding::new(problem.blocks(), Some(magnitudes));
    // Images of kernels are sums that training added to for long, and at most as solvers of sums do. The penalty is part of P.
    let with = |metric: Metric| Regularizer::from(lambda).with_metric(metric.of_sums());
    let images = problem.metric().map_or(0.0, |metric| rounding.of_images(&with(metric), primal));
    let margin = 4.0 * (rounding.primal(&regularizer, &w, primal, TermSizes::default()).rounding + images);
    (problem.reference().roundoff() * scores + last, Some(margin))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bounds hold to nine digits; the judge's own error makes neither a false bound true nor a true one false.
    #[test]
    fn errors_of_the_judge_decide_nothing() {
        assert_eq!(Verdict::of(0.0, 1e-16, 1.0), Verdict::True);
        assert_eq!(Verdict::of(9e-10, 1e-16, 1.0), Verdict::True);
        assert_eq!(Verdict::of(2e-9, 1e-16, 1.0), Verdict::Untrue);
        assert_eq!(Verdict::of(-0.5, 0.1, 1.0), Verdict::True);
        assert_eq!(Verdict::of(0.5, 0.1, 1.0), Verdict::Untrue);
        for (excess, error) in [(0.5, 1.0), (-0.5, 1.0), (f64::NAN, 0.0), (0.0, f64::INFINITY), (f64::INFINITY, 0.0)] {
            assert_eq!(Verdict::of(excess, error, 1.0), Verdict::Unknown, "{excess} {error}");
        }
    }
}
