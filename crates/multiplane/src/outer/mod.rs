//! Loops around runs: paths, grids and cross-validation.

mod checkpoints;
mod cross_validation;
mod grid;
mod path;
mod position;
mod summary;

pub use cross_validation::{CrossValidation, ValidatedLambda, assign_folds, cross_validate};
pub use path::{OnPoint, follow};
pub use position::{PathState, PathStep};
pub use summary::PathSummary;
