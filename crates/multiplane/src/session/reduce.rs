//! Models of fewer rows than a run came to: what is saved is what is certified, so P is evaluated once more.

use multiplane_core::clock::{ClockKind, Stopwatch};
use multiplane_core::executor::{Reply, Sequential, sum_of_hinges};
use multiplane_core::observe::Certificate;
use multiplane_core::plane::Plane;
use multiplane_core::rounding::{Rounded, Rounding};
use multiplane_core::run::Outcome;
use multiplane_tasks::problem::Reduced;

use super::open::Session;
use crate::error::Error;

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
        let Some(reduced) = kernel.reduced(self.regularizer.metric(), &outcome.w) else { return Ok(None) };
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
        let (point, regularizer) = (&reduced.point, &self.regularizer);
        let weights = regularizer.metric().weights(point);
        let hinges = sum_of_hinges(&mut executor, blocks, weights, wanted, &mut Vec::new())?;
        let primal = rounding.primal_by(f64::INFINITY, regularizer, point, hinges.sum, hinges.seen);
        if !primal.value.is_finite() {
            return Err(Error::failed(format!("the primal value of the reduced model became {}", primal.value)));
        }
        let certified = outcome.certificate.certified && hinges.proven && primal.is_known();
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
