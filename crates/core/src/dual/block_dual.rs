//! A dual point as a block-coordinate engine sees it.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::rule::StepRule;
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

/// A dual point with the planes kept: weights, F and what they are made of.
///
/// `source` is where planes that are kept by code get their numbers: the context of a step.
pub trait DualPoint: Clone + Serialize + DeserializeOwned {
    /// Returns the origin: every block on its truth.
    fn new(blocks: usize, dim: usize, regularizer: Regularizer, averaging: Averaging) -> Self;

    /// Sets the metric, which files do not store.
    fn attach(&mut self, metric: &Metric);

    /// Puts the mass of `block` on these planes, and what is left on the truth. Planes are kept if they say so or if
    /// masses need it. w and F follow with the next [`rescale`](DualPoint::rescale).
    fn place(&mut self, block: usize, planes: &[MassPlane], now: u32, source: &mut impl Capabilities);

    /// Multiplies phi by `scale` (at most 1: the rest of the mass is the truths') and goes on at `lambda`.
    fn rescale(&mut self, lambda: f64, scale: f64, source: &mut impl Capabilities);

    /// Recomputes w and F from the blocks, so that rounding does not add up over millions of steps.
    fn rebuild(&mut self, source: &mut impl Capabilities);

    /// Appends to `out` the dual values of the present point, taken from the blocks anew, and of averaged ones, with
    /// bounds on their rounding. Costs as much as a [`rebuild`](DualPoint::rebuild), and changes nothing.
    fn rounded(&self, rounding: &Rounding, source: &mut impl Capabilities, out: &mut Vec<Rounded>);

    /// Returns how far w and F have drifted from the blocks, relative. For tests.
    fn drift(&self, source: &mut impl Capabilities) -> (f64, f64);

    /// Returns the iterate.
    fn iterate(&self) -> &Iterate;

    /// Returns the iterate, to end an outer iteration with.
    fn iterate_mut(&mut self) -> &mut Iterate;

    /// Returns the planes kept.
    fn sets(&self) -> &WorkingSets;

    /// Returns the planes kept, to prune.
    fn sets_mut(&mut self) -> &mut WorkingSets;

    /// Returns the weights w.
    fn weights(&self) -> &[f64] {
        self.iterate().weights()
    }

    /// Returns the dual value F, a lower bound on the optimal primal value.
    fn value(&self) -> f64 {
        self.iterate().value()
    }

    /// Returns the present point, laid open.
    fn point(&self) -> DualCertificate<'_>;

    /// Refuses a state that was restored and does not fit `blocks` blocks and `dim` weights.
    ///
    /// # Errors
    ///
    /// The part that does not fit.
    fn check(&self, blocks: usize, dim: usize) -> Result<(), StateError>;
}

/// A dual point as the block-coordinate engine works on it, block by block. F never falls by a step.
pub trait BlockDual: DualPoint {
    /// A block in hand.
    type Visit<'a>: BlockVisit
    where
        Self: 'a;

    /// Returns whether steps by this rule can be made.
    fn makes(rule: StepRule) -> bool;

    /// Opens `block` with the best of its planes as the corner, or the truth.
    fn visit(&mut self, block: usize, source: &mut impl Capabilities) -> Self::Visit<'_>;

    /// Opens `block` with the oracle's answer, which was given at iteration `now`: it is kept where `keep` says so or
    /// the steps need it. The corner is the answer, or what scores higher.
    fn visit_with<'a>(
        &'a mut self,
        block: usize,
        answer: &'a Plane,
        keep: bool,
        now: u32,
        source: &mut impl Capabilities,
    ) -> Self::Visit<'a>;

    /// Keeps a plane without stepping toward it; returns its number, `None` for the truth's.
    fn insert(&mut self, block: usize, plane: &Plane, now: u32, source: &mut impl Capabilities) -> Option<usize>;

    /// Returns the largest score at `w` of what is known of a block, the truth included: no more than its hinge.
    fn hinge_kept(&mut self, block: usize, w: &[f64], source: &mut impl Capabilities) -> f64;

    /// Returns the gap of a block at `corner`, which need not be a plane kept.
    fn gap_at(&mut self, block: usize, corner: PlaneView<'_>, source: &mut impl Capabilities) -> f64;

    /// Steps with all blocks by one share, each toward the plane kept that `corners` names (`None` is the truth), with
    /// exact line search; `sum` and `circ` are those planes added up, and `sum` is scratch afterwards. See
    /// [`Iterate::step_together`].
    fn step_together(&mut self, sum: &mut [f64], circ: f64, corners: &[Option<u32>]);

    /// Returns the seconds that moving all masses at once is likely to take; `None` where that cannot be done.
    fn joint_price(&mut self, _source: &mut impl Capabilities) -> Option<f64> {
        None
    }

    /// Moves the masses of all examples at once to within `tolerance` of the optimum over the planes kept; returns the
    /// seconds that this takes, by the count of products. F does not fall. Planes with mass become active at iteration
    /// `now`.
    fn solve_jointly(&mut self, _tolerance: f64, _now: u32, _source: &mut impl Capabilities) -> f64 {
        0.0
    }

    /// Adds the linear parts of all blocks to `sum`. Returns the sum of the constant parts, and the additions behind a
    /// coordinate; `None` of a dual point that cannot stand for a part of the examples.
    fn add_phi(&self, _source: &mut impl Capabilities, _sum: &mut [f64]) -> Option<(f64, f64)> {
        None
    }

    /// Prefetches a block about to be visited, and its planes if they will be scored; returns whether the oracle may
    /// prefetch too.
    fn prefetch(&self, block: usize, planes: bool) -> bool;

    /// Prefetches the index of a block's planes, for a [`prefetch`](BlockDual::prefetch) to come.
    fn prefetch_early(&self, block: usize);
}

/// A block in hand: its corner is chosen, the next thing is a step.
pub trait BlockVisit {
    /// Returns the gap of the block at the corner.
    fn gap(&mut self) -> f64;

    /// Marks the corner active at iteration `now`.
    fn touch(&mut self, now: u32);

    /// Moves the block by the rule; block solves go to their share of `mean_gap`.
    fn step(&mut self, rule: StepRule, mean_gap: f64, kind: UpdateKind, source: &mut impl Capabilities) -> Step;

    /// Moves the block by the rule as [`step`](BlockVisit::step) does, right after a call at iteration `now` and at the
    /// present weights: block solves go on over further planes, as long as the oracle can answer without a search.
    /// Returns the number of these planes, too.
    fn step_after_call(
        &mut self,
        rule: StepRule,
        mean_gap: f64,
        _now: u32,
        source: &mut impl Capabilities,
    ) -> (Step, usize) {
        (self.step(rule, mean_gap, UpdateKind::Exact, source), 0)
    }

    /// Drops the planes of the lowest score at the present w, but those with mass, down to `limit`.
    fn prune_lowest(&mut self, limit: usize, source: &mut impl Capabilities);
}
