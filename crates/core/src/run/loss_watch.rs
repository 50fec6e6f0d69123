//! Task losses of a run's answers: for records, and on held-out data for early stopping.
//!
//! A loss is a prediction of every example; it costs no call of the oracle, and nothing that is found reaches the
//! solver. With patience, the iterate with the lowest held-out loss is kept, and a run ends once that loss has not
//! fallen for so many measurements. A measurement is made at the end of an outer iteration: at most one a pass, and
//! none while measuring has taken more than training and its evaluation. The time that it may take goes by prices if
//! these are known, so that the same command ends at the same pass (ADR 0056).

use serde::{Deserialize, Serialize};

use super::evaluator::Evaluator;
use super::outcome::{Best, LossMeters, RunError, Stop};
use super::training::Training;
use crate::clock::{ClockKind, Stopwatch};
use crate::observe::{EarlyStopping, Losses};
use crate::oracle::MaxOracle;
use crate::rounding::Rounded;
use crate::state::{StateError, ensure, finite};

/// Losses for records may take this share of all other time, or so many seconds if that is more.
const BESIDE: (f64, f64) = (0.1, 0.5);

/// The losses of a run.
pub(super) struct LossWatch {
    pub(super) meters: LossMeters,
    patience: Option<u64>,
    pub(super) watched: Watched,
    /// Seconds that losses for records took so far, and the last time.
    pub(super) loss_seconds: f64,
    loss_cost: f64,
}

impl LossWatch {
    /// Measures nothing; [`meters`](LossWatch::meters) say what is measured.
    pub(super) fn new(patience: Option<u64>) -> Self {
        let (meters, watched) = (LossMeters::default(), Watched::default());
        LossWatch { meters, patience, watched, loss_seconds: 0.0, loss_cost: 0.0 }
    }

    /// Returns whether held-out data decide what is saved.
    pub(super) fn is_watching(&self) -> bool {
        self.patience.is_some() && self.meters.test.is_some()
    }

    /// Returns whether patience has ended.
    pub(super) fn is_out_of_patience(&self) -> bool {
        self.is_watching() && self.patience.is_some_and(|patience| self.watched.is_over(patience))
    }

    /// Returns the figures for records, if held-out data decide.
    pub(super) fn early_stopping(&self) -> Option<EarlyStopping> {
        self.watched.report().filter(|_| self.is_watching())
    }

    /// Returns whether a measurement is due, by the pass and by the time that it may take.
    pub(super) fn is_due<O: MaxOracle>(&self, evaluator: &Evaluator<O>, training: &Training<O>) -> bool {
        let spent = training.clock.pace() + evaluator.cost.pace;
        self.is_watching()
            && self.watched.pass != Some(whole_passes(training))
            && self.watched.pace + self.watched.mean_pace() <= spent
    }

    /// Measures the present answers on held-out data and counts the lower loss; the weights that have it are left in
    /// the evaluator's `candidate`.
    pub(super) fn measure<O: MaxOracle>(
        &mut self,
        evaluator: &mut Evaluator<O>,
        training: &mut Training<O>,
    ) -> Result<Option<f64>, RunError> {
        let Some(meter) = &mut self.meters.test else { return Ok(None) };
        let stopwatch = Stopwatch::start();
        training.solver.catch_up();
        training.solver.answer(&mut evaluator.candidate);
        let mut losses = vec![meter(&evaluator.candidate, f64::INFINITY)];
        if training.solver.alternative(&mut evaluator.other).is_some() {
            losses.push(meter(&evaluator.other, f64::INFINITY));
        }
        let work = evaluator.hinges.price() * (losses.len() * self.meters.test_examples) as f64;
        let passed = stopwatch.seconds();
        self.watched.seconds += if training.clock.kind() == ClockKind::Work { work } else { passed };
        self.watched.pace += if training.clock.decides_by_work() { work } else { passed };
        (self.watched.pass, self.watched.step) = (Some(whole_passes(training)), Some(training.steps));
        let losses = losses.into_iter().collect::<Result<Vec<_>, _>>()?;
        let Some(mut loss) = losses[0].filter(|loss| loss.is_finite()) else { return Ok(None) };
        if let Some(&Some(other)) = losses.get(1)
            && other < loss
        {
            loss = other;
            std::mem::swap(&mut evaluator.candidate, &mut evaluator.other);
        }
        self.watched.count(loss, training.passes(), &evaluator.candidate, evaluator.bounds.best.as_ref());
        Ok(Some(loss))
    }

    /// Evaluates P at the weights with the lowest held-out loss, unless it is known. An interrupt may leave it without
    /// a value.
    pub(super) fn evaluate_lowest<O: MaxOracle>(
        &mut self,
        stop: &Stop,
        evaluator: &mut Evaluator<O>,
        training: &mut Training<O>,
    ) -> Result<(), RunError> {
        if let Some(lowest) = self.watched.lowest.as_mut().filter(|lowest| lowest.primal.is_none()) {
            lowest.primal = evaluator.evaluate_at(&lowest.w, stop, training)?;
        }
        Ok(())
    }

    /// Measures the losses of the answer just evaluated, or else of the present one, if they are asked for and cheap;
    /// this changes only how long a run takes. With patience, `watched` is the held-out loss, if it was measured; the
    /// training loss is measured at the same weights, in the evaluator's `candidate`.
    pub(super) fn measure_for_record<O: MaxOracle>(
        &mut self,
        watched: Option<f64>,
        evaluator: &mut Evaluator<O>,
        training: &Training<O>,
    ) -> Result<Losses, RunError> {
        let unmeasured = Losses { train: None, test: watched };
        let Some(left) = self.seconds_left(evaluator, training) else { return Ok(unmeasured) };
        let Some(of_training) = &mut self.meters.train else { return Ok(unmeasured) };
        let stopwatch = Stopwatch::start();
        let evaluated = evaluator.is_up_to_date(training);
        if !evaluated && watched.is_none() {
            training.solver.answer(&mut evaluator.candidate);
        }
        let w = match &evaluator.bounds.best {
            Some(best) if evaluated && evaluator.bounds.best_is_new && watched.is_none() => &best.w,
            _ => &evaluator.candidate,
        };
        // On the wall clock a prediction may take longer than a call did.
        let left = if training.clock.kind() == ClockKind::Wall { left } else { f64::INFINITY };
        let train = of_training(w, left);
        let test = match &mut self.meters.test {
            Some(of_test) if self.patience.is_none() => of_test(w, left),
            _ => Ok(watched),
        };
        self.loss_cost = match training.clock.kind() {
            ClockKind::Wall => stopwatch.seconds(),
            ClockKind::Work => seconds_of_predictions(evaluator, training),
        };
        self.loss_seconds += self.loss_cost;
        Ok(Losses { train: train?, test: test? })
    }

    /// Returns the seconds left of those that losses may cost, if measuring them once more should keep within these.
    fn seconds_left<O: MaxOracle>(&self, evaluator: &Evaluator<O>, training: &Training<O>) -> Option<f64> {
        let (share, seconds) = BESIDE;
        let next = if self.loss_cost > 0.0 { self.loss_cost } else { seconds_of_predictions(evaluator, training) };
        let most = f64::max(share * (training.clock.now() + evaluator.cost.seconds), seconds);
        (self.loss_seconds + next <= most).then_some(most - self.loss_seconds)
    }
}

/// Returns the passes so far, rounded: outer iterations that leave out a few blocks are still one each.
fn whole_passes<O: MaxOracle>(training: &Training<O>) -> u64 {
    let n = training.blocks() as u64;
    (training.visits() + n / 2) / n
}

/// Returns the seconds that a prediction of every training example takes, if it takes as long as a call.
fn seconds_of_predictions<O: MaxOracle>(evaluator: &Evaluator<O>, training: &Training<O>) -> f64 {
    let call = match training.clock.kind() {
        ClockKind::Wall => training.counts.single_call().unwrap_or(0.0),
        ClockKind::Work => evaluator.hinges.price(),
    };
    call * training.blocks() as f64
}

/// The iterate with the lowest held-out loss; ties go to the earlier one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Lowest {
    pub(super) w: Vec<f64>,
    pub(super) loss: f64,
    pub(super) pass: f64,
    /// P there and whether it is proven, if the run has evaluated it.
    pub(super) primal: Option<(Rounded, bool)>,
}

/// The measurements of the loss on held-out data.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Watched {
    pub(super) lowest: Option<Lowest>,
    measurements: u64,
    /// Measurements since the lowest.
    since: u64,
    /// The pass, as a whole number, and the step after which the last measurement was made.
    pub(super) pass: Option<u64>,
    pub(super) step: Option<u64>,
    /// The time of all measurements, in seconds and as decisions go by it.
    pub(super) seconds: f64,
    pub(super) pace: f64,
}

impl Watched {
    /// Counts a loss, which `w` has; ties go to the earlier iterate.
    pub(super) fn count(&mut self, loss: f64, pass: f64, w: &[f64], best: Option<&Best>) {
        self.measurements += 1;
        if self.lowest.as_ref().is_some_and(|lowest| loss >= lowest.loss) {
            self.since += 1;
            return;
        }
        let primal = best.filter(|best| best.w == w).map(|best| (best.primal, best.proven));
        (self.lowest, self.since) = (Some(Lowest { w: w.to_vec(), loss, pass, primal }), 0);
    }

    /// Returns whether the lowest loss has stood for so many measurements.
    pub(super) fn is_over(&self, patience: u64) -> bool {
        self.since >= patience
    }

    /// Returns the mean time of a measurement, as decisions go by it; 0 before the first.
    pub(super) fn mean_pace(&self) -> f64 {
        self.pace / self.measurements.max(1) as f64
    }

    /// Returns the mean time of a measurement, in seconds; 0 before the first.
    pub(super) fn mean_seconds(&self) -> f64 {
        self.seconds / self.measurements.max(1) as f64
    }

    /// Returns the figures for records.
    pub(super) fn report(&self) -> Option<EarlyStopping> {
        let Lowest { loss, pass, .. } = *self.lowest.as_ref()?;
        Some(EarlyStopping { loss, pass, since: self.since, measurements: self.measurements })
    }

    /// Refuses what was restored and does not fit.
    pub(super) fn check(&self, dim: usize) -> Result<(), StateError> {
        let sound = |lowest: &Lowest| {
            let primal = lowest.primal.is_none_or(|(primal, _)| primal.value.is_finite());
            lowest.w.len() == dim && finite(&lowest.w) && finite(&[lowest.loss, lowest.pass]) && primal
        };
        ensure(self.lowest.as_ref().is_none_or(sound), "the weights with the lowest held-out loss")?;
        ensure(finite(&[self.seconds, self.pace]), "the times of held-out losses")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first of equal losses is kept, what follows is counted, and a lower one begins anew; P is known where these
    /// weights were the last to be evaluated.
    #[test]
    fn lowest_losses_are_kept() {
        let best = Best { w: vec![2.0], primal: Rounded::exact(0.5), proven: true, hinges: None };
        let mut watched = Watched::default();
        assert!(watched.report().is_none() && watched.mean_pace() == 0.0);
        for (k, (loss, since)) in [(0.4, 0), (0.4, 1), (0.5, 2), (0.3, 0), (0.3, 1)].into_iter().enumerate() {
            watched.count(loss, 1.0 + k as f64, &[if loss == 0.3 { 2.0 } else { 1.0 }], Some(&best));
            assert_eq!(watched.since, since, "{k}");
        }
        assert!(watched.is_over(1) && !watched.is_over(2));
        let report = watched.report().unwrap();
        assert_eq!((report.loss, report.pass, report.since, report.measurements), (0.3, 4.0, 1, 5));
        let lowest = watched.lowest.as_ref().unwrap();
        assert_eq!((lowest.w.as_slice(), lowest.primal.unwrap().1), (&[2.0][..], true));
        assert!(watched.check(1).is_ok() && watched.check(2).is_err());
        watched.seconds = f64::NAN;
        assert!(watched.check(1).is_err());
    }
}
