//! Cutting planes: the hinges are bounded from below by the planes kept, and the bound is minimised again after every
//! pass.
//!
//! | preset | what a pass of n calls adds |
//! |---|---|
//! | `one-slack` | one plane, of the sum of all hinges (Joachims, Finley, Yu 2009) |
//! | `bundle` | the same, at weights drawn toward the best so far |
//! | `div-m-best` | M planes, of M diverse labellings of every example (Guzman-Rivera, Kohli, Batra 2014) |
//! | `sampled-cuts` | nothing of the kind: one plane of the sum, estimated from fewer calls (Yu, Joachims 2008) |
//! | `n-slack` | a plane for every example (Tsochantaridis et al. 2005; Joachims et al. 2009, Alg. 1) |

mod config;
mod example_cache;
mod further;
mod gain;
pub(super) mod master;
mod n_slack;
mod one_slack;
mod pace;
mod presets;
mod sampled;
mod sweep;

pub use config::{
    Combine, Diverse, ExampleCacheSize, MBestLabellings, Master, NSlack, OneSlack, Rand, SampledCuts, Solutions,
};
pub use n_slack::NSlackSolver;
pub use one_slack::OneSlackSolver;
pub use presets::ENTRIES;
pub use sampled::SampledCutsSolver;
