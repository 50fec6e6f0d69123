//! The dual state with every example's plane as an explicit combination of planes kept.
//!
//! `phi^i = sum_p alpha_p p` over the working set, the rest of the mass on the truth. What pairwise and away steps
//! and block solves need. A visit scores the planes once (O(planes x stored coefficients)), moves mass on cached
//! inner products (O(planes) a step), and writes w once, for the planes whose mass changed.

mod moves;
mod signed;

pub use moves::Move;

use crate::average::Averaging;
use crate::cache::WorkingSets;
use crate::iterate::Iterate;
use crate::oracle::Capabilities;
use crate::plane::{Plane, PlaneView};
use crate::point::{DualPoint, Mass, Part};
use crate::qp::{SignedPart, SimplexQp, SolveBuffers};
use crate::regularizer::Regularizer;
use crate::state::expect;
use moves::Trial;

/// What a visit did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Visit {
    /// Gap of the block over its planes (the corner among them) before the step.
    pub gap: f64,
    /// Rise of F.
    pub gain: f64,
}

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
    pub fn keep(&mut self, block: usize, plane: &Plane, now: u32, source: &mut impl Capabilities) -> Option<usize> {
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
    pub fn score(&mut self, block: usize, source: &mut impl Capabilities) {
        self.sets.scores(block, self.iterate.weights(), source, &mut self.scores);
        if self.signed.is_some() {
            self.collect_signed(block);
        }
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
    pub fn rebuild(&mut self, source: &mut impl Capabilities) {
        let (sets, blocks) = (&self.sets, self.truths.len());
        self.iterate.rebuild(|sum| add_phi(sets, blocks, source, sum));
    }

    /// Multiplies all masses but the truths' by `scale` (at most 1: the truths get the rest) and goes on at `lambda`.
    pub fn rescale(&mut self, lambda: f64, scale: f64, source: &mut impl Capabilities) {
        for (block, truth) in self.truths.iter_mut().enumerate() {
            self.sets.gram_and_alphas(block).1.iter_mut().for_each(|alpha| *alpha *= scale);
            *truth = 1.0 - scale * (1.0 - *truth);
        }
        self.iterate.set_lambda(lambda);
        self.rebuild(source);
    }

    /// Keeps `corner` and puts all mass of `block` on it; w and F follow with the next
    /// [`rebuild`](HullState::rebuild).
    pub fn place(&mut self, block: usize, corner: &Plane, now: u32, source: &mut impl Capabilities) {
        let at = self.keep(block, corner, now, source);
        let alphas = self.sets.gram_and_alphas(block).1;
        alphas.fill(0.0);
        if let Some(at) = at {
            alphas[at] = 1.0;
        }
        self.truths[block] = f64::from(u8::from(at.is_none()));
    }

    /// How far w and F have drifted from the planes, relative. For tests.
    pub fn drift(&self, source: &mut impl Capabilities) -> (f64, f64) {
        self.iterate.drift(|sum| add_phi(&self.sets, self.truths.len(), source, sum))
    }

    /// Score of example `block`'s plane at the present w.
    pub fn block_score(&mut self, block: usize, source: &mut impl Capabilities) -> f64 {
        self.score(block, source);
        self.qp(block).mean()
    }

    /// The block gap at `corner`, which need not be a plane kept.
    pub fn block_gap(&mut self, block: usize, corner: PlaneView<'_>, source: &mut impl Capabilities) -> f64 {
        corner.score(self.iterate.weights()) - self.block_score(block, source)
    }
}

fn add_phi(sets: &WorkingSets, blocks: usize, source: &mut impl Capabilities, sum: &mut [f64]) -> f64 {
    let mut circ = 0.0;
    for block in 0..blocks {
        if sets.by_code() {
            let alphas = sets.alphas(block);
            if let Some(coded) = source.coded_planes() {
                coded.add_planes(block, sets.codes(block), alphas, 1.0, sum);
            }
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
    use crate::average::UpdateKind;
    use crate::oracle::NoCapabilities;
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
                let corner = hull.keep(block, &plane, round, &mut NoCapabilities);
                hull.score(block, &mut NoCapabilities);
                let moves = [Move::FrankWolfe, Move::Pairwise, Move::Away, Move::Best, Move::Solve(1e-12)];
                let how = moves[rng.below(5) as usize];
                let corner = if how == Move::Solve(1e-12) { hull.best(block) } else { corner };
                let before = hull.iterate().value();
                let visit = hull.go(block, corner, how, UpdateKind::Exact, &mut NoCapabilities);
                assert!(visit.gain >= 0.0 && hull.iterate().value() >= before, "seed {seed}: F fell");
                let (w, value) = hull.drift(&mut NoCapabilities);
                assert!(w < 1e-11 && value < 1e-11, "seed {seed} round {round} {how:?}: drift {w} {value}");
                let mass: f64 = hull.sets().alphas(block).iter().sum::<f64>() + hull.truth(block);
                assert!((mass - 1.0).abs() < 1e-11, "seed {seed}: mass {mass}");
                hull.sets_mut().prune(block, round.saturating_sub(5), 6);
            }
        }
    }
}
