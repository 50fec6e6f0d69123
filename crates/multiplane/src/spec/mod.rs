//! What a run, a path or a grid is to be, read off one tree of parameters.

mod compatible;
mod grid;
mod lambda;
mod outer;
pub mod params;
mod path;
mod regularizer;
mod resolve;
mod run;

pub use grid::{GridPoints, GridSpec};
pub use lambda::Lambda;
pub use outer::Outer;
pub(crate) use params::shown;
pub use path::{PathEnd, PathSpec};
pub use regularizer::RegularizerSpec;
pub use run::{
    Choice, DEFAULT_SOLVER, DataSpec, OracleSpec, RunSpec, StopSpec, check_threads, find_solver, find_task, folds,
    format_by_name, oracle_schema,
};

#[cfg(test)]
mod tests;
