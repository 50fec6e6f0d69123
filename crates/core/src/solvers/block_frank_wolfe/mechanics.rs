//! How the family's visits are carried out: on one vector per block, or on explicit masses over planes kept.

use crate::average::UpdateKind;
use crate::cache::WorkingSets;
use crate::dual::DualState;
use crate::hull::{HullState, Move, Visit};
use crate::iterate::Iterate;
use crate::oracle::Capabilities;
use crate::plane::{Plane, PlaneView};
use crate::point::DualPoint;
use crate::state::expect;

/// The dual state that the step rule needs, with the planes kept.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[allow(clippy::large_enum_variant)] // a solver has one of them
pub(super) enum Mechanics {
    /// Frank-Wolfe steps only: what a block consists of is not remembered.
    Vectors { dual: Box<DualState>, sets: Box<WorkingSets> },
    /// Everything else.
    Hull(Box<HullState>),
}

impl Mechanics {
    /// What does not fit in a state that is to take the place of `fresh`.
    pub(super) fn fault(&self, fresh: &Mechanics, blocks: usize) -> Option<String> {
        let dim = fresh.weights().len();
        let same_kind = std::mem::discriminant(self) == std::mem::discriminant(fresh);
        expect(same_kind, "the kind of dual state")
            .or_else(|| match self {
                Mechanics::Vectors { dual, sets } => dual.fault(blocks, dim).or_else(|| sets.fault(blocks, dim, false)),
                Mechanics::Hull(hull) => hull.fault(blocks, dim),
            })
            .or_else(|| expect(self.iterate().regularizer() == fresh.iterate().regularizer(), "the regulariser"))
    }

    /// The present dual point, and the averaged one where averages are kept.
    pub(super) fn points(&self) -> Vec<DualPoint<'_>> {
        let point = match self {
            Mechanics::Vectors { dual, .. } => dual.point(),
            Mechanics::Hull(hull) => hull.point(),
        };
        [point].into_iter().chain(self.iterate().averaged_points()).collect()
    }

    /// Weights, dual value and averages.
    pub(super) fn iterate(&self) -> &Iterate {
        match self {
            Mechanics::Vectors { dual, .. } => dual.iterate(),
            Mechanics::Hull(hull) => hull.iterate(),
        }
    }

    pub(super) fn weights(&self) -> &[f64] {
        self.iterate().weights()
    }

    pub(super) fn value(&self) -> f64 {
        self.iterate().value()
    }

    pub(super) fn answer(&self, out: &mut Vec<f64>) -> f64 {
        self.iterate().answer(out)
    }

    pub(super) fn end_iteration(&mut self) {
        match self {
            Mechanics::Vectors { dual, .. } => dual.end_iteration(),
            Mechanics::Hull(hull) => hull.end_iteration(),
        }
    }

    pub(super) fn rebuild(&mut self, source: &mut impl Capabilities) {
        match self {
            Mechanics::Vectors { dual, .. } => dual.rebuild(),
            Mechanics::Hull(hull) => hull.rebuild(source),
        }
    }

    /// Multiplies `phi` by `scale` and goes on at `lambda`.
    pub(super) fn rescale(&mut self, lambda: f64, scale: f64, source: &mut impl Capabilities) {
        match self {
            Mechanics::Vectors { dual, .. } => dual.rescale(lambda, scale),
            Mechanics::Hull(hull) => hull.rescale(lambda, scale, source),
        }
    }

    /// Puts all mass of `block` on `corner`, which is kept where planes are.
    pub(super) fn place(&mut self, block: usize, corner: &Plane, keep: bool, now: u32, source: &mut impl Capabilities) {
        match self {
            Mechanics::Vectors { dual, sets } => {
                if keep {
                    sets.keep(block, corner, now);
                }
                dual.place(block, corner.view());
            }
            Mechanics::Hull(hull) => hull.place(block, corner, now, source),
        }
    }

    pub(super) fn sets(&self) -> &WorkingSets {
        match self {
            Mechanics::Vectors { sets, .. } => sets,
            Mechanics::Hull(hull) => hull.sets(),
        }
    }

    /// Brings a block nearer that is about to be visited; `planes` also those kept.
    pub(super) fn prefetch(&self, block: usize, planes: bool) {
        match self {
            Mechanics::Vectors { dual, sets } => {
                dual.prefetch(block);
                if planes {
                    sets.prefetch(block);
                }
            }
            Mechanics::Hull(hull) => hull.sets().prefetch(block),
        }
    }

    /// Keeps `corner` where planes are kept, and steps toward it.
    pub(super) fn exact(
        &mut self,
        block: usize,
        corner: &Plane,
        how: Move,
        keep: bool,
        now: u32,
        source: &mut impl Capabilities,
    ) -> Visit {
        match self {
            Mechanics::Vectors { dual, sets } => {
                if keep {
                    sets.keep(block, corner, now);
                }
                // A sub-optimal oracle may return a plane below the truth's, which is then the better corner.
                let corner = corner.view();
                let corner = if corner.score(dual.weights()) < 0.0 { PlaneView::ZERO } else { corner };
                let step = dual.step_toward(block, corner, UpdateKind::Exact);
                Visit { gap: step.gap, gain: step.gain }
            }
            Mechanics::Hull(hull) => {
                hull.keep(block, corner, now, source);
                hull.score(block, source);
                let best = hull.best(block); // the corner, if the oracle is exact
                hull.go(block, best, how, UpdateKind::Exact, source)
            }
        }
    }

    /// Scores the planes kept: the number of the best, `None` where that is the truth's.
    pub(super) fn best(&mut self, block: usize, source: &mut impl Capabilities) -> Option<usize> {
        match self {
            Mechanics::Vectors { dual, sets } => sets.best(block, dual.weights()),
            Mechanics::Hull(hull) => {
                hull.score(block, source);
                hull.best(block)
            }
        }
    }

    /// Gap of a block at the [`best`](Mechanics::best) of its planes, which was just found.
    pub(super) fn gap_at(&mut self, block: usize, best: Option<usize>) -> f64 {
        match self {
            Mechanics::Vectors { dual, sets } => {
                dual.block_gap(block, best.map_or(PlaneView::ZERO, |k| sets.plane(block, k)))
            }
            Mechanics::Hull(hull) => hull.gap(block),
        }
    }

    /// Steps toward the [`best`](Mechanics::best) of a block's planes, which was just found.
    pub(super) fn cached(
        &mut self,
        block: usize,
        best: Option<usize>,
        how: Move,
        now: u32,
        source: &mut impl Capabilities,
    ) -> Visit {
        match self {
            Mechanics::Vectors { dual, sets } => {
                let corner = best.map_or(PlaneView::ZERO, |k| {
                    sets.touch(block, k, now);
                    sets.plane(block, k)
                });
                let step = dual.step_toward(block, corner, UpdateKind::Approximate);
                Visit { gap: step.gap, gain: step.gain }
            }
            Mechanics::Hull(hull) => {
                if let Some(k) = best {
                    hull.sets_mut().touch(block, k, now);
                }
                hull.go(block, best, how, UpdateKind::Approximate, source)
            }
        }
    }

    /// Keeps a plane without stepping toward it; returns its number, `None` for the truth's.
    pub(super) fn keep(
        &mut self,
        block: usize,
        plane: &Plane,
        now: u32,
        source: &mut impl Capabilities,
    ) -> Option<usize> {
        match self {
            Mechanics::Vectors { sets, .. } => sets.keep(block, plane, now),
            Mechanics::Hull(hull) => hull.keep(block, plane, now, source),
        }
    }

    /// Steps with all blocks by one share, each toward the plane kept that `corners` names; `sum` and `circ` are those
    /// planes added up.
    pub(super) fn step_jointly(&mut self, sum: &mut [f64], circ: f64, corners: &[Option<u32>]) {
        match self {
            Mechanics::Vectors { dual, sets } => {
                let corner = |block: usize| corners[block].map(|k| sets.plane(block, k as usize));
                dual.step_jointly(sum, circ, |block| corner(block).unwrap_or(PlaneView::ZERO));
            }
            Mechanics::Hull(hull) => hull.step_jointly(sum, circ, corners),
        }
    }

    /// Drops planes that were last active before `oldest`, and down to `limit`.
    pub(super) fn prune(&mut self, block: usize, oldest: u32, limit: usize) {
        match self {
            Mechanics::Vectors { sets, .. } => sets.prune(block, oldest, limit),
            Mechanics::Hull(hull) => hull.sets_mut().prune(block, oldest, limit),
        }
    }

    /// Drops planes of low score, down to `limit`.
    pub(super) fn prune_lowest(&mut self, block: usize, limit: usize) {
        match self {
            Mechanics::Vectors { dual, sets } => sets.prune_lowest(block, dual.weights(), limit),
            Mechanics::Hull(hull) => hull.prune_lowest(block, limit),
        }
    }

    /// Exact gap of a block whose best corner is at hand.
    pub(super) fn exact_gap(&mut self, block: usize, corner: PlaneView<'_>, source: &mut impl Capabilities) -> f64 {
        match self {
            Mechanics::Vectors { dual, .. } => dual.block_gap(block, corner),
            Mechanics::Hull(hull) => hull.block_gap(block, corner, source),
        }
    }
}
