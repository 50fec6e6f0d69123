//! Models of fewer rows than a run came to: what is saved is what is certified, so P is evaluated once more.

use multiplane_core::clock::{ClockKind, Stopwatch};
use multiplane_core::executor::{Reply, Sequential, sum_of_hinges};
use multiplane_core::observe::Certificate;
use multiplane_core::plane::Plane;
use multiplane_core::regularizer::Regularizer;
use multiplane_core::rounding::{Rounded, Rounding, UNIT};
use multiplane_core::run::Outcome;
use multiplane_tasks::problem::Reduced;

use super::open::Session;
use crate::error::Error;

/// Roundings of a sum of values that are not its additions, and what of P is off by those of a weight: the scores of a
/// decoder and of a plane, twice each.
const USUAL: f64 = 32.0;
const OFF: f64 = 4.0;

impl Session {
    /// Reduces what a run came to, where the model may not hold as much; returns the model's parts, and the outcome
    /// with their bounds and what they took. F is the run's: the gap is what the run left, and what was lost since.
    /// `None` where the model is the run's.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] where the oracle gives no answer.
    pub(super) fn reduced(&self, outcome: &Outcome) -> Result<Option<(Reduced, Outcome)>, Error> {
        let stopwatch = Stopwatch::start();
        let Some(kernel) = self.problem.kernel() else { return Ok(None) };
        let Some(reduced) = kernel.reduced(self.regularizer.metric(), &outcome.w)? else { return Ok(None) };
        let mut outcome = outcome.clone();
        let blocks = self.problem.blocks();
        if outcome.certificate.primal.is_finite() {
            self.certify(&reduced, &mut outcome)?;
            outcome.cost.evaluation_calls += blocks as u64;
        }
        outcome.cost.evaluation_seconds += match self.spec.clock {
            ClockKind::Wall => stopwatch.seconds(),
            ClockKind::Work => self.seconds_of_predictions(&outcome.cost),
        };
        Ok(Some((reduced, outcome)))
    }

    /// Evaluates P of the model, with a call for every example.
    fn certify(&self, reduced: &Reduced, outcome: &mut Outcome) -> Result<(), Error> {
        let (mut oracle, mut plane, blocks) = (self.problem.oracle()?, Plane::new(), self.problem.blocks());
        let rounding = Rounding::new(blocks, self.problem.oracles().magnitudes());
        let wanted = if rounding.needs_planes() { Reply::Terms } else { Reply::Scores };
        let mut executor = Sequential::new(&mut oracle, &mut plane);
        let hinges = sum_of_hinges(&mut executor, blocks, &reduced.images, wanted, &mut Vec::new())?;
        let of_scores = rounding.primal(&Regularizer::from(self.lambda()), &reduced.images, hinges.sum, hinges.seen);
        // Weights are sums over the model's rows, and the square is one over all of these.
        let additions = reduced.vocabulary.support.as_ref().map_or(0, |rows| rows.len()) as f64 + USUAL;
        let per_example = self.problem.dim().div_ceil(blocks) as f64; // at least the rows of one, in the mean
        let squares = self.lambda() * reduced.terms * reduced.terms * per_example;
        let of_sums = UNIT * additions * (OFF * rounding.stretch() * per_example * reduced.terms + squares);
        let primal = 0.5 * self.lambda() * reduced.square + hinges.sum;
        if !primal.is_finite() {
            return Err(Error::failed(format!("the primal value of the reduced model became {primal}")));
        }
        let primal = Rounded::new(primal, of_scores.rounding + of_sums);
        let certified = outcome.certificate.certified && hinges.proven;
        let (primal, dual) = match outcome.certificate.dual {
            Some(dual) => {
                let (primal, dual) = Rounded::bracket(primal, Rounded::exact(dual));
                (primal, Some(dual))
            }
            None => (primal.upper(), None),
        };
        outcome.certificate = Certificate::new(primal, dual, certified);
        Ok(())
    }
}
