//! A run at several lambdas: what regularisation paths (Osokin et al. 2016, section 5) and grids are driven by.

mod path_run;
mod search;

pub use path_run::{GapProgress, PathPoint, PathRun};
pub use search::{Beginning, LambdaSearch, SearchStep};
