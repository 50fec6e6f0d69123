//! What of the bounds is proven, and what is lost in rounding ([ADR 0025](../../../../docs/adr/0025-rounding.md)).

use super::driver::Run;
use super::moment::Evaluate;
use super::outcome::RunError;
use crate::observe::Certificate;
use crate::oracle::{Capabilities, MaxOracle, NoCapabilities};
use crate::rounding::Rounded;

/// Rounding that is no more than this share of P, or of the largest losses, does not keep a gap from being certified: the
/// bounds hold all of it.
const NOTICEABLE: f64 = 1e-6;

/// By how much F may exceed P, relative, where rounding is the reason.
const ROUNDING: f64 = 1e-9;

/// Whether weak duality leaves room for these values of P and F.
pub(crate) fn is_possible(primal: f64, dual: f64) -> bool {
    dual <= primal + ROUNDING * (1.0 + primal.abs())
}

impl<O: MaxOracle> Run<O> {
    /// Returns P(0) where it is known and w = 0 may be the answer: not of a run that answers with the latest, nor where held-out
    /// data have chosen.
    pub(super) fn zero(&self) -> Option<f64> {
        self.primal_at_zero.filter(|_| !self.online && self.chosen.is_none())
    }

    /// Whether the latest answer counts, and not one of a lower P before it.
    pub(super) fn keeps_latest(&self) -> bool {
        self.online && !(self.stop.gap.is_some() && self.solver.progress().dual.is_some())
    }

    /// Returns the primal value of the answer so far, and whether it is proven.
    pub(super) fn best_primal(&self) -> Option<(Rounded, bool)> {
        let best = self.best.as_ref().map(|best| (best.primal, best.proven));
        match (best, self.zero()) {
            (Some((primal, _)), Some(zero)) if primal.upper() <= zero => best,
            (_, Some(zero)) => Some((Rounded::exact(zero), true)),
            _ => best,
        }
    }

    pub(super) fn gap_reached(&self) -> bool {
        match (self.stop.gap, self.best_primal(), self.dual) {
            (Some(target), Some((primal, _)), Some(dual)) => {
                let (primal, dual) = Rounded::bracket(primal, dual);
                (self.is_certified() || self.stop.estimated) && primal - dual <= target.at(primal)
            }
            _ => false,
        }
    }

    /// Whether the gap is proven: P by answers that may prove something, F by any, and not lost in rounding.
    pub(super) fn is_certified(&self) -> bool {
        self.dual.is_some() && self.best_primal().is_some_and(|(_, proven)| proven) && !self.is_lost_to_rounding()
    }

    /// Refuses an F above a proven P: it disproves what the oracle says of its answers.
    pub(super) fn check_bounds(&self) -> Result<(), RunError> {
        match (self.best_primal(), self.dual) {
            (Some((primal, true)), Some(dual)) if !is_possible(primal.upper(), dual.lower()) => {
                Err(RunError::Contradicted { primal: primal.upper(), dual: dual.lower() })
            }
            _ => Ok(()),
        }
    }

    /// Proves the dual value that the solver has come to. Costs as much as rebuilding the weights.
    pub(super) fn prove_dual(&mut self) {
        let present = self.rounded_duals().into_iter().reduce(Rounded::higher);
        self.noise = self.noise.max(present.map_or(0.0, |dual| dual.rounding));
        let best = present.into_iter().chain(self.dual).reduce(Rounded::higher);
        // No hinge and no penalty is negative: 0 needs no proof, and nothing below it says anything.
        self.dual = best.map(|dual| dual.higher(Rounded::exact(0.0)));
    }

    /// Returns the bounds for a record: where evaluations are rare, with a dual value that is proven for it once a pass.
    /// Whether records are kept changes nothing else.
    pub(super) fn certificate_to_show(&mut self) -> Certificate {
        if self.evaluated_at == Some(self.steps) {
            return self.certificate();
        }
        let now = self.passes();
        let is_due = self.shown.is_none_or(|(_, pass)| now >= pass + 1.0);
        if self.evaluate == Evaluate::Auto && is_due && !self.observers.is_empty() {
            let present = self.rounded_duals().into_iter().reduce(Rounded::higher);
            let shown = present.into_iter().chain(self.shown.map(|(dual, _)| dual)).reduce(Rounded::higher);
            self.shown = shown.map(|dual| (dual, now));
        }
        let certificate = self.certificate();
        let (Some((shown, _)), Some((primal, _))) = (self.shown, self.best_primal()) else { return certificate };
        let (primal, dual) = Rounded::bracket(primal, shown);
        if certificate.dual.is_some_and(|old| dual > old) {
            return Certificate::new(primal, Some(dual), certificate.certified);
        }
        certificate
    }

    /// Returns the dual values of the solver's points, each with a bound on its rounding.
    pub(crate) fn rounded_duals(&mut self) -> Vec<Rounded> {
        let (mut none, mut values) = (NoCapabilities, Vec::new());
        let source: &mut dyn Capabilities = match self.oracle.capabilities() {
            Some(source) => source,
            None => &mut none,
        };
        self.solver.rounded_duals(&self.rounding, source, &mut values);
        values
    }

    /// Returns the dual value to expect of a proof: the highest on the books, less what rounding took last time.
    pub(super) fn expected_dual(&self) -> Option<f64> {
        let (dual, best) = (self.dual.unwrap_or_default(), self.best.as_ref().map(|best| best.primal));
        let target = self.stop.gap.zip(best).map_or(f64::INFINITY, |(target, best)| target.at(best.value));
        let (of_primal, of_dual) = Rounded::margins(best.unwrap_or_default(), dual, target);
        self.books.map(|dual| dual - of_dual - of_primal)
    }

    /// Returns what rounding may be of the gap, where that is most of it: of the bounds that there are, or of those at the
    /// iterate that was evaluated last.
    pub(super) fn rounding_in_gap(&self) -> Option<f64> {
        let ((primal, _), dual) = (self.best_primal()?, self.dual?);
        let rounding = self.noise.max(primal.rounding + dual.rounding);
        let (high, low) = Rounded::bracket(primal, dual);
        let shows = Rounded::new(primal.value, rounding).margin() > 0.0;
        let is_most = shows && high > low && rounding > 0.5 * (high - low); // none at all is proven without a digit
        (is_most || !rounding.is_finite()).then_some(rounding)
    }

    /// Whether the gap is lost in rounding: most of it, and more than leaves anything known.
    pub(super) fn is_lost_to_rounding(&self) -> bool {
        let scale = self.best_primal().map_or(0.0, |(primal, _)| primal.value.abs()).max(self.rounding.scale());
        let allowed = NOTICEABLE * scale;
        self.rounding_in_gap().is_some_and(|rounding| !rounding.is_finite() || rounding > allowed)
    }
}
