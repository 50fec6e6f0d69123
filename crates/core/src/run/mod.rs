//! The driver: steps a solver until a budget is spent or the gap is small enough, and evaluates bounds aside.
//!
//! Bounds are evaluated when that can end the run, or after every outer iteration ([`Evaluate`]). An evaluation
//! decides only which iterate to save and when to stop; a solver gets its planes only on request.
//!
//! A [`Run`] is a loop (`driver.rs`, and `report.rs` for records and the outcome) over three parts that own their
//! fields: `Training` (the solver and all that it steps in), `Evaluator` (bounds, and the attempts to prove the gap:
//! `attempt.rs`), and `LossWatch` (task losses, and early stopping by them).

mod attempt;
mod attempt_state;
mod bounds;
mod budget;
mod candidate;
mod driver;
mod evaluator;
mod gap_predictor;
mod handover;
mod hinges;
mod loss_watch;
mod outcome;
mod report;
mod saving;
mod spent;
mod stall;
mod training;

pub use crate::certificate::GapTarget;
pub(crate) use bounds::is_possible;
pub use driver::Run;
pub use gap_predictor::Evaluate;
pub use handover::{EvaluatedWeights, RunPoint};
pub use outcome::{LossMeter, LossMeters, Outcome, RunError, Stop, StopReason, Unsupported};
pub(crate) use spent::Spent;
