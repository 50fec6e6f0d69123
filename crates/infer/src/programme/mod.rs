//! Solves integer programmes for one cost vector after the other with HiGHS (feature `highs`): the relaxation first,
//! bounds that duals prove, few variables in the search.
//!
//! ```
//! use std::sync::Arc;
//!
//! use multiplane_infer::programme::{Costs, Programme, ProgrammeSolver, SparseMatrix};
//!
//! // At most one of two items, of which the second is worth more.
//! let matrix = SparseMatrix::new(vec![0, 2], vec![0, 1], vec![1.0, 1.0], 2)?;
//! let (row_lower, row_upper) = (vec![f64::NEG_INFINITY], vec![1.0]);
//! let (lower, upper, integral) = (vec![0.0; 2], vec![1.0; 2], vec![true; 2]);
//! let programme = Programme { matrix, row_lower, row_upper, lower, upper, integral }.checked()?;
//! let found = ProgrammeSolver::new(Arc::new(programme))?.minimise(Costs::of(&[-1.0, -2.0]))?;
//! assert!(found.y == Some(vec![0.0, 1.0]) && (found.bound + 2.0).abs() < 1e-9);
//! # Ok::<(), String>(())
//! ```

mod closer;
mod highs;
mod matrix;
mod rows;
mod solver;

pub use closer::closer;
pub use highs::{Highs, ReadProgramme, with_name};
pub use matrix::SparseMatrix;
pub use rows::{Bounds, Programme};
pub use solver::{Costs, Least, ProgrammeSolver, searched};
