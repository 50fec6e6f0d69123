//! A block in hand: its mass moves over planes that were just scored.

use super::state::HullState;
use crate::average::UpdateKind;
use crate::dual::{BlockDual, BlockVisit, StepRule};
use crate::oracle::{Capabilities, Coded};
use crate::step::Step;

/// Pairwise steps that a block solve may make, for each plane.
const SOLVE_STEPS_PER_PLANE: usize = 20;

/// Further answers that one call may bring: nothing interrupts them.
const MOST_ANSWERS: usize = 64;

/// The direction of mass in one step of the block's QP.
#[derive(Clone, Copy, Debug)]
enum Direction {
    Toward,
    Away,
    Pairwise,
}

/// A block whose planes were just scored, and the best of them.
#[derive(Debug)]
pub struct HullVisit<'a> {
    hull: &'a mut HullState,
    block: usize,
    /// `None` is the truth.
    best: Option<usize>,
}

impl<'a> HullVisit<'a> {
    pub(super) fn new(hull: &'a mut HullState, block: usize) -> Self {
        let best = hull.qp(block).best();
        HullVisit { hull, block, best }
    }

    /// Makes `corner` the corner in the place of the best plane.
    #[cfg(test)]
    pub(super) fn at(self, corner: Option<usize>) -> Self {
        HullVisit { best: corner, ..self }
    }

    /// Takes the step of the largest gain.
    fn step_along_best(&mut self, from: Option<usize>, directions: &[Direction]) -> Step {
        let HullState { sets, truths, scores, constrained, work, .. } = &mut *self.hull;
        let truth = truths[self.block];
        work.scores.clone_from(scores);
        work.alphas.clear();
        work.alphas.extend_from_slice(sets.alphas(self.block));
        if let Some(part) = constrained {
            work.free.clone_from(&part.free);
        }
        let mut best = (Step::default(), None);
        for &direction in directions {
            let step = self.step_along(direction, from);
            if step.gain > best.0.gain {
                best = (step, Some(direction));
            }
            let HullState { sets, truths, scores, constrained, work, .. } = &mut *self.hull;
            scores.clone_from(&work.scores);
            sets.gram_and_alphas(self.block).1.copy_from_slice(&work.alphas);
            if let Some(part) = constrained {
                part.free.clone_from(&work.free);
            }
            truths[self.block] = truth;
        }
        best.1.map_or(best.0, |direction| self.step_along(direction, from))
    }

    fn step_along(&mut self, direction: Direction, from: Option<usize>) -> Step {
        let mut qp = self.hull.qp(self.block);
        match direction {
            Direction::Toward => qp.toward(self.best),
            Direction::Away => qp.away(from),
            Direction::Pairwise => qp.pairwise(self.best, from),
        }
    }

    fn solve(&mut self, tolerance: f64) -> Step {
        let mut qp = self.hull.qp(self.block);
        let steps = SOLVE_STEPS_PER_PLANE * (qp.scores.len() + 1);
        qp.solve(tolerance, steps)
    }

    /// Solves the block over all its labellings, not those kept alone, as far as the oracle can answer without a
    /// search: its next answer joins the planes while it scores higher than a plane with mass by more than `tolerance`.
    /// The block was just called for at iteration `now`, and has `before` as masses there. Returns the gain and the
    /// number of planes that joined.
    fn solve_on(&mut self, tolerance: f64, now: u32, source: &mut impl Capabilities) -> (f64, usize) {
        let (block, dim, mut gain, mut joined) = (self.block, self.hull.iterate.weights().len(), 0.0, 0);
        let mut answer = std::mem::take(&mut self.hull.work.answer);
        self.hull.work.alphas.clone_from(&self.hull.work.before);
        while joined < MOST_ANSWERS {
            let qp = self.hull.qp(block);
            let above = qp.score(qp.worst()) + tolerance;
            let HullState { iterate, sets, work, .. } = &mut *self.hull;
            let alphas = sets.alphas(block);
            work.alphas.resize(alphas.len(), 0.0);
            work.moved.clear();
            work.moved.extend(alphas.iter().zip(&work.alphas).map(|(now, then)| (then - now) / iterate.lambda()));
            work.alphas.copy_from_slice(alphas);
            let coded = if sets.by_code() { source.coded_planes() } else { None };
            let kept = Coded::new(sets.codes(block));
            let score = coded.and_then(|coded| coded.answer_after(block, kept, &work.moved, above, &mut answer));
            let Some(score) = score else { break };
            let planes = work.alphas.len();
            if answer.fault(dim).is_some() || self.hull.insert(block, &answer, now, source) != Some(planes) {
                break; // not usable, or kept already and solved for
            }
            joined += 1;
            self.hull.scores.push(score);
            gain += self.solve(tolerance).gain;
        }
        self.hull.work.before.resize(self.hull.sets.len(block), 0.0);
        self.hull.work.answer = answer;
        (gain, joined)
    }

    /// Does the work of [`step`](BlockVisit::step) and [`step_after_call`](BlockVisit::step_after_call); `called` is
    /// the iteration of the call. Returns the number of further planes, too.
    fn step_by(
        &mut self,
        rule: StepRule,
        mean_gap: f64,
        (kind, called): (UpdateKind, Option<u32>),
        source: &mut impl Capabilities,
    ) -> (Step, usize) {
        self.hull.work.before.clear();
        self.hull.work.before.extend_from_slice(self.hull.sets.alphas(self.block));
        let gap = self.gap();
        let worst = self.hull.qp(self.block).worst();
        let mut step = match rule {
            StepRule::FrankWolfe => self.step_along(Direction::Toward, worst),
            StepRule::Pairwise => self.step_along(Direction::Pairwise, worst),
            StepRule::Solve(solve) => self.solve(solve.accuracy * mean_gap),
            StepRule::Away => self.step_along_best(worst, &[Direction::Toward, Direction::Away]),
            StepRule::Best => self.step_along_best(worst, &[Direction::Toward, Direction::Away, Direction::Pairwise]),
        };
        let mut further = 0;
        if let (StepRule::Solve(solve), Some(now)) = (rule, called)
            && step.gamma > 0.0
        {
            let mean_gap = if mean_gap > 0.0 { mean_gap } else { gap }; // none is known in the first pass
            let (gain, joined) = self.solve_on(solve.accuracy * mean_gap, now, source);
            step.gain += gain;
            further = joined;
        }
        let HullState { iterate, sets, work, .. } = &mut *self.hull;
        if step.gamma > 0.0 {
            sets.move_iterate(self.block, &mut work.before, iterate, source);
            iterate.gain(step.gain); // what F rises is known from the moves
        }
        iterate.count(kind);
        (Step { gap, ..step }, further)
    }
}

impl BlockVisit for HullVisit<'_> {
    fn gap(&mut self) -> f64 {
        let corner_score = self.best.map_or(0.0, |p| self.hull.scores[p]);
        corner_score - self.hull.qp(self.block).mean()
    }
    fn touch(&mut self, now: u32) {
        if let Some(k) = self.best {
            self.hull.sets.touch(self.block, k, now);
        }
    }
    fn step(&mut self, rule: StepRule, mean_gap: f64, kind: UpdateKind, source: &mut impl Capabilities) -> Step {
        self.step_by(rule, mean_gap, (kind, None), source).0
    }
    fn step_after_call(
        &mut self,
        rule: StepRule,
        mean_gap: f64,
        now: u32,
        source: &mut impl Capabilities,
    ) -> (Step, usize) {
        self.step_by(rule, mean_gap, (UpdateKind::Exact, Some(now)), source)
    }
    fn prune_lowest(&mut self, limit: usize, _: &mut impl Capabilities) {
        self.hull.sets.prune_lowest(self.block, &mut self.hull.scores, limit); // scores have followed the steps
    }
}
