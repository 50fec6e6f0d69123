//! The bounds of a run: which of them are proven, and what is lost in rounding
//! ([ADR 0025](../../../../docs/adr/0025-rounding.md)).

use serde::{Deserialize, Serialize};

use super::outcome::{Best, RunError, Stop};
use super::stall::Stall;
use super::training::Training;
use crate::certificate::GapTarget;
use crate::observe::Certificate;
use crate::oracle::{Capabilities, MaxOracle, NoCapabilities};
use crate::rounding::{Rounded, Rounding};
use crate::state::{StateError, ensure, finite};

/// Rounding up to this share of P, or of the largest losses, may be certified: the bounds include it.
const NOTICEABLE: f64 = 1e-6;

/// The relative excess of F over P that rounding may explain.
const ROUNDING: f64 = 1e-9;

/// The least dual value that is proven but 0: of smaller ones, products may be below the normal numbers, where rounding is
/// no share of them.
const LEAST_DUAL: f64 = 1e-290;

/// Returns whether weak duality leaves room for these values of P and F.
pub(crate) fn is_possible(primal: f64, dual: f64) -> bool {
    dual <= primal + ROUNDING * (1.0 + primal.abs())
}

/// The bounds on the optimum, and the iterate that is the answer by them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RunBounds {
    pub(super) best: Option<Best>,
    /// The highest unproven dual value, from the solver's running sums; decides when to evaluate.
    pub(super) books: Option<f64>,
    /// The best that is proven.
    pub(super) dual: Option<Rounded>,
    /// The rounding of the bounds at the iterate that was evaluated last.
    noise: f64,
    /// The last dual value proven for records alone, and the pass of it.
    shown: Option<(Rounded, f64)>,
    /// The gap to expect since the last outer iteration; no bound.
    pub(super) estimate: Option<f64>,
    pub(super) stall: Stall,
    /// The step after which the answer was evaluated last.
    pub(super) evaluated_at: Option<u64>,
    /// A lower bound on the gap by the planes kept, if these were looked at after the last outer iteration.
    #[serde(skip)]
    pub(super) least_gap: Option<f64>,
    /// The name of the answer that was evaluated last, and whether it is the best now.
    #[serde(skip)]
    pub(super) evaluated: Option<&'static str>,
    #[serde(skip)]
    pub(super) best_is_new: bool,
    /// The weights that are the answer by held-out data, or in place of w = 0, once the run has ended.
    #[serde(skip)]
    pub(super) chosen: Option<Vec<f64>>,
    /// P(0), if it is known without a call.
    #[serde(skip)]
    pub(super) primal_at_zero: Option<f64>,
    /// If the answer is the latest iterate, and never w = 0.
    #[serde(skip)]
    pub(super) online: bool,
    #[serde(skip)]
    pub(super) rounding: Rounding,
    /// The gap to stop at.
    #[serde(skip)]
    pub(super) target: Option<GapTarget>,
}

impl RunBounds {
    /// Begins with nothing known but P(0).
    pub(super) fn new(primal_at_zero: Option<f64>, online: bool, rounding: Rounding) -> Self {
        RunBounds {
            best: None,
            books: None,
            dual: None,
            noise: 0.0,
            shown: None,
            estimate: None,
            stall: Stall::new(0.0),
            evaluated_at: None,
            least_gap: None,
            evaluated: None,
            best_is_new: false,
            chosen: None,
            primal_at_zero,
            online,
            rounding,
            target: None,
        }
    }

    /// Forgets the bounds, at this pass.
    pub(super) fn forget(&mut self, pass: f64) {
        *self = RunBounds {
            stall: Stall::new(pass),
            evaluated: self.evaluated,
            best_is_new: self.best_is_new,
            target: self.target,
            ..RunBounds::new(self.primal_at_zero, self.online, std::mem::take(&mut self.rounding))
        };
    }

    /// Replaces a run's bounds; takes over the fields that files omit.
    pub(super) fn complete(self, now: &RunBounds) -> Self {
        RunBounds {
            least_gap: now.least_gap,
            evaluated: now.evaluated,
            best_is_new: now.best_is_new,
            primal_at_zero: now.primal_at_zero,
            online: now.online,
            rounding: now.rounding.clone(),
            target: now.target,
            ..self
        }
    }

    /// Refuses bounds that were restored and do not fit.
    pub(super) fn check(&self, blocks: usize, size: usize) -> Result<(), StateError> {
        let known = |best: &Best| best.hinges.as_ref().is_none_or(|known| known.hinges.len() == blocks);
        let sound =
            |best: &Best| best.w.len() == size && finite(&best.w) && best.primal.value.is_finite() && known(best);
        ensure(self.best.as_ref().is_none_or(sound), "the best weights")?;
        let bounds = [self.dual.map(|dual| dual.value), self.books, self.shown.map(|(shown, _)| shown.value)];
        ensure(bounds.into_iter().flatten().all(|value| !value.is_nan()) && !self.noise.is_nan(), "the bounds")
    }

    /// Raises the highest dual value on the books.
    pub(super) fn raise_books(&mut self, duals: impl IntoIterator<Item = Option<f64>>) {
        self.books = [self.books].into_iter().chain(duals).flatten().reduce(f64::max);
    }

    /// Returns P(0), if it is known and w = 0 may be the answer: not of a run that answers with the latest, nor if
    /// held-out data have chosen.
    pub(super) fn zero(&self) -> Option<f64> {
        self.primal_at_zero.filter(|_| !self.online && self.chosen.is_none())
    }

    /// Returns whether the latest answer counts, even if an earlier one had a lower P.
    pub(super) fn keeps_latest<O: MaxOracle>(&self, stop: &Stop, training: &Training<O>) -> bool {
        self.online && !(stop.gap.is_some() && training.solver.progress().dual.is_some())
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

    /// Returns whether the gap is small enough.
    pub(super) fn gap_reached(&self, stop: &Stop) -> bool {
        (self.is_certified() || stop.estimated) && self.meets_target()
    }

    /// Returns whether the gap, with the rounding of its bounds, meets the target.
    fn meets_target(&self) -> bool {
        match (self.target, self.best_primal(), self.dual) {
            (Some(target), Some((primal, _)), Some(dual)) => {
                let (primal, dual) = Rounded::bracket(primal, dual);
                primal - dual <= target.at(primal)
            }
            _ => false,
        }
    }

    /// Returns whether these bounds would end the run, if the dual value on the books can be proven.
    pub(super) fn is_within_reach(&self, stop: &Stop) -> bool {
        match (stop.gap, self.best_primal(), self.expected_dual(stop)) {
            (Some(target), Some((primal, _)), Some(dual)) => primal.value - dual <= target.at(primal.value),
            _ => false,
        }
    }

    /// Returns whether the gap is proven: P needs answers with proof, F does not. A gap lost in rounding counts if it
    /// meets the target.
    pub(super) fn is_certified(&self) -> bool {
        let proven = self.dual.is_some() && self.best_primal().is_some_and(|(_, proven)| proven);
        proven && (!self.is_lost_to_rounding() || self.meets_target())
    }

    /// Refuses an F above a proven P: it disproves what the oracle says of its answers.
    pub(super) fn check_duality(&self) -> Result<(), RunError> {
        match (self.best_primal(), self.dual) {
            (Some((primal, true)), Some(dual)) if !is_possible(primal.upper(), dual.lower()) => {
                Err(RunError::Contradicted { primal: primal.upper(), dual: dual.lower() })
            }
            _ => Ok(()),
        }
    }

    /// Takes in a primal value with its weights, which are the solver's answer of this name. Returns weights that are
    /// no longer needed.
    pub(super) fn settle(&mut self, found: Best, answer: Option<&'static str>, keeps_latest: bool) -> Vec<f64> {
        let Best { primal, proven, .. } = found;
        // A proven value is worth more than an unproven one, which may be too low to be true.
        let lower = |best: &Best| primal.upper() < best.primal.upper();
        let better = |best: &Best| (proven && !best.proven) || (proven == best.proven && lower(best));
        self.noise = primal.rounding;
        self.evaluated = answer;
        self.best_is_new = keeps_latest || self.best.as_ref().is_none_or(better);
        if !self.best_is_new {
            return found.w;
        }
        let old = self.best.replace(found);
        old.map(|best| best.w).unwrap_or_default()
    }

    /// Makes these weights the answer, even if P was lower at others.
    pub(super) fn choose(&mut self, w: &[f64], primal: Option<(Rounded, bool)>) {
        self.noise = primal.map_or(0.0, |(primal, _)| primal.rounding);
        self.best = primal.map(|(primal, proven)| Best { w: w.to_vec(), primal, proven, hinges: None });
        self.chosen = Some(w.to_vec());
    }

    /// Proves the solver's present dual value. Costs as much as rebuilding the weights.
    pub(super) fn prove_dual<O: MaxOracle>(&mut self, training: &mut Training<O>) {
        let present = self.rounded_duals(training).into_iter().reduce(Rounded::higher);
        self.noise = self.noise.max(present.map_or(0.0, |dual| dual.rounding));
        let proven = present.map(|dual| if dual.value < LEAST_DUAL { Rounded::exact(0.0) } else { dual });
        let best = proven.into_iter().chain(self.dual).reduce(Rounded::higher);
        // No hinge and no penalty is negative: 0 needs no proof, and nothing below it says anything.
        self.dual = best.map(|dual| dual.higher(Rounded::exact(0.0)));
    }

    /// Returns the dual values of the solver's points, each with a bound on its rounding.
    pub(super) fn rounded_duals<O: MaxOracle>(&self, training: &mut Training<O>) -> Vec<Rounded> {
        let (mut none, mut values) = (NoCapabilities, Vec::new());
        let source: &mut dyn Capabilities = match training.oracle.capabilities() {
            Some(source) => source,
            None => &mut none,
        };
        training.solver.rounded_duals(&self.rounding, source, &mut values);
        values
    }

    /// Returns the best bounds so far.
    pub(super) fn certificate(&self) -> Certificate {
        let certified = self.is_certified();
        match (self.best_primal(), self.dual) {
            (Some((primal, _)), Some(dual)) => {
                let (primal, dual) = Rounded::bracket(primal, dual);
                Certificate::new(primal, Some(dual), certified)
            }
            (primal, dual) => {
                let primal = primal.map_or(f64::INFINITY, |(primal, _)| primal.upper());
                Certificate::new(primal, dual.map(Rounded::lower), certified)
            }
        }
    }

    /// Returns the bounds for a record; if `proves`, with a dual value proven for records alone, once a pass at most.
    /// Nothing else depends on records.
    pub(super) fn certificate_to_show<O: MaxOracle>(
        &mut self,
        proves: bool,
        training: &mut Training<O>,
    ) -> Certificate {
        if self.evaluated_at == Some(training.steps) {
            return self.certificate();
        }
        let now = training.passes();
        if proves && self.shown.is_none_or(|(_, pass)| now >= pass + 1.0) {
            let present = self.rounded_duals(training).into_iter().reduce(Rounded::higher);
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

    /// Returns the dual value that a proof should give: the highest on the books, less the rounding of the last proof.
    pub(super) fn expected_dual(&self, stop: &Stop) -> Option<f64> {
        let (dual, best) = (self.dual.unwrap_or_default(), self.best.as_ref().map(|best| best.primal));
        let target = stop.gap.zip(best).map_or(f64::INFINITY, |(target, best)| target.at(best.value));
        let (of_primal, of_dual) = Rounded::margins(best.unwrap_or_default(), dual, target);
        self.books.map(|dual| dual - of_dual - of_primal)
    }

    /// Returns how much of the gap may be rounding, if that is most of it: of these bounds, or of those at the iterate
    /// that was evaluated last.
    pub(super) fn rounding_in_gap(&self) -> Option<f64> {
        let ((primal, _), dual) = (self.best_primal()?, self.dual?);
        let rounding = self.noise.max(primal.rounding + dual.rounding);
        let (high, low) = Rounded::bracket(primal, dual);
        let shows = Rounded::new(primal.value, rounding).margin() > 0.0;
        let is_most = shows && high > low && rounding > 0.5 * (high - low); // none at all is proven without a digit
        (is_most || !rounding.is_finite()).then_some(rounding)
    }

    /// Returns whether the gap is lost in rounding: rounding is most of it, and too large to be certified.
    fn is_lost_to_rounding(&self) -> bool {
        let scale = self.best_primal().map_or(0.0, |(primal, _)| primal.value.abs()).max(self.rounding.scale());
        let allowed = NOTICEABLE * scale;
        self.rounding_in_gap().is_some_and(|rounding| !rounding.is_finite() || rounding > allowed)
    }
}

/// Returns P(0), if the oracle knows its hinges at w = 0 and there is no prior. Summed with the
/// rounding errors carried along (Neumaier), so that n hinges of 1/n are 1.
pub(super) fn primal_at_zero<O: MaxOracle>(training: &mut Training<O>) -> Option<f64> {
    let blocks = training.oracle.blocks();
    let has_prior = training.regularizer.prior().is_some();
    let known = training.oracle.capabilities().filter(|_| !has_prior)?;
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for block in 0..blocks {
        let hinge = known.hinge_at_zero(block)?;
        let next = sum + hinge;
        lost += if sum.abs() >= hinge.abs() { (sum - next) + hinge } else { (hinge - next) + sum };
        sum = next;
    }
    Some(sum + lost)
}
