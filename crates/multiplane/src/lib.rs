//! Train, certify and use structural support vector machines.
//!
//! A structural SVM predicts whole objects: the word under a row of letter images, the segmentation of a picture,
//! a tree. Training asks a *max-oracle* for the worst labelling of an example, again and again, and in real
//! problems that call is the cost. multiplane keeps every answer as a plane, reuses it, and stops with a proof
//! of how good the result is: primal value, dual value, and the gap between them.
//!
//! ```
//! use multiplane::{Hooks, RunSpec, Session, dataset, synth};
//! use serde_json::json;
//!
//! let spec = json!({"task": "chain", "solver": "mp-bcfw", "stop": {"gap": "5%"}, "clock": "work"});
//! let spec = RunSpec::from_tree(spec.as_object().unwrap())?;
//! let session = Session::on(spec, dataset::Dataset::new(synth::synthetic_words(60, 0)), None)?;
//! let (model, summary) = session.run(Hooks::default())?;
//! assert!(summary.certified && summary.gap.unwrap() <= 0.05 * summary.primal);
//! assert_eq!(model.w.len(), 4004);
//! # Ok::<(), multiplane::Error>(())
//! ```
//!
//! The parts: [`multiplane_core`] optimises and knows no labels, [`multiplane_tasks`] turns data into max-oracles,
//! [`infer`] solves single problems, and this crate puts them together: [`RunSpec`] says what to do, [`Session`] does it, [`Model`] keeps the result.

mod abort;
mod checkpoint;
mod checkpointer;
mod container;
mod crew;
mod cross_validation;
mod dictionary;
pub mod doctor;
mod durable;
mod error;
mod grid;
mod lambda;
mod lock;
mod model;
mod names;
mod outer;
pub mod params;
mod path;
mod path_model;
mod path_state;
mod path_summary;
mod prior;
mod record;
mod resume;
mod spec;
mod summary;
mod train;
mod verify;
mod warm;

pub use checkpoint::{CHECKPOINT_FORMAT, Checkpoint, CheckpointInfo, Outputs, previous as previous_checkpoint};
pub use checkpointer::{CheckpointReport, Checkpointer};
pub use container::FORMAT_VERSION;
pub use cross_validation::{CrossValidation, ValidatedLambda, assign_folds, cross_validate};
pub use durable::{check_writable, durable_write};
pub use error::Error;
pub use grid::{GridPoints, GridSpec};
pub use lambda::Lambda;
pub use lock::lock_path;
pub use model::{Model, ModelInfo};
pub use multiplane_core::rescale::WarmStart;
pub use multiplane_core::{clock, observe, oracle, plane, point, regularizer, run, solver, solvers, task};
pub use multiplane_infer as infer;
pub use multiplane_tasks::problem::{Evaluation, Prediction, Problem};
pub use multiplane_tasks::{data, dataset, entry, foreign, losses, metrics, registry as tasks, synth};
pub use names::unknown as unknown_name;
pub use outer::Outer;
pub use path::{OnPoint, PathEnd, PathSpec, follow};
pub use path_model::{PathInfo, PathKind, PathModel, Saved};
pub use path_state::{PathState, PathStep};
pub use path_summary::{Breakpoint, PathSummary};
pub use prior::{RegularizerSpec, read_prior, weights_sha256};
pub use record::{RecordFile, RecordPosition};
pub use spec::{
    DEFAULT_SOLVER, DataSpec, Named, OracleSpec, RunSpec, StopSpec, check_threads, find_solver, find_task, folds,
    format_by_name, oracle_schema,
};
pub use summary::Summary;
pub use train::{Hooks, Session, read_data, read_task_data};
pub use verify::{Verified, verify};
pub use warm::WarmState;
