//! Loops around runs: paths, grids and cross-validation.

mod checkpoints;
mod choice;
mod cross_validation;
mod descent;
mod folds;
mod grid;
mod path;
mod position;
mod summary;

pub use choice::choose_lambda;
pub use cross_validation::{CrossValidation, cross_validate, cross_validate_problem};
pub use folds::{PartOf, assign_folds};
pub use path::{OnPoint, follow};
pub use position::{PathState, PathStep};
pub use summary::PathSummary;
