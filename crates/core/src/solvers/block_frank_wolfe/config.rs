//! Parameters of the family, and its presets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::average::{Averaging, Recent};
use crate::cache::{GapCache, Interleave, Joint, MultiPlane, Planes, Recombine};
use crate::dual::{Solve, StepRule};
use crate::order::{GapSampling, Order, Shrinking, Uniform};
use crate::parameter::{ParameterError, not_negative, require};
use crate::regularizer::Regularizer;
use crate::solvers::entry::{BoxedSolver, SolverConfig};

/// What a gap pass does besides measuring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GapStep {
    /// Nothing.
    #[default]
    None,
    /// Ends with a step of batch Frank-Wolfe: its n corners at one w are a corner of the whole dual, and one exact line
    /// search moves all examples by the same share (an option of the code that goes with Osokin et al. 2016). Makes no
    /// further oracle call. Corners are cached until the pass ends, or longer if `planes` has room.
    Batch,
}

/// Parameters of the family.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BlockFrankWolfe {
    /// Which example is visited next.
    pub order: Order,
    /// How a visit moves an example's plane.
    pub step: StepRule,
    /// Which planes are kept and how they are used.
    pub planes: Planes,
    /// What the answer is: the last iterate or an average.
    pub averaging: Averaging,
    /// Passes after which a gap pass (n oracle calls, no step) refreshes the gaps that orders and caches use;
    /// 0 for never. Has no effect if neither order nor cache uses gaps.
    pub gap_check: u32,
    /// A gap pass is also due when the gaps seen last sum to less than this, but not again before a gap pass has
    /// measured more; 0 for never. Osokin et al.'s code takes 0.8 of the gap that it is to reach.
    pub gap_check_below: f64,
    /// What a gap pass does with the corners that it has seen.
    pub gap_step: GapStep,
    /// Keeps the planes of an evaluation of bounds that does not end the run; the next exact pass saves these calls.
    /// Has no effect with `evaluate=pass`.
    pub keep_evaluations: bool,
}

impl Default for BlockFrankWolfe {
    fn default() -> Self {
        BlockFrankWolfe {
            order: Order::default(),
            step: StepRule::default(),
            planes: Planes::default(),
            averaging: Averaging::default(),
            gap_check: 10,
            gap_check_below: 0.0,
            gap_step: GapStep::default(),
            keep_evaluations: false,
        }
    }
}

impl BlockFrankWolfe {
    /// Preset `bcfw`: permutation order, Frank-Wolfe steps, no planes kept, the last iterate.
    pub fn bcfw() -> Self {
        BlockFrankWolfe::default()
    }

    /// Preset `bcfw-avg`: `bcfw` with weighted averaging.
    pub fn bcfw_avg() -> Self {
        BlockFrankWolfe { averaging: Averaging::Weighted, ..BlockFrankWolfe::bcfw() }
    }

    /// Preset `mp-bcfw`: `bcfw` with working sets and approximate passes.
    pub fn mp_bcfw() -> Self {
        BlockFrankWolfe { planes: Planes::MultiPlane(MultiPlane::default()), ..BlockFrankWolfe::bcfw() }
    }

    /// Preset `mp-bcfw-avg`: `mp-bcfw` with weighted averaging.
    pub fn mp_bcfw_avg() -> Self {
        BlockFrankWolfe { averaging: Averaging::Weighted, ..BlockFrankWolfe::mp_bcfw() }
    }

    /// Preset `auto`: what won on every problem tried, and choices by measured costs where none did
    /// (`docs/adr/0014-the-automatic-solver.md`).
    pub fn auto() -> Self {
        let (interleave, recombine) = (Interleave::ByCost, Recombine::WhenCheap);
        let planes = MultiPlane { max_idle: 3, interleave, recombine, joint: Joint::ByCost, ..MultiPlane::default() };
        BlockFrankWolfe {
            order: Order::Shrinking(Shrinking::default()),
            step: StepRule::Solve(Solve::default()),
            planes: Planes::MultiPlane(planes),
            averaging: Averaging::Recent(Recent::default()),
            keep_evaluations: true,
            ..BlockFrankWolfe::default()
        }
    }

    /// Osokin's grid: pairwise steps or Frank-Wolfe, gap sampling or uniform order, the gap-criterion cache or none.
    /// Without all three it is BCFW with uniform order.
    pub fn osokin(pairwise: bool, gap: bool, cache: bool) -> Self {
        BlockFrankWolfe {
            order: if gap { Order::Gap(GapSampling::default()) } else { Order::Uniform(Uniform {}) },
            step: if pairwise { StepRule::Pairwise } else { StepRule::FrankWolfe },
            planes: if cache { Planes::GapCache(GapCache::default()) } else { Planes::None },
            ..BlockFrankWolfe::default()
        }
    }

    /// Returns true if gap passes are ever made.
    pub(super) fn makes_gap_passes(&self) -> bool {
        let by_gaps = self.order.wants_gap_passes() || matches!(self.planes, Planes::GapCache(_));
        by_gaps && (self.gap_check > 0 || self.gap_check_below > 0.0)
    }

    /// Returns whether planes are kept beyond those with mass.
    pub(super) fn keeps_planes(&self) -> bool {
        match self.planes {
            Planes::None => false,
            Planes::MultiPlane(planes) => planes.max_planes > 0,
            Planes::GapCache(_) => true,
        }
    }

    /// Returns when labellings are recombined.
    pub(super) fn recombine(&self) -> Recombine {
        if let Planes::MultiPlane(planes) = self.planes { planes.recombine } else { Recombine::Never }
    }
}

impl SolverConfig for BlockFrankWolfe {
    fn validate(&self) -> Result<(), ParameterError> {
        self.order.validate().map_err(|error| error.under("order"))?;
        self.planes.validate().map_err(|error| error.under("planes"))?;
        self.step.validate().map_err(|error| error.under("step"))?;
        self.averaging.validate().map_err(|error| error.under("averaging"))?;
        not_negative("gap_check_below", self.gap_check_below)?;
        let keeps = !self.keep_evaluations || self.keeps_planes();
        require(keeps, "keep_evaluations", true, "must come with planes that are kept (multi-plane or gap-cache)")?;
        require(
            self.gap_step != GapStep::Batch || self.makes_gap_passes(),
            "gap_step",
            "batch",
            "must come with gap passes, which take gap_check or gap_check_below above 0 and either planes gap-cache or \
             an order that is gap, max-gap or lipschitz",
        )
    }

    fn takes_kernels(&self) -> bool {
        self.gap_step != GapStep::Batch // its step moves all blocks at once, by linear weights
    }

    fn copies(&self) -> usize {
        7 + match self.averaging {
            Averaging::None => 0,
            _ => 2,
        }
    }

    fn build(&self, blocks: usize, dim: usize, regularizer: Regularizer) -> BoxedSolver {
        self.solver(blocks, dim, regularizer)
    }
}
