//! Dial 3 as a parameter: the planes kept, and how they are used.
//!
//! Working sets serve approximate passes between exact ones until these stop paying (MP-BCFW, Alg. 3 and 3.4); a cached
//! corner is used while its gap is large enough (Osokin et al. 2016, 3.2).

use crate::parameter::{ParameterError, not_negative};

/// Dial 3.
#[derive(Clone, Copy, Debug, PartialEq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Planes {
    /// Every corner comes from the oracle: plain BCFW.
    #[default]
    None,
    /// Working sets with approximate passes between the exact ones (MP-BCFW, Alg. 3).
    MultiPlane(MultiPlane),
    /// A cached corner replaces the oracle's while its gap is large enough (Osokin et al. 2016, 3.2).
    GapCache(GapCache),
}

impl Planes {
    /// Checks the parameters that come with the choice.
    ///
    /// # Errors
    ///
    /// The parameter at fault.
    pub fn validate(self) -> Result<(), ParameterError> {
        let Planes::GapCache(cache) = self else { return Ok(()) };
        not_negative("factor", cache.factor)?;
        not_negative("nu", cache.nu)
    }
}

/// Parameters of the gap-criterion cache.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GapCache {
    /// The cached gap must be at least this share of the block's last exact gap (F).
    pub factor: f64,
    /// And at least this share of the mean of all blocks' gaps at the last gap pass (nu).
    pub nu: f64,
    /// Most planes kept per example, but planes with mass stay (max).
    pub max_planes: u32,
}

impl Default for GapCache {
    fn default() -> Self {
        GapCache { factor: 0.25, nu: 0.01, max_planes: 100 }
    }
}

impl GapCache {
    /// Returns true if a cached corner of gap `cached` is good enough for a block whose last exact gap was `block_gap`,
    /// with a mean gap of `mean_gap`.
    pub fn is_hit(&self, cached: f64, block_gap: f64, mean_gap: f64) -> bool {
        cached > 0.0 && cached >= (self.factor * block_gap).max(self.nu * mean_gap)
    }
}

/// Parameters of MP-BCFW's working sets.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MultiPlane {
    /// Most planes kept per example (N); 0 keeps none and makes no approximate pass, which is plain BCFW.
    pub max_planes: u32,
    /// Most approximate passes after an exact pass (M), or after a batch of calls.
    pub max_passes: u32,
    /// Outer iterations after which a plane that no call returned is dropped (T).
    pub max_idle: u32,
    /// Most megabytes for all planes with their inner products; at the limit, planes without mass go as soon as they
    /// are idle (those with mass always stay).
    pub max_megabytes: u32,
    /// Stop the approximate passes when the last one gained less per second than the outer iteration so far (between
    /// batches of calls: than the run of late); without it all run that there is room for, unless nothing is gained.
    pub slope_rule: bool,
    /// What approximate passes follow: whole exact passes, or batches of calls.
    pub interleave: Interleave,
    /// Has the oracle put together the best labelling from parts of those kept, before an approximate step; only where
    /// the task offers it.
    pub recombine: Recombine,
    /// Moves the masses of all examples at once to the optimum over the planes kept, in the place of approximate
    /// passes. Plays no part with a kernel, Frank-Wolfe steps, a weighted average or more than 4096 weights.
    pub joint: Joint,
}

/// When the masses of all examples are solved for at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Joint {
    /// Never.
    #[default]
    Never,
    /// If approximate passes would take longer to gain as much (`docs/adr/0069-the-joint-master.md`). For 0.05 s of a
    /// run, approximate passes go on beyond the slope rule, too.
    ByCost,
}

/// What approximate passes follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Interleave {
    /// A whole exact pass (Alg. 3).
    #[default]
    Pass,
    /// A batch of calls at one w where calls are dear, else a whole exact pass. The calls of the next batch are made at
    /// the weights from which the approximate passes set out, so other workers can answer them meanwhile.
    ByCost,
}

/// Calls at one w are at most this share of the blocks (`docs/adr/0030-calls-in-batches.md`).
const SHARE_AT_ONCE: usize = 128;

/// Calls at one w: so many at least, as two workers can share them, and so many at most.
const AT_ONCE: (usize, usize) = (2, 64);

/// A call that takes less is not handed to another thread, in seconds.
const WORTH_HANDING_OVER: f64 = 1e-4;

/// Seconds that making one weight known to the workers takes, with what that pushes out of the caches.
const PUBLISHING: f64 = 2e-9;

/// Making w known may take this share of the calls at it.
const SHARE_OF_PUBLISHING: f64 = 0.05;

impl Interleave {
    /// Returns how many calls over `blocks` blocks are made at one w of length `dim`, where one takes `call` seconds (0
    /// where nothing is known yet: they may be dear); `None` where approximate passes follow whole passes. Never by how
    /// many workers there are: no bit may depend on that.
    pub fn calls_at_once(self, blocks: usize, dim: usize, call: f64) -> Option<usize> {
        let batch = (blocks / SHARE_AT_ONCE).clamp(AT_ONCE.0, AT_ONCE.1).min(blocks);
        let publishing = PUBLISHING * dim as f64;
        let dear = call >= WORTH_HANDING_OVER && publishing <= SHARE_OF_PUBLISHING * batch as f64 * call;
        let pays = dear || call == 0.0;
        (self == Interleave::ByCost && pays).then_some(batch)
    }
}

/// When labellings are recombined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recombine {
    /// Never.
    #[default]
    Never,
    /// Before every approximate step.
    Always,
    /// While an oracle call costs much more than an approximate step, and then in one of 24 approximate passes.
    WhenCheap,
}

/// An oracle call that costs more approximate steps than this makes recombination pay
/// (`docs/adr/0014-the-automatic-solver.md`).
const CHEAP: f64 = 64.0;

impl Recombine {
    /// Returns true if to recombine where an oracle call takes `call` seconds and an approximate step `step`.
    pub fn pays(self, call: f64, step: f64) -> bool {
        match self {
            Recombine::Never => false,
            Recombine::Always => true,
            Recombine::WhenCheap => call > CHEAP * step,
        }
    }
}

impl Default for MultiPlane {
    fn default() -> Self {
        let recombine = Recombine::Never;
        let (max_megabytes, interleave) = (4096, Interleave::default());
        MultiPlane {
            max_planes: 1000,
            max_passes: 1000,
            max_idle: 10,
            max_megabytes,
            slope_rule: true,
            interleave,
            recombine,
            joint: Joint::default(),
        }
    }
}

impl MultiPlane {
    /// Approximate passes that may follow an exact one: none without planes.
    pub fn pass_limit(&self) -> u32 {
        if self.max_planes == 0 { 0 } else { self.max_passes }
    }
}
