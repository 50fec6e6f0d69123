//! The evaluation side of a run: bounds of the solver's answers by an oracle of its own, and what they cost.

use super::attempt_state::{Attempt, PartialEvaluation};
use super::bounds::{RunBounds, primal_at_zero};
use super::gap_predictor::{Evaluate, GapPredictor};
use super::hinges::EvaluationOracle;
use super::outcome::{Best, KnownHinges, RunError, Stop};
use super::spent::{EvaluationCost, Spent, SpentMeter};
use super::training::Training;
use crate::clock::ClockKind;
use crate::oracle::MaxOracle;
use crate::rounding::{Rounded, Rounding};

/// An evaluation goes on after an interrupt if what is left of it takes no longer than this, in seconds.
pub(super) const PATIENCE_SECONDS: f64 = 2.0;

/// The bounds of a run, and everything that finds them.
pub(crate) struct Evaluator<O> {
    pub(super) hinges: EvaluationOracle<O>,
    pub(super) mode: Evaluate,
    pub(super) bounds: RunBounds,
    pub(super) cost: EvaluationCost,
    pub(super) predictor: GapPredictor,
    /// An attempt that a budget or an interrupt has suspended.
    pub(super) attempt: Option<Attempt>,
    /// The pass of the last complete attempt if it had unproven answers, and whether some were proven.
    pub(super) doubted: Option<(f64, bool)>,
    /// The weights that were evaluated last, or others that are needed no more.
    pub(super) candidate: Vec<f64>,
    pub(super) other: Vec<f64>,
}

impl<O: MaxOracle> Evaluator<O> {
    /// Evaluates with `oracle`, one of the problem that `training` is on.
    pub(super) fn new(mut oracle: O, training: &mut Training<O>) -> Self {
        let magnitudes = oracle.capabilities().and_then(|known| known.magnitudes());
        let rounding = Rounding::new(oracle.blocks(), magnitudes);
        let (zero, online) = (primal_at_zero(training), !training.solver.facts().minimises);
        Evaluator {
            hinges: EvaluationOracle::new(oracle, rounding.needs_planes()),
            mode: Evaluate::default(),
            bounds: RunBounds::new(zero, online, rounding),
            cost: EvaluationCost::default(),
            predictor: GapPredictor::new(),
            attempt: None,
            doubted: None,
            candidate: Vec::new(),
            other: Vec::new(),
        }
    }

    /// Forgets what is known of P and F.
    pub(super) fn forget(&mut self, training: &Training<O>) {
        self.bounds.forget(training.passes());
        (self.attempt, self.doubted) = (None, None);
    }

    /// Returns whether the present answer was evaluated.
    pub(super) fn is_up_to_date(&self, training: &Training<O>) -> bool {
        self.bounds.evaluated_at == Some(training.steps)
    }

    /// Returns whether evaluation has taken no longer than training, so that bounds may be evaluated.
    pub(super) fn may_evaluate(&self, training: &Training<O>) -> bool {
        self.cost.pace <= training.clock.pace()
    }

    /// Begins to time an evaluation.
    pub(crate) fn meter(&self, training: &Training<O>) -> SpentMeter {
        SpentMeter::start(self.hinges.latency, training.clock.work())
    }

    /// Returns what was spent since, with `calls` of the evaluation oracle; work on planes goes off the training clock.
    pub(crate) fn read(&self, meter: &SpentMeter, calls: u64, training: &mut Training<O>) -> Spent {
        let clock = &mut training.clock;
        let on_planes = meter.work(clock.work());
        clock.charge(-on_planes);
        let of_calls = calls as f64 * self.hinges.price();
        let work = on_planes + of_calls;
        match clock.kind() {
            ClockKind::Wall => {
                let timed = meter.timed(self.hinges.latency);
                Spent { pace: if clock.decides_by_work() { work } else { timed.pace }, work, ..timed }
            }
            ClockKind::Work => Spent { seconds: work, answers: of_calls, hidden: 0.0, pace: work, work },
        }
    }

    /// Books what was spent since as evaluation.
    pub(crate) fn book_since(&mut self, meter: &SpentMeter, calls: u64, training: &mut Training<O>) -> Spent {
        let spent = self.read(meter, calls, training);
        self.cost.book(spent, calls);
        spent
    }

    /// Books a call of an evaluation in parts and its price, as training (the plane's work is charged already) or as
    /// evaluation. Its time is booked by [`time_passed`](Evaluator::time_passed).
    pub(super) fn charge_call(&mut self, of_plane: f64, as_training: bool, training: &mut Training<O>) -> Spent {
        let price = self.hinges.price();
        let work = price + of_plane;
        let shown = if training.clock.kind() == ClockKind::Work { (work, price) } else { (0.0, 0.0) };
        let pace = if training.clock.decides_by_work() { work } else { 0.0 };
        let spent = Spent { seconds: shown.0, answers: shown.1, hidden: 0.0, pace, work };
        if as_training {
            training.counts.book(1, shown.1, 0.0);
            training.clock.charge(price);
        } else {
            self.cost.book(spent, 1);
        }
        spent
    }

    /// Books the time of a part of an evaluation, as far as that is measured.
    pub(super) fn time_passed(&mut self, meter: &SpentMeter, as_training: bool, training: &mut Training<O>) -> Spent {
        if training.clock.kind() == ClockKind::Work {
            return Spent::default();
        }
        let timed = meter.timed(self.hinges.latency);
        let spent = Spent { pace: if training.clock.decides_by_work() { 0.0 } else { timed.pace }, ..timed };
        self.book(spent, 0, as_training, training);
        spent
    }

    /// Books calls and what they took as training or as evaluation.
    pub(super) fn book(&mut self, spent: Spent, calls: u64, as_training: bool, training: &mut Training<O>) {
        match as_training {
            true => training.book(spent, calls),
            false => self.cost.book(spent, calls),
        }
    }

    /// Moves calls that were booked as training to evaluation.
    pub(super) fn move_to_evaluation(&mut self, spent: Spent, calls: u64, training: &mut Training<O>) {
        training.take_back(spent, calls);
        self.cost.book(spent, calls);
    }

    /// Moves calls that were booked as evaluation to training.
    pub(crate) fn move_to_training(&mut self, spent: Spent, calls: u64, training: &mut Training<O>) {
        self.cost.take_back(spent, calls);
        training.book(spent, calls);
    }

    /// Proves the solver's present dual value, off the training clock.
    pub(super) fn prove_dual(&mut self, training: &mut Training<O>) -> Result<(), RunError> {
        let meter = self.meter(training);
        self.bounds.prove_dual(training);
        self.book_since(&meter, 0, training);
        self.bounds.check_duality()
    }

    /// Returns the dual values of the solver's points, each with a bound on its rounding.
    pub(crate) fn rounded_duals(&self, training: &mut Training<O>) -> Vec<Rounded> {
        self.bounds.rounded_duals(training)
    }

    /// Returns P at `w` by one call per example, with a bound on its rounding, and whether the oracle vouches for it
    /// being no less than the true P.
    pub(crate) fn primal(&mut self, w: &[f64], training: &Training<O>) -> Result<(Rounded, bool), RunError> {
        let hinges = self.hinges.sum(training.regularizer.metric().weights(w))?;
        let primal = self.bounds.rounding.primal(&training.regularizer, w, hinges.sum, hinges.seen);
        if primal.value.is_finite() { Ok((primal, hinges.proven)) } else { Err(RunError::NotFinite(primal.value)) }
    }

    /// Returns P at `w`, whose hinges are all in `found`, with a bound on its rounding.
    pub(super) fn primal_of(&self, w: &[f64], found: &PartialEvaluation, training: &Training<O>) -> Rounded {
        self.bounds.rounding.primal(&training.regularizer, w, found.hinges.iter().sum::<f64>(), found.terms)
    }

    /// Returns these weights, whose hinges are all in `found`, with P.
    pub(super) fn evaluated(&self, w: Vec<f64>, found: PartialEvaluation, training: &Training<O>) -> Best {
        let (primal, proven) = (self.primal_of(&w, &found, training), found.proven);
        Best { w, primal, proven, hinges: Some(KnownHinges { hinges: found.hinges, terms: found.terms }) }
    }

    /// Calls for `blocks` in turn at `w` and adds their answers to `found`. Returns whether all were asked for: an
    /// interrupt ends it if the rest would take too long, judged by the mean call.
    pub(super) fn ask_patiently(
        &mut self,
        w: &[f64],
        blocks: &[u32],
        found: &mut PartialEvaluation,
        stop: &Stop,
        training: &Training<O>,
    ) -> Result<bool, RunError> {
        let w = training.regularizer.metric().weights(w);
        let mut left = blocks;
        while !left.is_empty() {
            let size = match self.hinges.latency.mean().or(training.counts.single_call()) {
                _ if !stop.is_interrupted() => self.hinges.batch_size(),
                Some(call) if left.len() as f64 * call > PATIENCE_SECONDS => return Ok(false),
                Some(_) => self.hinges.batch_size(),
                None => 1,
            };
            let (next, rest) = left.split_at(size.min(left.len()));
            self.hinges.ask(w, self.hinges.wanted(), next, found)?;
            left = rest;
        }
        Ok(true)
    }

    /// Takes in a primal value with its weights, which are the solver's answer of this name, and proves the dual value
    /// that goes with it.
    pub(super) fn settle(
        &mut self,
        found: Best,
        answer: Option<&'static str>,
        stop: &Stop,
        training: &mut Training<O>,
    ) -> Result<(), RunError> {
        if !found.primal.value.is_finite() {
            return Err(RunError::NotFinite(found.primal.value));
        }
        let keeps_latest = self.bounds.keeps_latest(stop, training);
        self.candidate = self.bounds.settle(found, answer, keeps_latest);
        self.bounds.evaluated_at = Some(training.steps);
        self.bounds.prove_dual(training);
        self.bounds.check_duality()
    }

    /// Takes in the primal value that the calls of the outer iteration have found by themselves; `false` if there is
    /// none.
    pub(super) fn take_pass_value(&mut self, stop: &Stop, training: &mut Training<O>) -> Result<bool, RunError> {
        let meter = self.meter(training);
        let Some(found) = training.solver.pass_value() else { return Ok(false) };
        let primal = self.bounds.rounding.primal(&training.regularizer, found.w, found.hinges, found.terms);
        let best = Best { w: found.w.to_vec(), primal, proven: found.proven, hinges: None };
        self.settle(best, None, stop, training)?;
        self.book_since(&meter, 0, training);
        Ok(true)
    }

    /// Evaluates all answers of the solver, off the training clock; nothing of it reaches the solver.
    pub(super) fn evaluate_aside(&mut self, stop: &Stop, training: &mut Training<O>) -> Result<(), RunError> {
        let meter = self.meter(training);
        let mut candidate = std::mem::take(&mut self.candidate);
        training.solver.answer(&mut candidate);
        let mut found = self.primal(&candidate, training)?;
        let mut calls = training.blocks() as u64;
        let mut other = std::mem::take(&mut self.other);
        let mut answer = None;
        if training.solver.alternative(&mut other).is_some() {
            let (primal, proven) = self.primal(&other, training)?;
            calls *= 2;
            answer = Some("last");
            if proven >= found.1 && primal.upper() < found.0.upper() {
                (found, answer) = ((primal, proven), Some("average"));
                std::mem::swap(&mut candidate, &mut other);
            }
        }
        self.other = other;
        let (primal, proven) = found;
        self.settle(Best { w: candidate, primal, proven, hinges: None }, answer, stop, training)?;
        self.book_since(&meter, calls, training);
        Ok(())
    }

    /// Returns P at `w` and whether it is proven, by a call for every example; `None` after an interrupt.
    pub(super) fn evaluate_at(
        &mut self,
        w: &[f64],
        stop: &Stop,
        training: &mut Training<O>,
    ) -> Result<Option<(Rounded, bool)>, RunError> {
        let meter = self.meter(training);
        let blocks: Vec<u32> = (0..training.blocks() as u32).collect();
        let mut found = PartialEvaluation::new(&vec![0.0; blocks.len()]);
        let mut primal = None;
        if self.ask_patiently(w, &blocks, &mut found, stop, training)? {
            let value = self.primal_of(w, &found, training);
            if !value.value.is_finite() {
                return Err(RunError::NotFinite(value.value));
            }
            primal = Some((value, found.proven));
        }
        self.book_since(&meter, found.calls as u64, training);
        Ok(primal)
    }
}
