//! One vector per example with planes kept beside it: for Frank-Wolfe steps, which do not ask what a block consists of.

use super::block_dual::{BlockDual, BlockVisit, DualPoint};
use super::rule::StepRule;
use super::state::DualState;
use crate::average::{Averaging, UpdateKind};
use crate::block_point::MassPlane;
use crate::cache::WorkingSets;
use crate::certificate::DualCertificate;
use crate::iterate::Iterate;
use crate::metric::Metric;
use crate::oracle::Capabilities;
use crate::plane::{Plane, PlaneView};
use crate::regularizer::Regularizer;
use crate::rounding::{Rounded, Rounding};
use crate::state::StateError;
use crate::step::Step;

/// One vector per example, and the planes kept. Every step is a Frank-Wolfe step.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct VectorDual {
    state: DualState,
    sets: WorkingSets,
    /// Scores of a block's planes.
    #[serde(skip)]
    scores: Vec<f64>,
}

impl VectorDual {
    /// Returns the vectors.
    pub fn state(&self) -> &DualState {
        &self.state
    }

    fn score(&mut self, block: usize, source: &mut impl Capabilities) {
        self.sets.scores(block, self.state.weights(), source, &mut self.scores);
    }
}

impl DualPoint for VectorDual {
    fn new(blocks: usize, dim: usize, regularizer: Regularizer, averaging: Averaging) -> Self {
        let state = DualState::new(blocks, dim, regularizer, averaging);
        VectorDual { state, sets: WorkingSets::new(blocks), scores: Vec::new() }
    }
    fn attach(&mut self, metric: &Metric) {
        self.state.iterate_mut().attach(metric);
    }
    fn place(&mut self, block: usize, planes: &[MassPlane], now: u32, source: &mut impl Capabilities) {
        for kept in planes.iter().filter(|plane| plane.kept) {
            self.insert(block, &kept.plane, now, source);
        }
        match planes.iter().find(|plane| plane.mass > 0.0) {
            Some(one) if one.kept => self.state.place(block, one.plane.view()),
            Some(mixture) => self.state.place_mixture(block, mixture.plane.view()),
            None => self.state.place(block, PlaneView::ZERO),
        }
    }
    fn rescale(&mut self, lambda: f64, scale: f64, _: &mut impl Capabilities) {
        self.state.rescale(lambda, scale);
    }
    fn rebuild(&mut self, _: &mut impl Capabilities) {
        self.state.rebuild();
    }
    fn rounded(&self, rounding: &Rounding, _: &mut impl Capabilities, out: &mut Vec<Rounded>) {
        self.state.rounded(rounding, 0.0, out);
    }
    fn drift(&self, _: &mut impl Capabilities) -> (f64, f64) {
        self.state.drift()
    }
    fn iterate(&self) -> &Iterate {
        self.state.iterate()
    }
    fn iterate_mut(&mut self) -> &mut Iterate {
        self.state.iterate_mut()
    }
    fn sets(&self) -> &WorkingSets {
        &self.sets
    }
    fn sets_mut(&mut self) -> &mut WorkingSets {
        &mut self.sets
    }
    fn point(&self) -> DualCertificate<'_> {
        self.state.point()
    }
    fn check(&self, blocks: usize, dim: usize) -> Result<(), StateError> {
        self.state.check(blocks, dim)?;
        self.sets.check(blocks, dim, false)
    }
}

impl BlockDual for VectorDual {
    type Visit<'a> = VectorVisit<'a>;
    fn makes(rule: StepRule) -> bool {
        rule == StepRule::FrankWolfe
    }
    fn visit(&mut self, block: usize, source: &mut impl Capabilities) -> VectorVisit<'_> {
        self.score(block, source);
        let mut best = (None, 0.0);
        for (k, &score) in self.scores.iter().enumerate() {
            if score > best.1 {
                best = (Some(k), score);
            }
        }
        VectorVisit { dual: self, block, corner: Corner::Kept(best.0) }
    }
    fn visit_with<'a>(
        &'a mut self,
        block: usize,
        answer: &'a Plane,
        keep: bool,
        now: u32,
        source: &mut impl Capabilities,
    ) -> VectorVisit<'a> {
        if keep {
            self.insert(block, answer, now, source);
        }
        // A sub-optimal oracle may return a plane below the truth's, which is then the better corner.
        let answer = answer.view();
        let below = answer.score(self.weights()) < 0.0;
        VectorVisit { dual: self, block, corner: if below { Corner::Kept(None) } else { Corner::Answer(answer) } }
    }
    fn insert(&mut self, block: usize, plane: &Plane, now: u32, source: &mut impl Capabilities) -> Option<usize> {
        self.sets.insert(block, plane, now, None, source)
    }
    fn hinge_kept(&mut self, block: usize, w: &[f64], source: &mut impl Capabilities) -> f64 {
        self.sets.scores(block, w, source, &mut self.scores);
        let own = self.state.block_score_at(block, w); // a convex combination of planes, some of them gone
        self.scores.iter().copied().fold(own.max(0.0), f64::max)
    }
    fn gap_at(&mut self, block: usize, corner: PlaneView<'_>, _: &mut impl Capabilities) -> f64 {
        self.state.block_gap(block, corner)
    }
    fn step_together(&mut self, sum: &mut [f64], circ: f64, corners: &[Option<u32>]) {
        let (state, sets) = (&mut self.state, &self.sets);
        let corner = |block: usize| corners[block].map_or(PlaneView::ZERO, |k| sets.plane(block, k as usize));
        state.step_together(sum, circ, corner);
    }
    fn prefetch(&self, block: usize, planes: bool) -> bool {
        self.state.prefetch(block);
        planes && self.sets.prefetch(block)
    }
    fn prefetch_early(&self, block: usize) {
        self.sets.prefetch_early(block);
    }
}

/// The target of a step.
#[derive(Debug)]
enum Corner<'a> {
    /// A plane kept, or the truth.
    Kept(Option<usize>),
    /// The oracle's answer.
    Answer(PlaneView<'a>),
}

/// A block in hand.
#[derive(Debug)]
pub struct VectorVisit<'a> {
    dual: &'a mut VectorDual,
    block: usize,
    corner: Corner<'a>,
}

impl VectorVisit<'_> {
    fn parts(&mut self) -> (&mut DualState, PlaneView<'_>) {
        let VectorDual { state, sets, .. } = &mut *self.dual;
        let corner = match self.corner {
            Corner::Kept(k) => k.map_or(PlaneView::ZERO, |k| sets.plane(self.block, k)),
            Corner::Answer(answer) => answer,
        };
        (state, corner)
    }
}

impl BlockVisit for VectorVisit<'_> {
    fn gap(&mut self) -> f64 {
        let block = self.block;
        let (state, corner) = self.parts();
        state.block_gap(block, corner)
    }
    fn touch(&mut self, now: u32) {
        if let Corner::Kept(Some(k)) = self.corner {
            self.dual.sets.touch(self.block, k, now);
        }
    }
    fn step(&mut self, _: StepRule, _: f64, kind: UpdateKind, _: &mut impl Capabilities) -> Step {
        let block = self.block;
        let (state, corner) = self.parts();
        state.step_toward(block, corner, kind)
    }
    fn prune_lowest(&mut self, limit: usize, source: &mut impl Capabilities) {
        if self.dual.sets.len(self.block) > limit {
            self.dual.score(self.block, source); // w has moved
            self.dual.sets.prune_lowest(self.block, &mut self.dual.scores, limit);
        }
    }
}
