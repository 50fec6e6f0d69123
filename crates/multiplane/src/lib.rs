//! Train, certify and use structural support vector machines.
//!
//! A structural SVM predicts whole objects: the word under a row of letter images, the segmentation of a picture,
//! a tree. Training asks a *max-oracle* for the worst labelling of an example, again and again, and in real
//! problems that call is the cost. multiplane keeps every answer as a plane, reuses it, and stops with a proof
//! of how good the result is: primal value, dual value, and the gap between them.
//!
//! ```
//! use multiplane::{RunOptions, RunSpec, Session, dataset, synth};
//! use serde_json::json;
//!
//! let spec = json!({"task": "chain", "stop": {"gap": "5%"}, "clock": "work"});
//! let spec = RunSpec::from_tree(spec.as_object().unwrap())?;
//! let session = Session::on(spec, dataset::Dataset::new(synth::synthetic_words(60, 0)), None)?;
//! let (model, summary) = session.run(RunOptions::default())?;
//! let proof = &summary.certificate;
//! assert!(proof.certified && proof.gap.unwrap() <= 0.05 * proof.primal);
//! assert_eq!(model.w.len(), 4004);
//! # Ok::<(), multiplane::Error>(())
//! ```
//!
//! The parts: [`multiplane_core`] optimises and knows no labels, [`multiplane_tasks`] turns data into max-oracles,
//! [`infer`] solves single problems, and this crate puts them together: [`RunSpec`] says what to do, [`Session`] does
//! it, [`Model`] keeps the result.

pub mod doctor;
mod error;
mod file;
pub mod model_report;
mod outer;
mod session;
mod shard;
mod spec;
mod stream;
mod suggest;

pub use ::{multiplane_infer as infer, multiplane_solvers as solvers};
pub use error::Error;
pub use file::{
    Breakpoint, CHECKPOINT_FORMAT, Checkpoint, CheckpointInfo, DurableFile, FORMAT_VERSION, LambdaChoice, Model,
    ModelFile, ModelInfo, Outputs, PathInfo, PathKind, PathModel, Provenance, ReadyModel, RecordFile, RecordPosition,
    ValidatedLambda, abandon_unfinished, check_writable, durable_write, is_special, leads_to, least_test_loss,
    lock_path, previous_checkpoint,
};
pub use multiplane_core::parameter::ParameterError;
pub use multiplane_core::solver::WarmStart;
pub use multiplane_core::{
    certificate, clock, observe, oracle, plane, regularizer, run, shard as sharding, solver, task,
};
pub use multiplane_tasks::problem::{
    Detections, Evaluation, MOST_LISTED, MarginPrediction, MarginalPrediction, Prediction, Problem, ScoredLabelling,
    SlackProblem, TopPrediction,
};
pub use multiplane_tasks::rescaling::Rescaling;
pub use multiplane_tasks::{data, dataset, entry, foreign, losses, metrics, registry as tasks, synth};
pub use outer::{
    CrossValidation, FoldPlan, OnPoint, PartOf, PathState, PathStep, PathSummary, Suspect, SuspectPlan, Suspects,
    assign_folds, choose_lambda, cross_validate, cross_validate_problem, follow, influences, suspects,
};
pub use session::{
    Advice, Changes, CheckpointReport, Checkpointer, EarlierRun, Incoming, KernelCost, PrimalClaim, Round, RunMachine,
    RunOptions, RunSubject, Session, Setting, SlackCost, StartPoint, Summary, SummaryAside, UpdateStart, Verdict,
    Verified, WarmState, as_completed, hold_out, model_format, model_rules, needs_data, read_data, read_prior,
    read_run_data, read_task_data, threads_for, training_part, unlabelled_warning, verify, weights_sha256,
    with_mishaps,
};
pub use shard::{ShardFacts, ShardPrimal, ShardSession, read_shard, verify_shards};
pub use spec::{
    Choice, DEFAULT_SOLVER, DataSpec, Folds, GridOptions, GridPoints, GridSpec, GridStart, Holdout, Lambda, OracleSpec,
    Outer, OuterOptions, PathEnd, PathSpec, Points, RegularizerSpec, RunSpec, SolverChoice, StopSpec, StreamSpec,
    check_threads, find_solver, find_task, format_by_name, params, run_parameters, unused_on_streams,
};
pub use stream::{
    Feed, Learner, Snapshots, StreamEnd, StreamOptions, StreamReason, StreamRecord, StreamSummary, TakeRecord, Window,
    follow_stream,
};
pub use suggest::{nearest as nearest_name, unknown as unknown_name};
