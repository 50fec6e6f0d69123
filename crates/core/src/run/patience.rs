//! Early stopping: the iterate with the lowest loss on held-out data is kept aside, and a run ends once that loss has not
//! fallen for so many measurements.
//!
//! A measurement is a prediction of every example held out, at the end of an outer iteration: at most one a pass, and
//! none while measuring has taken more than training and its evaluation. It costs no call of the oracle, and nothing that
//! is found reaches the solver. What it may take goes by prices where these are known, so that the same command ends at
//! the same pass (ADR 0056).

use super::driver::Run;
use super::outcome::{Best, RunError};
use super::stop::StopReason;
use super::under_way::Asked;
use super::watched::Lowest;
use crate::clock::{ClockKind, Stopwatch};
use crate::observe::EarlyStopping;
use crate::oracle::MaxOracle;

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
        if self.watched.pace + self.watched.mean_pace() > spent || self.is_measuring_beyond_seconds() {
            return Ok(None);
        }
        self.measure_held_out()
    }

    /// Whether another measurement would go beyond the budget of seconds; the first one is needed whatever it takes.
    fn is_measuring_beyond_seconds(&self) -> bool {
        let beyond = |limit| self.seconds_paid() + self.watched.mean_seconds() > limit;
        self.watched.lowest.is_some() && self.stop.seconds.is_some_and(beyond)
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
        if self.is_watching() && !is_measured && !self.is_measuring_beyond_seconds() {
            self.measure_held_out()?;
        }
        let must = matches!(stop_reason, StopReason::Gap | StopReason::Patience);
        if self.is_watching()
            && let Some(mut lowest) = self.watched.lowest.take()
        {
            let is_due = lowest.primal.is_none() && (must || self.has_room_for_evaluation(stop_reason));
            let evaluated = if is_due { self.evaluate_lowest(&mut lowest) } else { Ok(()) };
            self.watched.lowest = Some(lowest); // an oracle that fails now does not take the choice back
            evaluated?;
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
