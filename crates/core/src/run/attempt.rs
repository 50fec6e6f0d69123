//! An attempt to prove the gap: picks an answer by its bound from the planes kept, then evaluates it block by block,
//! largest expected gap first, until `P` is known or out of the target's reach.
//!
//! The planes kept bound every hinge from below, so `P` has a lower bound before and during the evaluation, and
//! an attempt that cannot succeed may cost few calls. If the solver keeps what it finds, nothing is lost. A budget or
//! an interrupt suspends it; resuming gives the same result.

use super::attempt_state::{Attempt, PartialEvaluation};
use super::budget::Budget;
use super::candidate::{floors, least};
use super::evaluator::Evaluator;
use super::gap_predictor::Evaluate;
use super::outcome::{RunError, Stop};
use super::spent::{Spent, SpentMeter};
use super::training::Training;
use crate::certificate::GapTarget;
use crate::executor::{BatchItem, Reply};
use crate::oracle::MaxOracle;

/// An attempt looks every n / this many calls whether it can still succeed.
const LOOKS: usize = 32;

/// Fewest and most calls between two looks.
const CALLS_BETWEEN_LOOKS: (usize, usize) = (8, 2048);

/// After an evaluation that was proven only in part, passes grow by this factor before the next attempt.
const TRY_AGAIN: f64 = 1.25;

impl<O: MaxOracle> Evaluator<O> {
    /// Returns the target, if an evaluation may end the run by it.
    pub(super) fn target_in_reach(&self, stop: &Stop, training: &Training<O>) -> Option<GapTarget> {
        let (target, dual) = (stop.gap?, self.bounds.expected_dual(stop)?);
        let passes = training.passes();
        // The oracle may prove more at other weights; if it proved a part, retry now and then.
        let in_doubt = self.doubted.is_some_and(|(pass, partly)| !partly || passes < TRY_AGAIN * pass);
        if (in_doubt && !stop.estimated) || self.predictor.is_too_soon(passes) || !self.may_evaluate(training) {
            return None;
        }
        let (predictor, pace) = (&self.predictor, training.clock.pace());
        let gap_near = |seen| predictor.is_near(seen, target.at(dual + predictor.gap(seen)), pace);
        training.solver.progress().gap_seen.is_none_or(gap_near).then_some(target)
    }

    /// Tries to prove that the gap is at most `target`. Books what it takes: as training if the solver keeps what is
    /// found and the run goes on, else as evaluation. `tells`: observers hear of it even if it is broken off.
    pub(super) fn begin_attempt(
        &mut self,
        target: GapTarget,
        tells: bool,
        budget: Budget<'_>,
        training: &mut Training<O>,
    ) -> Result<(), RunError> {
        let meter = self.meter(training);
        let (candidate, other) = self.choose(training);
        self.other = other.map(|other| other.w).unwrap_or_default();
        let dual = self.bounds.expected_dual(budget.stop).unwrap_or(f64::NEG_INFINITY);
        let floor = least(&candidate.w, &candidate.floors, training);
        let seen = training.solver.progress().gap_seen; // before the attempt finds what is news to the solver
        if let Some(seen) = seen {
            self.predictor.learn_least(seen, floor - dual);
        }
        if floor - dual > target.at(floor) {
            self.bounds.least_gap = Some(floor - dual);
            self.candidate = candidate.w;
            let spent = self.book_since(&meter, 0, training);
            self.predictor.looked(spent, training.clock.pace());
            return Ok(());
        }
        let mut attempt = Attempt {
            target,
            tells,
            found: PartialEvaluation::new(&candidate.floors),
            candidate,
            gaps: gaps_seen(training),
            seen,
            seen_of_found: 0.0,
            dual,
            floor,
            least: floor,
            is_probe: self.predictor.is_unlearned(),
            expected: floor,
            excess: 0.0,
            next_look: calls_between_looks(training.blocks()),
            keeps: training.solver.keeper().is_some_and(|keeper| keeper.takes()),
            spent: Spent::default(),
        };
        self.book_part(&mut attempt, &meter, training);
        self.predictor.looked(attempt.spent, training.clock.pace());
        self.attempt = Some(attempt);
        self.go_on_with_attempt(budget, training)
    }

    /// Continues the attempt until it is decided, or a budget or an interrupt suspends it.
    pub(super) fn go_on_with_attempt(
        &mut self,
        budget: Budget<'_>,
        training: &mut Training<O>,
    ) -> Result<(), RunError> {
        let Some(mut attempt) = self.attempt.take() else { return Ok(()) };
        self.bounds.least_gap = Some(attempt.floor - attempt.dual);
        let (order, blocks) = (attempt.order(), attempt.found.hinges.len());
        while attempt.found.calls < blocks && !attempt.is_out_of_reach() {
            if budget.spent(self, training).is_some() {
                self.attempt = Some(attempt);
                return Ok(());
            }
            self.ask_until_look(&mut attempt, &order, budget, training)?;
        }
        self.end_attempt(attempt, budget.stop, training)
    }

    /// Calls for the next blocks, up to the next look or as far as batch and budget reach. Only looks decide anything,
    /// and work is charged call by call, so nothing depends on where batches end.
    fn ask_until_look(
        &mut self,
        attempt: &mut Attempt,
        order: &[u32],
        budget: Budget<'_>,
        training: &mut Training<O>,
    ) -> Result<(), RunError> {
        let meter = self.meter(training);
        let calls_left = if attempt.keeps { budget.training_calls_left(training) } else { usize::MAX };
        let room = calls_left.min(budget.calls_in_time(self, training));
        let done = attempt.found.calls;
        let look = attempt.next_look.min(order.len());
        let next = &order[done..look.min(done + self.hinges.batch_size().min(room).max(1))];
        let wanted = if attempt.keeps { Reply::Planes } else { self.hinges.wanted() };
        let w = training.regularizer.metric().weights(&attempt.candidate.w);
        self.hinges.ask(w, wanted, next, &mut attempt.found)?;
        let mut batch = std::mem::take(&mut self.hinges.batch);
        for item in &mut batch {
            attempt.excess += attempt.found.hinges[item.block] - attempt.candidate.floors[item.block];
            attempt.seen_of_found += attempt.gaps.as_ref().map_or(0.0, |gaps| gaps[item.block]);
            let of_plane = if attempt.keeps { give(item, training) } else { 0.0 };
            attempt.spent.add(self.charge_call(of_plane, attempt.keeps, training));
        }
        self.hinges.batch = batch;
        if attempt.found.calls == look {
            attempt.least = attempt.floor + attempt.excess;
            attempt.expected = attempt.floor + attempt.expected_excess();
            attempt.next_look = look + calls_between_looks(training.blocks());
        }
        attempt.spent.add(self.time_passed(&meter, attempt.keeps, training));
        Ok(())
    }

    /// Books the outcome of an attempt that is decided.
    fn end_attempt(&mut self, mut attempt: Attempt, stop: &Stop, training: &mut Training<O>) -> Result<(), RunError> {
        let meter = self.meter(training);
        let (calls, all) = (attempt.found.calls, attempt.found.hinges.len());
        // Learns the ratio of the gap to the gaps met; after an early end, from the blocks evaluated.
        if let Some(seen) = attempt.seen.filter(|_| calls > 0) {
            self.predictor.learn(seen, attempt.floor - attempt.dual + attempt.expected_excess());
        }
        let passes = training.passes();
        self.predictor.tried(passes);
        let w = std::mem::take(&mut attempt.candidate.w);
        if calls == all {
            let (proven, partly) = (attempt.found.proven, attempt.found.partly_proven);
            let found = std::mem::replace(&mut attempt.found, PartialEvaluation::new(&[]));
            let best = self.evaluated(w, found, training);
            self.settle(best, attempt.candidate.name(), stop, training)?;
            self.doubted = (!proven).then_some((passes, partly));
        } else {
            self.candidate = w;
        }
        self.book_part(&mut attempt, &meter, training);
        if attempt.keeps && self.bounds.gap_reached(stop) {
            self.move_to_evaluation(attempt.spent, calls as u64, training);
        }
        Ok(())
    }

    /// Books what a part of an attempt took, on the side to which it belongs while the run goes on.
    fn book_part(&mut self, attempt: &mut Attempt, meter: &SpentMeter, training: &mut Training<O>) {
        let spent = self.read(meter, 0, training);
        attempt.spent.add(spent);
        self.book(spent, 0, attempt.keeps, training);
    }

    /// Returns whether the last iterate's gap may be at most `gap`, so that a call for every example pays.
    pub(crate) fn may_have_gap(&mut self, gap: f64, training: &mut Training<O>) -> bool {
        training.clock.pause();
        if self.predictor.is_too_soon(training.passes()) {
            return false;
        }
        if !self.may_evaluate(training) || self.mode == Evaluate::Pass {
            return self.may_evaluate(training);
        }
        let progress = training.solver.progress();
        self.bounds.estimate = progress.gap_seen.map(|seen| self.predictor.gap(seen));
        let pace = training.clock.pace();
        let near = progress.gap_seen.is_none_or(|seen| self.predictor.is_near(seen, gap, pace));
        let Some(dual) = progress.dual.filter(|_| near) else { return false };
        let meter = self.meter(training);
        let w = &mut self.candidate;
        if let Some(solver) = training.solver.rescaling() {
            solver.point(w);
        }
        let least = least(w, &floors(w, training), training) - dual;
        if let Some(seen) = progress.gap_seen {
            self.predictor.learn_least(seen, least);
        }
        let spent = self.book_since(&meter, 0, training);
        self.predictor.looked(spent, training.clock.pace());
        least <= gap
    }

    /// Learns from the proven gap of the present point.
    pub(crate) fn learn_gap(&mut self, gap: f64, training: &Training<O>) {
        self.predictor.tried(training.passes());
        if let Some(seen) = training.solver.progress().gap_seen {
            self.predictor.learn(seen, gap);
        }
    }
}

fn calls_between_looks(blocks: usize) -> usize {
    (blocks / LOOKS).clamp(CALLS_BETWEEN_LOOKS.0, CALLS_BETWEEN_LOOKS.1)
}

/// Returns the gaps last seen, by block; `None` if the solver keeps no planes.
fn gaps_seen<O: MaxOracle>(training: &mut Training<O>) -> Option<Vec<f64>> {
    let blocks = training.blocks();
    let keeper = training.solver.keeper()?;
    Some((0..blocks).map(|block| keeper.gap_seen(block)).collect())
}

/// Gives an answer to the solver; returns the work that it made.
pub(super) fn give<O: MaxOracle>(item: &mut BatchItem, training: &mut Training<O>) -> f64 {
    let before = training.clock.work();
    let (solver, mut ctx, _) = training.parts();
    if let Some(keeper) = solver.keeper() {
        keeper.take(item.block, &mut item.plane, &mut ctx);
    }
    training.clock.work() - before
}
