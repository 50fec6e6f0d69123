//! Loops around runs: paths, grids and cross-validation.

mod checkpoints;
mod choice;
mod cross_validation;
mod descent;
mod grid;
mod influence;
mod path;
mod position;
mod score_correction;
mod summary;
mod suspects;

pub use choice::choose_lambda;
pub use cross_validation::{CrossValidation, FoldPlan, PartOf, assign_folds, cross_validate, cross_validate_problem};
pub use influence::influences;
pub use path::{OnPoint, follow};
pub use position::{PathState, PathStep};
pub use summary::PathSummary;
pub use suspects::{Suspect, SuspectPlan, Suspects, suspects};
