//! Specifications of runs, paths and grids, read off one tree of parameters.

mod choice;
mod compatible;
mod data;
mod grid;
mod lambda;
mod outer;
pub mod params;
mod path;
mod run;
mod stop;
mod stream;
mod text;

pub use choice::{Choice, DEFAULT_SOLVER, SolverChoice, find_solver, find_task, format_by_name};
pub use data::{DataSpec, Holdout};
pub use grid::{GridOptions, GridPoints, GridSpec, GridStart, Points};
pub use lambda::{Folds, Lambda};
pub use outer::{Outer, OuterOptions};
pub use path::{PathEnd, PathSpec};
pub use run::{OracleSpec, RegularizerSpec, RunSpec, check_threads, run_parameters};
pub use stop::StopSpec;
pub(crate) use stop::USUAL_PASSES;
pub use stream::{StreamSpec, unused_on_streams};
pub(crate) use text::gap;

#[cfg(test)]
mod tests;
