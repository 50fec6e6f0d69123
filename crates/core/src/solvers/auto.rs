//! The default solver: a preset of the block-coordinate Frank-Wolfe family.

use super::block_frank_wolfe::BlockFrankWolfe;
use super::entry::{SolverEntry, values};

/// The registry's line.
pub const ENTRIES: &[SolverEntry] = &[SolverEntry::new::<BlockFrankWolfe>("auto", || values(&BlockFrankWolfe::auto()))
    .summary(
        "the default: remembers every answer of the oracle and learns from it again and again, so that few calls \
         suffice",
    )
    .source("MP-BCFW paper, Alg. 3 and its future work")
    .with_dual()
    .continues()];
