//! The default solver: a preset of the block-coordinate Frank-Wolfe family.

use super::block_frank_wolfe::BlockFrankWolfe;
use super::entry::{SolverEntry, values};

/// The registry's line.
pub const ENTRIES: &[SolverEntry] = &[SolverEntry::new::<BlockFrankWolfe>("auto", || values(&BlockFrankWolfe::auto()))
    .summary("the default: mp-bcfw with block solves, shrinking, averaging, and recombination where calls are dear")
    .source("MP-BCFW paper, Alg. 3 and its future work")
    .with_dual()
    .continues()];
