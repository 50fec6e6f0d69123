//! Integer programmes: rows over variables between bounds, closer rows, parts that nothing ties to each other; with the
//! feature `highs` their solver.

mod closer;
mod components;
#[cfg(feature = "highs")]
mod highs;
mod matrix;
mod rows;
#[cfg(feature = "highs")]
mod solver;

pub use closer::closer;
#[cfg(feature = "highs")]
pub use highs::{Highs, ReadProgramme, with_name};
pub use matrix::SparseMatrix;
pub use rows::{Bounds, Programme};
#[cfg(feature = "highs")]
pub use solver::{Costs, Least, ProgrammeSolver, searched};
