//! The block-coordinate Frank-Wolfe family: one engine, four dials (order, step, planes kept, averaging).
//!
//! BCFW (Lacoste-Julien et al. 2013) moves one example's plane toward the oracle's answer per visit. MP-BCFW
//! (Shah, Kolmogorov, Lampert 2015, Alg. 3) adds passes over the planes kept; Osokin et al. (2016) draw blocks by
//! their gaps, use cached corners while their gap is large, and move mass pairwise.

mod engine;
mod mechanics;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::average::{Averaging, Recent};
use crate::cache::{GapCache, MultiPlane, Planes, Recombine};
use crate::order::{GapOrder, Order, Shrinking};
use crate::parameter::{ParameterError, not_negative, require};
use crate::regularizer::Regularizer;
use crate::solvers::entry::{BoxedSolver, SolverConfig, SolverEntry, values};

pub use engine::BlockFrankWolfeSolver;

/// Dial 2: how a visit moves an example's plane.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum StepRule {
    /// From the block's plane toward the corner.
    #[default]
    FrankWolfe,
    /// From the active plane of lowest score to the corner: mass moves between two planes (Osokin et al. 2016).
    Pairwise,
    /// Toward the corner or away from the active plane of lowest score, whichever gains more.
    Away,
    /// The best of a Frank-Wolfe, an away and a pairwise step.
    Best,
    /// Solves the block over its planes by pairwise steps on cached inner products.
    Solve(Solve),
}

/// Parameters of block solves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Solve {
    /// A block is solved to this share of the mean block gap of the last pass.
    pub accuracy: f64,
    /// Approximate passes leave out blocks whose last gap over the planes kept was below this share of the mean.
    pub skip_below: f64,
}

impl Default for Solve {
    fn default() -> Self {
        Solve { accuracy: 0.3, skip_below: 0.3 }
    }
}

impl StepRule {
    fn validate(self) -> Result<(), ParameterError> {
        let StepRule::Solve(solve) = self else { return Ok(()) };
        not_negative("accuracy", solve.accuracy)?;
        not_negative("skip_below", solve.skip_below)
    }
}

/// What a gap pass does beside measuring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GapStep {
    /// Nothing.
    #[default]
    None,
    /// Ends with a step of batch Frank-Wolfe: its n corners at one w are a corner of the whole dual, and one exact line
    /// search moves all examples by the same share (an option of the code that goes with Osokin et al. 2016). Makes no
    /// further oracle call. The corners are kept as planes until the pass ends, those that `planes` has room for longer.
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
    /// Passes after which a gap pass (n oracle calls, no step) refreshes the gaps that orders and caches go by;
    /// 0 for never. Plays no part where nothing goes by gaps.
    pub gap_check: u32,
    /// A gap pass is also due when the gaps seen last sum to less than this, but not again before a gap pass has
    /// measured more; 0 for never. Osokin et al.'s code takes 0.8 of the gap that it is to reach.
    pub gap_check_below: f64,
    /// What a gap pass does with the corners that it has seen.
    pub gap_step: GapStep,
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
        let planes = MultiPlane { max_idle: 3, recombine: Recombine::WhenCheap, ..MultiPlane::default() };
        BlockFrankWolfe {
            order: Order::Shrinking(Shrinking::default()),
            step: StepRule::Solve(Solve::default()),
            planes: Planes::MultiPlane(planes),
            averaging: Averaging::Recent(Recent::default()),
            ..BlockFrankWolfe::default()
        }
    }

    /// Osokin's grid: pairwise steps or Frank-Wolfe, gap sampling or uniform order, the gap-criterion cache or none.
    /// Without all three it is BCFW with uniform order.
    pub fn osokin(pairwise: bool, gap: bool, cache: bool) -> Self {
        BlockFrankWolfe {
            order: if gap { Order::Gap(GapOrder::default()) } else { Order::Uniform },
            step: if pairwise { StepRule::Pairwise } else { StepRule::FrankWolfe },
            planes: if cache { Planes::GapCache(GapCache::default()) } else { Planes::None },
            ..BlockFrankWolfe::default()
        }
    }

    /// Whether gap passes are ever made.
    fn makes_gap_passes(&self) -> bool {
        let by_gaps = self.order.wants_gap_passes() || matches!(self.planes, Planes::GapCache(_));
        by_gaps && (self.gap_check > 0 || self.gap_check_below > 0.0)
    }

    /// Builds a solver with these parameters for `blocks` examples and `dim` weights.
    pub fn solver(self, blocks: usize, dim: usize, regularizer: impl Into<Regularizer>) -> BlockFrankWolfeSolver {
        BlockFrankWolfeSolver::new(self, blocks, dim, regularizer.into())
    }
}

impl SolverConfig for BlockFrankWolfe {
    fn validate(&self) -> Result<(), ParameterError> {
        self.order.validate().map_err(|error| error.under("order"))?;
        self.planes.validate().map_err(|error| error.under("planes"))?;
        self.step.validate().map_err(|error| error.under("step"))?;
        self.averaging.validate().map_err(|error| error.under("averaging"))?;
        not_negative("gap_check_below", self.gap_check_below)?;
        require(
            self.gap_step != GapStep::Batch || self.makes_gap_passes(),
            "gap_step",
            "batch",
            "must come with gap passes, which take gap_check or gap_check_below above 0 and either planes gap-cache or \
             an order that is gap, max-gap or lipschitz",
        )
    }

    fn build(&self, blocks: usize, dim: usize, regularizer: Regularizer) -> BoxedSolver {
        Box::new(self.solver(blocks, dim, regularizer))
    }
}

/// Begins the line of a preset; all of the family have a dual and can go on at another lambda.
const fn entry(name: &'static str, preset: fn() -> Value) -> SolverEntry {
    SolverEntry::new::<BlockFrankWolfe>(name, preset).with_dual().continues()
}

/// The registry's lines.
pub const ENTRIES: &[SolverEntry] = &[
    entry("bcfw", || values(&BlockFrankWolfe::bcfw()))
        .summary("block-coordinate Frank-Wolfe: a step after every oracle call")
        .source("MP-BCFW paper, Alg. 2"),
    entry("bcfw-avg", || values(&BlockFrankWolfe::bcfw_avg()))
        .summary("bcfw with weighted averaging")
        .source("MP-BCFW paper, 3.5"),
    entry("mp-bcfw", || values(&BlockFrankWolfe::mp_bcfw()))
        .summary("multi-plane BCFW: keeps oracle answers and reuses them between exact passes")
        .source("MP-BCFW paper, Alg. 3"),
    entry("mp-bcfw-avg", || values(&BlockFrankWolfe::mp_bcfw_avg()))
        .summary("mp-bcfw with weighted averaging")
        .source("MP-BCFW paper, 3.5"),
    entry("bcfw-gap", || values(&BlockFrankWolfe::osokin(false, true, false)))
        .summary("bcfw that draws blocks by their gaps")
        .source("Osokin et al. 2016, 3.1"),
    entry("bcfw-cache", || values(&BlockFrankWolfe::osokin(false, false, true)))
        .summary("bcfw (uniform order) that uses cached corners while their gap is large")
        .source("Osokin et al. 2016, 3.2"),
    entry("bcfw-gap-cache", || values(&BlockFrankWolfe::osokin(false, true, true)))
        .summary("gap order and gap-criterion cache")
        .source("Osokin et al. 2016, 3"),
    entry("bcpfw", || values(&BlockFrankWolfe::osokin(true, false, false)))
        .summary("pairwise steps, uniform order")
        .source("Osokin et al. 2016, 3.3"),
    entry("bcpfw-gap", || values(&BlockFrankWolfe::osokin(true, true, false)))
        .summary("pairwise steps, gap order")
        .source("Osokin et al. 2016, 3"),
    entry("bcpfw-cache", || values(&BlockFrankWolfe::osokin(true, false, true)))
        .summary("pairwise steps, gap-criterion cache")
        .source("Osokin et al. 2016, 3"),
    entry("bcpfw-gap-cache", || values(&BlockFrankWolfe::osokin(true, true, true)))
        .summary("pairwise steps, gap order, gap-criterion cache: the authors' recommendation")
        .source("Osokin et al. 2016, 3"),
];
