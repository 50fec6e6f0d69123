//! Moving the mass of a block over planes that were just scored.

use super::{HullState, Visit};
use crate::average::UpdateKind;
use crate::oracle::Capabilities;
use crate::qp::QpStep;

/// How a visit moves mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Move {
    /// One Frank-Wolfe step.
    FrankWolfe,
    /// One pairwise step.
    Pairwise,
    /// The better of a Frank-Wolfe and an away step.
    Away,
    /// The best of all three.
    Best,
    /// Pairwise steps until the gap over the planes kept is at most this.
    Solve(f64),
}

/// Pairwise steps that a block solve may make, for each plane.
const SOLVE_STEPS_PER_PLANE: usize = 20;

/// What trying a move changes.
#[derive(Clone, Debug, Default)]
pub(super) struct Trial {
    scores: Vec<f64>,
    alphas: Vec<f64>,
    free: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
enum Ray {
    Toward,
    Away,
    Pairwise,
}

impl HullState {
    /// Moves the mass of `block` toward `corner` (a plane just scored, or the truth). F never falls.
    pub fn go(
        &mut self,
        block: usize,
        corner: Option<usize>,
        how: Move,
        kind: UpdateKind,
        source: &mut impl Capabilities,
    ) -> Visit {
        self.before.clear();
        self.before.extend_from_slice(self.sets.alphas(block));
        let mut work = std::mem::take(&mut self.work);
        let mut qp = self.qp(block);
        let corner_score = corner.map_or(0.0, |p| qp.scores[p]);
        let gap = corner_score - qp.mean();
        let from = qp.worst();
        let steps = SOLVE_STEPS_PER_PLANE * (qp.scores.len() + 1);
        let step = match how {
            Move::FrankWolfe => qp.toward(corner),
            Move::Pairwise => qp.pairwise(corner, from),
            Move::Solve(tolerance) => qp.solve(tolerance, steps, &mut work),
            Move::Away => self.try_all(block, corner, from, &[Ray::Toward, Ray::Away]),
            Move::Best => self.try_all(block, corner, from, &[Ray::Toward, Ray::Away, Ray::Pairwise]),
        };
        self.work = work;
        if step.gamma > 0.0 {
            self.write_back(block, source);
            self.iterate.gain(step.gain);
        }
        self.iterate.count(kind);
        Visit { gap, gain: step.gain }
    }

    /// Takes the step of the largest gain.
    fn try_all(&mut self, block: usize, to: Option<usize>, from: Option<usize>, rays: &[Ray]) -> QpStep {
        let truth = self.truths[block];
        self.trial.scores.clone_from(&self.scores);
        self.trial.alphas.clone_from(&self.before);
        if let Some(signed) = &self.signed {
            self.trial.free.clone_from(&signed.free);
        }
        let mut best = (QpStep::default(), None);
        for &ray in rays {
            let step = self.take(block, ray, to, from);
            if step.gain > best.0.gain {
                best = (step, Some(ray));
            }
            self.scores.clone_from(&self.trial.scores);
            self.sets.gram_and_alphas(block).1.copy_from_slice(&self.trial.alphas);
            if let Some(signed) = &mut self.signed {
                signed.free.clone_from(&self.trial.free);
            }
            self.truths[block] = truth;
        }
        best.1.map_or(best.0, |ray| self.take(block, ray, to, from))
    }

    fn take(&mut self, block: usize, ray: Ray, to: Option<usize>, from: Option<usize>) -> QpStep {
        let mut qp = self.qp(block);
        match ray {
            Ray::Toward => qp.toward(to),
            Ray::Away => qp.away(from),
            Ray::Pairwise => qp.pairwise(to, from),
        }
    }

    /// Moves w by the change of masses since `before`. What F rises is known from the moves.
    fn write_back(&mut self, block: usize, source: &mut impl Capabilities) {
        let alphas = self.sets.alphas(block);
        if self.sets.by_code() {
            // `before` becomes the change.
            self.before.iter_mut().zip(alphas).for_each(|(before, now)| *before = now - *before);
            let circ = self.before.iter().enumerate().map(|(p, change)| change * self.sets.circ(block, p)).sum();
            let (codes, changes) = (self.sets.codes(block), &self.before);
            let Some(coded) = source.coded_planes() else { return };
            self.iterate.add_with(circ, |scale, target| coded.add_planes(block, codes, changes, scale, target));
            return;
        }
        for (p, (&now, &before)) in alphas.iter().zip(&self.before).enumerate() {
            let change = now - before;
            if change != 0.0 {
                let plane = self.sets.plane(block, p);
                self.iterate.add(change, plane.star, change * plane.circ);
            }
        }
    }

    /// Frank-Wolfe step of all blocks by one share, each toward its corner (a plane kept, or the truth), with exact
    /// line search. `sum` is the sum of the corners' linear parts, `circ` that of their constants; see
    /// [`Iterate::step_jointly`](crate::iterate::Iterate::step_jointly).
    pub fn step_jointly(&mut self, sum: &mut [f64], circ: f64, corners: &[Option<u32>]) {
        let gamma = self.iterate.step_jointly(sum, circ);
        if gamma == 0.0 {
            return;
        }
        for (block, (truth, corner)) in self.truths.iter_mut().zip(corners).enumerate() {
            let alphas = self.sets.gram_and_alphas(block).1;
            alphas.iter_mut().for_each(|alpha| *alpha *= 1.0 - gamma);
            *truth *= 1.0 - gamma;
            match corner {
                Some(k) => alphas[*k as usize] += gamma,
                None => *truth += gamma,
            }
        }
    }
}
