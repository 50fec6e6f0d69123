//! The registry's lines of the family.

use serde_json::Value;

use super::config::BlockFrankWolfe;
use crate::solvers::entry::{SolverEntry, values};

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

/// The registry's line of the default solver.
pub const AUTO: &[SolverEntry] = &[entry("auto", || values(&BlockFrankWolfe::auto()))
    .summary(
        "the default: remembers every answer of the oracle and learns from it again and again, so that few calls \
         suffice",
    )
    .source("MP-BCFW paper, Alg. 3 and its future work")];
