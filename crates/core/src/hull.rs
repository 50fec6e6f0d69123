//! The dual state with every example's plane as an explicit combination of planes kept.
//!
//! `phi^i = sum_p alpha_p p` over the working set, the rest of the mass on the truth. What pairwise and away steps
//! and block solves need. A visit scores the planes once (O(planes x stored coefficients)), moves mass on cached
//! inner products (O(planes) a step), and writes w once, for the planes whose mass changed.

use crate::average::{Averaging, UpdateKind};
use crate::cache::WorkingSets;
use crate::iterate::Iterate;
use crate::oracle::PlaneSource;
use crate::plane::{Plane, PlaneView, Star};
use crate::point::{DualPoint, Mass, Part};
use crate::qp::{QpStep, SignedPart, SimplexQp, SolveBuffers};
use crate::regularizer::{Regularizer, Sign};
use crate::state::expect;

/// What a visit did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Visit {
    /// Gap of the block over its planes (the corner among them) before the step.
    pub gap: f64,
    /// Rise of F.
    pub gain: f64,
}

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

/// Weights, and what every block consists of.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct HullState {
    iterate: Iterate,
    sets: WorkingSets,
    /// Mass on the truth, by block.
    truths: Vec<f64>,
    #[serde(skip)]
    scores: Vec<f64>,
    /// Masses before the move in hand.
    #[serde(skip)]
    before: Vec<f64>,
    /// Spare copies for trying a move.
    #[serde(skip)]
    trial: Trial,
    #[serde(skip)]
    work: SolveBuffers,
    /// The block in hand where weights must stay `>= 0`.
    signed: Option<SignedPart>,
}

/// What trying a move changes.
#[derive(Clone, Debug, Default)]
struct Trial {
    scores: Vec<f64>,
    alphas: Vec<f64>,
    free: Vec<f64>,
}

impl HullState {
    /// The origin: every block on its truth.
    pub fn new(blocks: usize, dim: usize, regularizer: impl Into<Regularizer>, averaging: Averaging) -> Self {
        let regularizer = regularizer.into();
        let signed = regularizer.is_signed().then(SignedPart::default);
        HullState {
            iterate: Iterate::new(dim, regularizer, averaging),
            sets: WorkingSets::with_inner_products(blocks, dim.max(1)),
            truths: vec![1.0; blocks],
            scores: Vec::new(),
            before: Vec::new(),
            trial: Trial::default(),
            work: SolveBuffers::default(),
            signed,
        }
    }

    /// Keeps a plane with its inner products; see [`WorkingSets::keep`].
    pub fn keep(&mut self, block: usize, plane: &Plane, now: u32, source: &mut impl PlaneSource) -> Option<usize> {
        let signs = self.iterate.regularizer().signs();
        self.sets.keep_outside(block, plane, now, signs, source)
    }

    /// The iterate.
    pub fn iterate(&self) -> &Iterate {
        &self.iterate
    }

    /// The planes kept.
    pub fn sets(&self) -> &WorkingSets {
        &self.sets
    }

    /// The planes kept, to add to and to prune.
    pub fn sets_mut(&mut self) -> &mut WorkingSets {
        &mut self.sets
    }

    /// Drops the planes of lowest score of the block in hand; see [`WorkingSets::prune_lowest`].
    pub fn prune_lowest(&mut self, block: usize, limit: usize) {
        self.sets.prune_scored(block, &mut self.scores, limit);
    }

    /// Mass on the truth of an example.
    pub fn truth(&self, block: usize) -> f64 {
        self.truths[block]
    }

    /// Scores the planes of `block` at w; the moves after it use these scores.
    pub fn score(&mut self, block: usize, source: &mut impl PlaneSource) {
        self.sets.scores(block, self.iterate.weights(), source, &mut self.scores);
        if self.signed.is_some() {
            self.collect_signed(block);
        }
    }

    /// Gathers what the block's planes hold at coordinates that must stay `>= 0`.
    fn collect_signed(&mut self, block: usize) {
        let (Some(part), Some(signs)) = (&mut self.signed, self.iterate.regularizer().signs()) else { return };
        let planes = self.sets.len(block);
        let signed = |k: usize| signs[k] == Sign::NonNegative;
        part.coordinates.clear();
        for p in 0..planes {
            match self.sets.plane(block, p).star {
                Star::Sparse { indices, .. } => {
                    part.coordinates.extend(indices.iter().filter(|&&k| signed(k as usize)));
                }
                Star::Dense(values) => {
                    part.coordinates.extend((0..values.len() as u32).filter(|&k| signed(k as usize)))
                }
            }
        }
        part.coordinates.sort_unstable();
        part.coordinates.dedup();
        part.values.clear();
        part.values.resize(planes * part.coordinates.len(), 0.0);
        for p in 0..planes {
            let row = &mut part.values[p * part.coordinates.len()..][..part.coordinates.len()];
            match self.sets.plane(block, p).star {
                Star::Sparse { indices, values } => {
                    for (k, value) in indices.iter().zip(values) {
                        if let Ok(at) = part.coordinates.binary_search(k) {
                            row[at] = *value;
                        }
                    }
                }
                Star::Dense(values) => {
                    row.iter_mut().zip(&part.coordinates).for_each(|(row, &k)| *row = values[k as usize]);
                }
            }
        }
        let free = self.iterate.free();
        part.free.clear();
        part.free.extend(part.coordinates.iter().map(|&k| free[k as usize]));
    }

    /// The best of the planes just scored; `None` is the truth.
    pub fn best(&mut self, block: usize) -> Option<usize> {
        self.qp(block).best()
    }

    /// Gap of the block over the planes just scored.
    pub fn gap(&mut self, block: usize) -> f64 {
        self.qp(block).gap()
    }

    fn qp(&mut self, block: usize) -> SimplexQp<'_> {
        let (gram, alphas) = self.sets.gram_and_alphas(block);
        let truth = &mut self.truths[block];
        let (lambda, signed) = (self.iterate.lambda(), self.signed.as_mut());
        SimplexQp { lambda, gram, scores: &mut self.scores, alphas, truth, signed }
    }

    /// Moves the mass of `block` toward `corner` (a plane just scored, or the truth). F never falls.
    pub fn go(
        &mut self,
        block: usize,
        corner: Option<usize>,
        how: Move,
        kind: UpdateKind,
        source: &mut impl PlaneSource,
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
    fn write_back(&mut self, block: usize, source: &mut impl PlaneSource) {
        let alphas = self.sets.alphas(block);
        if self.sets.by_code() {
            // `before` becomes the change.
            self.before.iter_mut().zip(alphas).for_each(|(before, now)| *before = now - *before);
            let circ = self.before.iter().enumerate().map(|(p, change)| change * self.sets.circ(block, p)).sum();
            let (codes, changes) = (self.sets.codes(block), &self.before);
            self.iterate.add_with(circ, |scale, target| source.add_planes(block, codes, changes, scale, target));
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

    /// Counts the iterate in a moving average; see [`Iterate::end_iteration`].
    pub fn end_iteration(&mut self) {
        self.iterate.end_iteration();
    }

    /// The present point, laid open.
    pub fn point(&self) -> DualPoint<'_> {
        let sets = &self.sets;
        let plane = |block: usize, (k, &mass): (usize, &f64)| {
            let plane = (!sets.by_code()).then(|| sets.plane(block, k));
            Mass { mass, plane, circ: sets.circ(block, k), code: sets.code(block, k) }
        };
        let masses = |block: usize| {
            let planes = sets.alphas(block).iter().enumerate().map(|mass| plane(block, mass)).collect();
            Part::Masses { truth: self.truths[block], planes }
        };
        DualPoint { value: self.iterate.value(), parts: (0..self.truths.len()).map(masses).collect() }
    }

    /// What is wrong with a state that was restored, for `blocks` blocks and `dim` weights.
    pub(crate) fn fault(&self, blocks: usize, dim: usize) -> Option<String> {
        let in_simplex = |block: usize| {
            let (masses, truth) = (self.sets.alphas(block), self.truths[block]);
            let sum = masses.iter().sum::<f64>() + truth;
            truth >= -1e-6 && masses.iter().all(|&mass| mass >= -1e-6) && (sum - 1.0).abs() < 1e-6
        };
        expect(self.truths.len() == blocks, "the number of blocks")
            .or_else(|| self.sets.fault(blocks, dim, true))
            .or_else(|| expect((0..blocks).all(in_simplex), "masses that are not in the simplex"))
            .or_else(|| expect(self.signed.is_some() == self.iterate.regularizer().is_signed(), "the constraints"))
            .or_else(|| self.iterate.fault(dim))
    }

    /// Recomputes w and F from the planes and their masses.
    pub fn rebuild(&mut self, source: &mut impl PlaneSource) {
        let (sets, blocks) = (&self.sets, self.truths.len());
        self.iterate.rebuild(|sum| add_phi(sets, blocks, source, sum));
    }

    /// Multiplies all masses but the truths' by `scale` (at most 1: the truths get the rest) and goes on at `lambda`.
    pub fn rescale(&mut self, lambda: f64, scale: f64, source: &mut impl PlaneSource) {
        for (block, truth) in self.truths.iter_mut().enumerate() {
            self.sets.gram_and_alphas(block).1.iter_mut().for_each(|alpha| *alpha *= scale);
            *truth = 1.0 - scale * (1.0 - *truth);
        }
        self.iterate.set_lambda(lambda);
        self.rebuild(source);
    }

    /// Keeps `corner` and puts all mass of `block` on it; w and F follow with the next
    /// [`rebuild`](HullState::rebuild).
    pub fn place(&mut self, block: usize, corner: &Plane, now: u32, source: &mut impl PlaneSource) {
        let at = self.keep(block, corner, now, source);
        let alphas = self.sets.gram_and_alphas(block).1;
        alphas.fill(0.0);
        if let Some(at) = at {
            alphas[at] = 1.0;
        }
        self.truths[block] = f64::from(u8::from(at.is_none()));
    }

    /// How far w and F have drifted from the planes, relative. For tests.
    pub fn drift(&self, source: &mut impl PlaneSource) -> (f64, f64) {
        self.iterate.drift(|sum| add_phi(&self.sets, self.truths.len(), source, sum))
    }

    /// Score of example `block`'s plane at the present w.
    pub fn block_score(&mut self, block: usize, source: &mut impl PlaneSource) -> f64 {
        self.score(block, source);
        self.qp(block).mean()
    }

    /// The block gap at `corner`, which need not be a plane kept.
    pub fn block_gap(&mut self, block: usize, corner: PlaneView<'_>, source: &mut impl PlaneSource) -> f64 {
        corner.score(self.iterate.weights()) - self.block_score(block, source)
    }
}

#[derive(Clone, Copy, Debug)]
enum Ray {
    Toward,
    Away,
    Pairwise,
}

fn add_phi(sets: &WorkingSets, blocks: usize, source: &mut impl PlaneSource, sum: &mut [f64]) -> f64 {
    let mut circ = 0.0;
    for block in 0..blocks {
        if sets.by_code() {
            let alphas = sets.alphas(block);
            source.add_planes(block, sets.codes(block), alphas, 1.0, sum);
            circ += alphas.iter().enumerate().map(|(p, alpha)| alpha * sets.circ(block, p)).sum::<f64>();
            continue;
        }
        for (p, &alpha) in sets.alphas(block).iter().enumerate() {
            if alpha != 0.0 {
                let plane = sets.plane(block, p);
                plane.add_to(alpha, sum);
                circ += alpha * plane.circ;
            }
        }
    }
    circ
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::NoSource;
    use crate::rng::Rng;

    /// All moves: F never falls, w and F stay those of the masses, masses stay in the simplex.
    #[test]
    fn moves_keep_every_promise() {
        for seed in 0..60 {
            let mut rng = Rng::new(seed, 0);
            let dim = 1 + rng.below(8) as usize;
            let mut hull =
                HullState::new(2, dim, 0.2, if seed % 2 == 0 { Averaging::Weighted } else { Averaging::None });
            for round in 0..150 {
                let block = rng.below(2) as usize;
                let mut plane = Plane::new();
                (0..dim as u32).filter(|_| rng.below(2) == 0).for_each(|index| plane.push(index, 0.5));
                plane.set_circ((rng.below(8) as f64) / 8.0);
                plane.seal();
                let corner = hull.keep(block, &plane, round, &mut NoSource);
                hull.score(block, &mut NoSource);
                let moves = [Move::FrankWolfe, Move::Pairwise, Move::Away, Move::Best, Move::Solve(1e-12)];
                let how = moves[rng.below(5) as usize];
                let corner = if how == Move::Solve(1e-12) { hull.best(block) } else { corner };
                let before = hull.iterate().value();
                let visit = hull.go(block, corner, how, UpdateKind::Exact, &mut NoSource);
                assert!(visit.gain >= 0.0 && hull.iterate().value() >= before, "seed {seed}: F fell");
                let (w, value) = hull.drift(&mut NoSource);
                assert!(w < 1e-11 && value < 1e-11, "seed {seed} round {round} {how:?}: drift {w} {value}");
                let mass: f64 = hull.sets().alphas(block).iter().sum::<f64>() + hull.truth(block);
                assert!((mass - 1.0).abs() < 1e-11, "seed {seed}: mass {mass}");
                hull.sets_mut().prune(block, round.saturating_sub(5), 6);
            }
        }
    }
}
