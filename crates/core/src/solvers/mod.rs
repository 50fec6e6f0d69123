//! The registry of solvers: each is one file of this folder and one line below.

pub mod batch_frank_wolfe;
pub mod block_frank_wolfe;
pub mod subgradient;

use batch_frank_wolfe::BatchFrankWolfe;
use block_frank_wolfe::BlockFrankWolfe;
use schemars::Schema;
use serde_json::Value;
use subgradient::Subgradient;

use crate::oracle::BoxedOracle;
use crate::regularizer::Regularizer;
use crate::solver::Solver;

/// A solver whose type is not known at compile time.
pub type BoxedSolver = Box<dyn Solver<BoxedOracle>>;

/// One line of the registry: a named preset of a family of solvers.
pub struct SolverEntry {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Whether it maintains a dual value, and so can certify a gap.
    pub has_dual: bool,
    /// The preset's parameters.
    pub preset: fn() -> Value,
    /// Names, types and documentation of the parameters.
    pub schema: fn() -> Schema,
    /// Builds the solver from parameters, for a number of examples, a dimension and a regulariser.
    pub build: fn(Value, usize, usize, Regularizer) -> Result<BoxedSolver, String>,
}

/// Names the fixed parts of an entry whose configuration is `$config`, at the values that `$preset` gives.
macro_rules! solvers {
    ($($name:literal, $config:ty, $preset:expr, $has_dual:literal, $summary:literal, $source:literal;)*) => {
        /// All solvers, in the order in which they are listed to users.
        pub static SOLVERS: &[SolverEntry] = &[$(SolverEntry {
            name: $name,
            summary: $summary,
            source: $source,
            has_dual: $has_dual,
            preset: || to_value::<$config>(&$preset),
            schema: || schemars::schema_for!($config),
            build: |parameters, blocks, dim, regularizer| {
                let config: $config = serde_json::from_value(parameters).map_err(|error| error.to_string())?;
                if let Some(fault) = config.fault() {
                    return Err(fault);
                }
                if let Some(fault) = regularizer.fault(dim) {
                    return Err(fault);
                }
                Ok(config.solver(blocks, dim, regularizer))
            },
        }),*];
    };
}

solvers! {
    "auto", BlockFrankWolfe, BlockFrankWolfe::auto(), true,
        "the default: mp-bcfw with block solves, shrinking, averaging, and recombination where calls are dear",
        "MP-BCFW paper, Alg. 3 and its future work";
    "fw", BatchFrankWolfe, BatchFrankWolfe {}, true,
        "batch Frank-Wolfe: n oracle calls, then one step", "MP-BCFW paper, Alg. 1";
    "bcfw", BlockFrankWolfe, BlockFrankWolfe::bcfw(), true,
        "block-coordinate Frank-Wolfe: a step after every oracle call", "MP-BCFW paper, Alg. 2";
    "bcfw-avg", BlockFrankWolfe, BlockFrankWolfe::bcfw_avg(), true,
        "bcfw with weighted averaging", "MP-BCFW paper, 3.5";
    "mp-bcfw", BlockFrankWolfe, BlockFrankWolfe::mp_bcfw(), true,
        "multi-plane BCFW: keeps oracle answers and reuses them between exact passes", "MP-BCFW paper, Alg. 3";
    "mp-bcfw-avg", BlockFrankWolfe, BlockFrankWolfe::mp_bcfw_avg(), true,
        "mp-bcfw with weighted averaging", "MP-BCFW paper, 3.5";
    "bcfw-gap", BlockFrankWolfe, BlockFrankWolfe::osokin(false, true, false), true,
        "bcfw that draws blocks by their gaps", "Osokin et al. 2016, 3.1";
    "bcfw-cache", BlockFrankWolfe, BlockFrankWolfe::osokin(false, false, true), true,
        "bcfw (uniform order) that uses cached corners while their gap is large", "Osokin et al. 2016, 3.2";
    "bcfw-gap-cache", BlockFrankWolfe, BlockFrankWolfe::osokin(false, true, true), true,
        "gap order and gap-criterion cache", "Osokin et al. 2016, 3";
    "bcpfw", BlockFrankWolfe, BlockFrankWolfe::osokin(true, false, false), true,
        "pairwise steps, uniform order", "Osokin et al. 2016, 3.3";
    "bcpfw-gap", BlockFrankWolfe, BlockFrankWolfe::osokin(true, true, false), true,
        "pairwise steps, gap order", "Osokin et al. 2016, 3";
    "bcpfw-cache", BlockFrankWolfe, BlockFrankWolfe::osokin(true, false, true), true,
        "pairwise steps, gap-criterion cache", "Osokin et al. 2016, 3";
    "bcpfw-gap-cache", BlockFrankWolfe, BlockFrankWolfe::osokin(true, true, true), true,
        "pairwise steps, gap order, gap-criterion cache: the authors' recommendation", "Osokin et al. 2016, 3";
    "ssg", Subgradient, Subgradient::ssg(), false,
        "stochastic subgradient: the baseline without a certificate", "Lacoste-Julien et al. 2013";
    "ssg-avg", Subgradient, Subgradient::ssg_avg(), false,
        "ssg with weighted averaging", "Lacoste-Julien et al. 2013";
}

/// The solver of this name.
pub fn find(name: &str) -> Option<&'static SolverEntry> {
    SOLVERS.iter().find(|entry| entry.name == name)
}

fn to_value<T: serde::Serialize>(config: &T) -> Value {
    serde_json::to_value(config).unwrap_or(Value::Null)
}
