//! The verdict of `verify` on a bound that a file states: true, not true, or beyond what the judge's own digits can
//! tell.
//!
//! Bounds are rounded outward, but for nine digits. So the value found must not lie on their wrong side by more than
//! that, whatever rounding did in training; only the judge's own error is granted, and where that could hide a false
//! bound, the answer is that nothing can be said.

use multiplane_core::metric::Metric;
use multiplane_core::observe::Certificate;
use multiplane_core::regularizer::Regularizer;
use multiplane_core::rounding::{Rounding, TermSizes, UNIT};
use multiplane_tasks::problem::Problem;

use crate::error::Error;
use crate::file::Model;
use crate::spec::Lambda;

/// The part of a bound that may be left unsaid, relative.
pub(crate) const TOLERANCE: f64 = 1e-9;

/// An uncertainty of a bound that need not be most of a gap to be allowed, relative: as in training.
const NOTICEABLE: f64 = 1e-6;

/// The largest error of gap = primal - dual by writing the three as text, relative to them.
const SAME: f64 = 1e-14;

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
        let roundings = roundings(problem, prior, (w, lambda), found);
        Ok(PrimalClaim::judged(found, roundings, (reported, gap)))
    }

    /// Judges what is reported of a value found. That is off by at most the first of `roundings`; the second is how far
    /// outward training may have rounded, if that is known.
    pub(crate) fn judged(
        found: f64,
        (error, margin): (f64, Option<f64>),
        (reported, gap): (f64, Option<f64>),
    ) -> PrimalClaim {
        let mut verdict = Verdict::of(found - reported, error, reported);
        // Rounded outward by no more than what training's bounds say; where they are not known, by no more than would
        // have been certified.
        let most = margin.unwrap_or_else(|| gap.unwrap_or(f64::INFINITY).max(NOTICEABLE * reported.abs()));
        if verdict == Verdict::True && reported - found > error + most + TOLERANCE * reported.abs() {
            verdict = Verdict::Untrue;
        }
        PrimalClaim { found, error, reported, verdict }
    }

    /// Returns the first claim of a model that is not so, given its data: `n` examples of this total weight.
    pub fn fault(&self, model: &Model, n: usize, total_weight: Option<f64>) -> Option<String> {
        let of_lambda = || of_lambda(model, total_weight?);
        self.of_bounds(model).or_else(|| of_number(model, n)).or_else(of_lambda).or_else(|| {
            let doubt = self.doubt()?;
            self.reported.is_finite().then_some(doubt)
        })
    }

    /// Returns true if the value that the file states is true, or it states none.
    pub fn holds(&self) -> bool {
        self.verdict == Verdict::True || !self.reported.is_finite()
    }

    /// Returns the bound of the model that cannot be true at the primal value found.
    fn of_bounds(&self, model: &Model) -> Option<String> {
        let Certificate { primal: reported, dual, gap, certified } = model.info.certificate;
        let Some(dual) = dual else {
            let without = if certified { "its gap is certified" } else { "it has a gap" };
            let claim = certified || gap.is_some();
            return claim.then(|| format!("the model says that {without}, without a dual value"));
        };
        if !reported.is_finite() {
            let claim = certified || gap.is_some();
            return claim.then(|| "the model claims a gap without a primal value".into());
        }
        let expected = reported - dual;
        let near = |gap: f64| (gap - expected).abs() <= SAME * (reported.abs() + dual.abs());
        if !gap.is_some_and(near) {
            let gap = gap.map_or("none".into(), |gap| gap.to_string());
            return Some(format!("the gap of the model is {gap}, its primal and dual values make {expected}"));
        }
        // Of answers that prove nothing the primal value may be too low.
        self.below(dual).filter(|_| certified)
    }

    /// Returns the fault of a dual value above the primal value found: weak duality rules that out.
    pub fn below(&self, dual: f64) -> Option<String> {
        let is_above = Verdict::of(dual - self.found, self.error, self.found) == Verdict::Untrue;
        is_above.then(|| format!("the dual value of the model, {dual}, is above its primal value, {}", self.found))
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

/// Returns what a model says of the number of its examples that is not so.
fn of_number(model: &Model, found: usize) -> Option<String> {
    let stated = model.info.provenance.n;
    (stated != found).then(|| format!("the model says that it was trained on {stated} examples, the data has {found}"))
}

/// Returns how the lambda of a model differs from that of its specification, where the specification tells it.
fn of_lambda(model: &Model, total_weight: f64) -> Option<String> {
    let lambda: Lambda = serde_json::from_value(model.info.provenance.spec["lambda"].clone()).ok()?;
    let (stated, expected) = (model.info.lambda, lambda.value(total_weight)?);
    (stated != expected).then(|| format!("lambda of the model is {stated}, its specification makes it {expected}"))
}

/// By how much the judge's P may be off, and by how much training may have rounded its own outward, where the task
/// bounds its terms. Sums one after the other have more roundings than a decoder's, which has up to 16 sums side by
/// side.
pub(crate) fn roundings(
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
