//! A block in hand: its mass moves over planes that were just scored.

use super::state::HullState;
use crate::average::UpdateKind;
use crate::dual::{BlockVisit, StepRule};
use crate::oracle::Capabilities;
use crate::step::Step;

/// Pairwise steps that a block solve may make, for each plane.
const SOLVE_STEPS_PER_PLANE: usize = 20;

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
        self.hull.work.before.clear();
        self.hull.work.before.extend_from_slice(self.hull.sets.alphas(self.block));
        let gap = self.gap();
        let worst = self.hull.qp(self.block).worst();
        let step = match rule {
            StepRule::FrankWolfe => self.step_along(Direction::Toward, worst),
            StepRule::Pairwise => self.step_along(Direction::Pairwise, worst),
            StepRule::Solve(solve) => self.solve(solve.accuracy * mean_gap),
            StepRule::Away => self.step_along_best(worst, &[Direction::Toward, Direction::Away]),
            StepRule::Best => self.step_along_best(worst, &[Direction::Toward, Direction::Away, Direction::Pairwise]),
        };
        let HullState { iterate, sets, work, .. } = &mut *self.hull;
        if step.gamma > 0.0 {
            sets.move_iterate(self.block, &mut work.before, iterate, source);
            iterate.gain(step.gain); // what F rises is known from the moves
        }
        iterate.count(kind);
        Step { gap, ..step }
    }
    fn prune_lowest(&mut self, limit: usize, _: &mut impl Capabilities) {
        self.hull.sets.prune_lowest(self.block, &mut self.hull.scores, limit); // scores have followed the steps
    }
}
