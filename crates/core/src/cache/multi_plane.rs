//! MP-BCFW's policy: an exact pass, then approximate passes over the working sets until they stop paying
//! (Shah, Kolmogorov, Lampert; Alg. 3 and 3.4).

/// Parameters of MP-BCFW's working sets.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MultiPlane {
    /// Most planes kept per example (N); 0 keeps none and makes no approximate pass, which is plain BCFW.
    pub max_planes: u32,
    /// Most approximate passes after an exact pass (M).
    pub max_passes: u32,
    /// Outer iterations after which a plane that no call returned is dropped (T).
    pub max_idle: u32,
    /// Most megabytes for all planes with their inner products; at the limit, planes without mass go as soon as they
    /// are idle (those with mass always stay).
    pub max_megabytes: u32,
    /// Stop the approximate passes when the last one gained less per second than the outer iteration so far;
    /// without it all `max_passes` run unless nothing is gained.
    pub slope_rule: bool,
    /// After which part of an exact pass the approximate passes follow.
    pub interleave: Interleave,
    /// Whether, before an approximate step, the oracle puts together the best labelling from parts of those kept;
    /// only where the task offers it.
    pub recombine: Recombine,
}

/// After which part of an exact pass approximate passes follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Interleave {
    /// After all of it (Alg. 3).
    #[default]
    Pass,
    /// After calls that cost as much as many approximate passes: the dearer a call, the fresher the weights it is made at.
    ByCost,
}

/// Calls between approximate passes cost at least as much as this many of these (`docs/adr/0030-parts-of-exact-passes.md`).
const CALLS_PER_PASS: f64 = 16.0;

/// Most parts of an exact pass.
const PARTS: usize = 4;

/// Calls at one w are at most this share of the blocks: what w has moved since makes their planes worth a little less.
const SHARE_AT_ONCE: usize = 128;

/// Most calls at one w.
const MOST_AT_ONCE: usize = 64;

/// A call that takes less is not handed to another thread, in seconds.
const WORTH_HANDING_OVER: f64 = 1e-4;

/// Seconds that making one weight known to the workers takes, with what that pushes out of the caches.
const PUBLISHING: f64 = 2e-9;

/// Making w known may take this share of the calls at it.
const SHARE_OF_PUBLISHING: f64 = 0.05;

impl Interleave {
    /// Returns after how many calls approximate passes over `blocks` blocks follow, where a call takes `call` seconds
    /// and an approximate step `step`. Calls of which nothing is known yet may be dear.
    pub fn calls(self, blocks: usize, call: f64, step: f64) -> usize {
        match self {
            Interleave::Pass => blocks,
            Interleave::ByCost => {
                let by_cost = if call > 0.0 { CALLS_PER_PASS * blocks as f64 * step / call } else { 0.0 };
                (by_cost as usize).clamp(blocks.div_ceil(PARTS), blocks)
            }
        }
    }
}

impl Interleave {
    /// Returns how many calls of an exact pass over `blocks` blocks are made at one w of length `dim`, where one takes
    /// `call` seconds, so that several workers can share them. Never by how many there are: no bit may depend on that.
    pub fn calls_at_once(self, blocks: usize, dim: usize, call: f64) -> usize {
        let batch = (blocks / SHARE_AT_ONCE).clamp(1, MOST_AT_ONCE);
        let publishing = PUBLISHING * dim as f64;
        let pays = call >= WORTH_HANDING_OVER && publishing <= SHARE_OF_PUBLISHING * batch as f64 * call;
        if self == Interleave::ByCost && pays { batch } else { 1 }
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
    /// While an oracle call costs much more than an approximate step, and then in one of 16 approximate passes.
    WhenCheap,
}

/// An oracle call that costs more approximate steps than this makes recombination pay
/// (`docs/adr/0014-the-automatic-solver.md`).
const CHEAP: f64 = 64.0;

impl Recombine {
    /// Whether to recombine where an oracle call takes `call` seconds and an approximate step `step`.
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
        }
    }
}

impl MultiPlane {
    /// Approximate passes that may follow an exact one: none without planes.
    pub fn pass_limit(&self) -> u32 {
        if self.max_planes == 0 { 0 } else { self.max_passes }
    }
}
