//! Early stopping: the iterate with the lowest loss on held-out data is kept aside, and a run ends once that loss has not
//! fallen for so many measurements.
//!
//! A measurement is a prediction of every example held out, at the end of an outer iteration: at most one a pass, and
//! none while measuring has taken more than training and its evaluation. It costs no call of the oracle, and nothing that
//! is found reaches the solver. What it may take goes by prices where these are known, so that the same command ends at
//! the same pass (ADR 0056).

use serde::{Deserialize, Serialize};

use super::driver::Run;
use super::outcome::{Best, RunError};
use super::stop::StopReason;
use super::under_way::Asked;
use crate::clock::{ClockKind, Stopwatch};
use crate::observe::EarlyStopping;
use crate::oracle::MaxOracle;
use crate::rounding::Rounded;
use crate::state::{StateError, ensure, finite};

/// The iterate with the lowest held-out loss, the first of them where there are several.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Lowest {
    w: Vec<f64>,
    loss: f64,
    pass: f64,
    /// P there and whether it is proven, where the run has evaluated that anyway.
    primal: Option<(Rounded, bool)>,
}

/// What is known of the loss on held-out data.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Watched {
    lowest: Option<Lowest>,
    measurements: u64,
    /// Measurements since the lowest.
    since: u64,
    /// The pass, as a whole number, and the step after which the last one was made.
    pass: Option<u64>,
    step: Option<u64>,
    /// What all of them took, in seconds and as decisions go by it.
    pub(super) seconds: f64,
    pace: f64,
}

impl Watched {
    /// Counts a loss, which `w` has; ties go to the earlier iterate.
    fn count(&mut self, loss: f64, pass: f64, w: &[f64], best: Option<&Best>) {
        self.measurements += 1;
        if self.lowest.as_ref().is_some_and(|lowest| loss >= lowest.loss) {
            self.since += 1;
            return;
        }
        let primal = best.filter(|best| best.w == w).map(|best| (best.primal, best.proven));
        (self.lowest, self.since) = (Some(Lowest { w: w.to_vec(), loss, pass, primal }), 0);
    }

    /// Whether the lowest loss has stood for so many measurements.
    fn is_over(&self, patience: u64) -> bool {
        self.since >= patience
    }

    /// What a measurement took in the mean, as decisions go by it; 0 before the first.
    fn mean_pace(&self) -> f64 {
        self.pace / self.measurements.max(1) as f64
    }

    /// What a measurement took in the mean, in seconds; 0 before the first.
    pub(super) fn mean_seconds(&self) -> f64 {
        self.seconds / self.measurements.max(1) as f64
    }

    /// What is told of it.
    fn told(&self) -> Option<EarlyStopping> {
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

impl<O: MaxOracle> Run<O> {
    /// Whether held-out data decide what is saved.
    pub(super) fn is_watching(&self) -> bool {
        self.stop.patience.is_some() && self.losses.test.is_some()
    }

    /// Whether patience has ended.
    pub(super) fn is_out_of_patience(&self) -> bool {
        self.is_watching() && self.stop.patience.is_some_and(|patience| self.watched.is_over(patience))
    }

    /// What is told of held-out data, where these decide.
    pub(super) fn early_stopping(&self) -> Option<EarlyStopping> {
        self.watched.told().filter(|_| self.is_watching())
    }

    /// Measures the loss on held-out data if that is due; the weights that have it are left in `candidate`.
    pub(super) fn watch(&mut self) -> Result<Option<f64>, RunError> {
        if !self.is_watching() || self.watched.pass == Some(self.whole_passes()) {
            return Ok(None);
        }
        let spent = self.clock.pace() + self.evaluation_pace;
        if self.watched.pace + self.watched.mean_pace() > spent {
            return Ok(None);
        }
        self.measure_held_out()
    }

    /// The passes so far, rounded: outer iterations that leave out a few blocks are still one each.
    fn whole_passes(&self) -> u64 {
        let n = self.oracle.blocks() as u64;
        (self.visits() + n / 2) / n
    }

    /// Measures the present answers on held-out data and counts the lower loss.
    fn measure_held_out(&mut self) -> Result<Option<f64>, RunError> {
        let Some(mut meter) = self.losses.test.take() else { return Ok(None) };
        let stopwatch = Stopwatch::start();
        self.solver.catch_up();
        self.solver.answer(&mut self.candidate);
        let mut losses = vec![meter(&self.candidate)];
        if self.solver.alternative(&mut self.other).is_some() {
            losses.push(meter(&self.other));
        }
        self.losses.test = Some(meter);
        let (seconds, pace) = self.spent_on_measuring(&stopwatch, losses.len());
        self.watched.seconds += seconds;
        self.watched.pace += pace;
        (self.watched.pass, self.watched.step) = (Some(self.whole_passes()), Some(self.steps));
        let losses = losses.into_iter().collect::<Result<Vec<_>, _>>()?;
        let Some(mut loss) = losses[0].filter(|loss| loss.is_finite()) else { return Ok(None) };
        if let Some(&Some(other)) = losses.get(1)
            && other < loss
        {
            loss = other;
            std::mem::swap(&mut self.candidate, &mut self.other);
        }
        self.watched.count(loss, self.passes(), &self.candidate, self.best.as_ref());
        Ok(Some(loss))
    }

    /// Returns what so many predictions of the held-out data took, in seconds and as decisions go by it.
    fn spent_on_measuring(&self, stopwatch: &Stopwatch, answers: usize) -> (f64, f64) {
        let work = self.evaluation_oracle.prices().call * (answers * self.losses.test_examples) as f64;
        let by_work = (self.clock.kind() == ClockKind::Work, self.clock.decides_by_work());
        let passed = stopwatch.seconds();
        (if by_work.0 { work } else { passed }, if by_work.1 { work } else { passed })
    }

    /// Ends the watch: measures the last answer as well, and evaluates P at the weights that were best. Where there is no room for
    /// that, P stays unknown.
    pub(super) fn end_watch(&mut self, stop_reason: StopReason) -> Result<(), RunError> {
        let is_measured = self.watched.step == Some(self.steps) || stop_reason == StopReason::Interrupt;
        if self.is_watching() && !is_measured {
            self.measure_held_out()?;
        }
        let must = matches!(stop_reason, StopReason::Gap | StopReason::Patience);
        if self.is_watching()
            && let Some(mut lowest) = self.watched.lowest.take()
        {
            if lowest.primal.is_none() && (must || self.has_room_for_evaluation(stop_reason)) {
                self.evaluate_lowest(&mut lowest)?;
            }
            self.watched.lowest = Some(lowest);
        }
        Ok(())
    }

    /// Evaluates P with a call for every example; an interrupt may leave it without a value.
    fn evaluate_lowest(&mut self, lowest: &mut Lowest) -> Result<(), RunError> {
        let meter = self.meter();
        let blocks: Vec<u32> = (0..self.oracle.blocks() as u32).collect();
        let mut asked = Asked::new(&vec![0.0; blocks.len()]);
        if self.ask_patiently(&lowest.w, &blocks, &mut asked)? {
            let hinges = asked.hinges.iter().sum::<f64>();
            let primal = self.rounding.primal(&self.regularizer, &lowest.w, hinges, asked.terms);
            if !primal.value.is_finite() {
                return Err(RunError::NotFinite(primal.value));
            }
            lowest.primal = Some((primal, asked.proven));
        }
        let calls = asked.calls as u64;
        let spent = self.read(&meter, calls);
        self.book(spent, calls);
        Ok(())
    }

    /// Has the weights with the lowest held-out loss answer for the run, where these are watched: P is theirs from here on.
    pub(super) fn choose_lowest(&mut self) {
        if let (true, Some(lowest)) = (self.is_watching(), &self.watched.lowest) {
            let w = lowest.w.clone();
            self.noise = lowest.primal.map_or(0.0, |(primal, _)| primal.rounding);
            self.best = lowest.primal.map(|(primal, proven)| Best { w: w.clone(), primal, proven });
            self.chosen = Some(w);
        }
    }

    /// Tells the observers of the weights chosen, with the bounds that the run ends with.
    pub(super) fn record_chosen(&mut self) -> Result<(), RunError> {
        let loss = self.early_stopping().map(|told| told.loss);
        if let Some(w) = &self.chosen {
            self.candidate.clone_from(w);
        }
        let losses = self.measure_losses(false, loss)?;
        self.record(self.certificate(), losses, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first of equal losses is kept, what follows is counted, and a lower one begins anew; P is known where these weights
    /// were the last to be evaluated.
    #[test]
    fn lowest_losses_are_kept() {
        let best = Best { w: vec![2.0], primal: Rounded::exact(0.5), proven: true };
        let mut watched = Watched::default();
        assert!(watched.told().is_none() && watched.mean_pace() == 0.0);
        for (k, (loss, since)) in [(0.4, 0), (0.4, 1), (0.5, 2), (0.3, 0), (0.3, 1)].into_iter().enumerate() {
            watched.count(loss, 1.0 + k as f64, &[if loss == 0.3 { 2.0 } else { 1.0 }], Some(&best));
            assert_eq!(watched.since, since, "{k}");
        }
        assert!(watched.is_over(1) && !watched.is_over(2));
        let told = watched.told().unwrap();
        assert_eq!((told.loss, told.pass, told.since, told.measurements), (0.3, 4.0, 1, 5));
        let lowest = watched.lowest.as_ref().unwrap();
        assert_eq!((lowest.w.as_slice(), lowest.primal.unwrap().1), (&[2.0][..], true));
        assert!(watched.check(1).is_ok() && watched.check(2).is_err());
        watched.seconds = f64::NAN;
        assert!(watched.check(1).is_err());
    }
}
