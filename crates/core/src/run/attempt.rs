//! An attempt to prove the gap: one answer is chosen by what the planes kept say of it, and evaluated block by block, from
//! the largest gap expected to the smallest, until the bound is complete or can no longer reach the target.
//!
//! The planes kept bound every hinge from below, so `P` is known from below before and during the evaluation; an attempt
//! that cannot succeed costs a few calls. What it has found is not lost where the solver keeps it. A budget or an
//! interrupt suspends it, and the run goes on with it as if nothing had been.

use super::booking::Meter;
use super::driver::Run;
use super::moment::Evaluate;
use super::outcome::RunError;
use super::stop::GapTarget;
use super::under_way::{Asked, Attempt, Spent};
use crate::executor::{BatchItem, Reply};
use crate::oracle::MaxOracle;

/// An attempt looks every n / this many calls whether it can still succeed.
const LOOKS: usize = 32;

/// Fewest and most calls between two looks.
const CALLS_BETWEEN_LOOKS: (usize, usize) = (8, 2048);

impl<O: MaxOracle> Run<O> {
    /// Tries to prove that the gap is at most `target`. Books what it takes: as training where the solver keeps what is
    /// found and the run goes on, else as evaluation. `tells`: observers hear of it even if it is broken off.
    pub(super) fn attempt(&mut self, target: GapTarget, tells: bool) -> Result<(), RunError> {
        let meter = self.meter();
        let (candidate, other) = self.choose();
        self.other = other.map(|other| other.w).unwrap_or_default();
        let dual = self.expected_dual().unwrap_or(f64::NEG_INFINITY);
        let floor = self.least(&candidate.w, &candidate.floors);
        let seen = self.solver.progress().gap_seen; // before the attempt finds what is news to the solver
        if let Some(seen) = seen {
            self.forecast.learn_least(seen, floor - dual);
        }
        if floor - dual > target.at(floor) {
            self.least_gap = Some(floor - dual);
            self.candidate = candidate.w;
            let spent = self.read(&meter, 0);
            self.forecast.looked(spent, self.clock.pace());
            self.book(spent, 0);
            return Ok(());
        }
        let mut attempt = Attempt {
            target,
            tells,
            asked: Asked::new(&candidate.floors),
            candidate,
            gaps: self.gaps_seen(),
            seen,
            seen_of_asked: 0.0,
            dual,
            floor,
            least: floor,
            is_probe: self.forecast.is_unlearned(),
            expected: floor,
            excess: 0.0,
            next_look: self.calls_between_looks(),
            keeps: self.keeps_evaluations(),
            spent: Spent::default(),
        };
        self.book_part(&mut attempt, &meter, 0);
        self.forecast.looked(attempt.spent, self.clock.pace());
        self.attempt = Some(attempt);
        self.go_on_with_attempt()
    }

    /// Goes on with the attempt under way until it is decided, or a budget or an interrupt suspends it.
    pub(super) fn go_on_with_attempt(&mut self) -> Result<(), RunError> {
        let Some(mut attempt) = self.attempt.take() else { return Ok(()) };
        self.least_gap = Some(attempt.floor - attempt.dual);
        let (order, blocks) = (attempt.order(), attempt.asked.hinges.len());
        while attempt.asked.calls < blocks && !attempt.is_out_of_reach() {
            if self.spent().is_some() {
                self.attempt = Some(attempt);
                return Ok(());
            }
            self.ask_until_look(&mut attempt, &order)?;
        }
        self.end_attempt(attempt)
    }

    /// Calls for the next blocks, up to the next look or as far as batch and budget reach. Only looks decide anything, and
    /// work is charged call by call, so nothing depends on where batches end.
    fn ask_until_look(&mut self, attempt: &mut Attempt, order: &[u32]) -> Result<(), RunError> {
        let meter = self.meter();
        let room = if attempt.keeps { self.training_calls_left() } else { usize::MAX }.min(self.calls_in_time());
        let done = attempt.asked.calls;
        let look = attempt.next_look.min(order.len());
        let next = &order[done..look.min(done + self.batch_size().min(room).max(1))];
        let wanted = if attempt.keeps { Reply::Planes } else { self.wanted() };
        self.ask(&attempt.candidate.w, wanted, next, &mut attempt.asked)?;
        let mut batch = std::mem::take(&mut self.batch);
        for item in &mut batch {
            attempt.excess += attempt.asked.hinges[item.block] - attempt.candidate.floors[item.block];
            attempt.seen_of_asked += attempt.gaps.as_ref().map_or(0.0, |gaps| gaps[item.block]);
            let of_planes = if attempt.keeps { self.give(item) } else { 0.0 };
            let spent = self.charge_call(of_planes, attempt.keeps);
            attempt.spent.add(spent);
        }
        self.batch = batch;
        if attempt.asked.calls == look {
            attempt.least = attempt.floor + attempt.excess;
            attempt.expected = attempt.floor + attempt.expected_excess();
            attempt.next_look = look + self.calls_between_looks();
        }
        let spent = self.time_passed(&meter, attempt.keeps);
        attempt.spent.add(spent);
        Ok(())
    }

    /// Books the outcome of an attempt that is decided.
    fn end_attempt(&mut self, mut attempt: Attempt) -> Result<(), RunError> {
        let meter = self.meter();
        self.learn(&attempt);
        self.forecast.tried(self.passes());
        let (calls, all) = (attempt.asked.calls, attempt.asked.hinges.len());
        let w = std::mem::take(&mut attempt.candidate.w);
        if calls == all {
            let hinges = attempt.asked.hinges.iter().sum::<f64>();
            let primal = self.rounding.primal(&self.regularizer, &w, hinges, attempt.asked.terms);
            self.settle(w, primal, attempt.asked.proven, attempt.candidate.name())?;
            self.doubted = (!attempt.asked.proven).then_some((self.passes(), attempt.asked.partly_proven));
        } else {
            self.candidate = w;
        }
        self.book_part(&mut attempt, &meter, 0);
        if attempt.keeps && self.gap_reached() {
            self.move_to_evaluation(attempt.spent, calls as u64);
        }
        Ok(())
    }

    /// Books what a part of an attempt took, on the side where it belongs while the run goes on.
    fn book_part(&mut self, attempt: &mut Attempt, meter: &Meter, calls: u64) {
        let spent = self.read(meter, calls);
        attempt.spent.add(spent);
        match attempt.keeps {
            true => self.book_training(spent, calls),
            false => self.book(spent, calls),
        }
    }

    fn calls_between_looks(&self) -> usize {
        (self.oracle.blocks() / LOOKS).clamp(CALLS_BETWEEN_LOOKS.0, CALLS_BETWEEN_LOOKS.1)
    }

    /// Learns how the gap relates to what the visits met; from an attempt broken off by what its blocks came to.
    fn learn(&mut self, attempt: &Attempt) {
        let Some(seen) = attempt.seen else { return };
        if attempt.asked.calls == 0 {
            return;
        }
        self.forecast.learn(seen, attempt.floor - attempt.dual + attempt.expected_excess());
    }

    /// Whether the gap of the present point, no average, may be as small as this: worth a call for every example.
    pub(crate) fn may_have_gap(&mut self, gap: f64) -> bool {
        self.pause();
        if self.forecast.is_too_soon(self.passes()) {
            return false;
        }
        if !self.may_evaluate() || self.evaluate == Evaluate::Pass {
            return self.may_evaluate();
        }
        let progress = self.solver.progress();
        self.estimate = progress.gap_seen.map(|seen| self.forecast.gap(seen));
        let (passes, pace) = (self.passes(), self.clock.pace());
        let near = progress.gap_seen.is_none_or(|seen| self.forecast.is_near(seen, gap, passes, pace));
        let Some(dual) = progress.dual.filter(|_| near) else { return false };
        let meter = self.meter();
        let mut w = std::mem::take(&mut self.candidate);
        if let Some(solver) = self.solver.rescaling() {
            solver.point(&mut w);
        }
        let floors = self.floors(&w);
        let least = self.least(&w, &floors) - dual;
        self.candidate = w;
        if let Some(seen) = progress.gap_seen {
            self.forecast.learn_least(seen, least);
        }
        let spent = self.read(&meter, 0);
        self.forecast.looked(spent, self.clock.pace());
        self.book(spent, 0);
        least <= gap
    }

    /// Learns from the proven gap of the present point.
    pub(crate) fn learn_gap(&mut self, gap: f64) {
        self.forecast.tried(self.passes());
        if let Some(seen) = self.solver.progress().gap_seen {
            self.forecast.learn(seen, gap);
        }
    }

    /// Whether the solver keeps what an attempt finds.
    fn keeps_evaluations(&mut self) -> bool {
        self.solver.keeper().is_some_and(|keeper| keeper.takes())
    }

    fn gaps_seen(&mut self) -> Option<Vec<f64>> {
        let blocks = self.oracle.blocks();
        let keeper = self.solver.keeper()?;
        Some((0..blocks).map(|block| keeper.gap_seen(block)).collect())
    }

    /// Gives an answer to the solver; returns the work that it made.
    fn give(&mut self, item: &mut BatchItem) -> f64 {
        let before = self.clock.work();
        let (solver, mut ctx, _) = self.parts();
        if let Some(keeper) = solver.keeper() {
            keeper.take(item.block, &mut item.plane, &mut ctx);
        }
        self.clock.work() - before
    }
}
