//! The driver: steps a solver until a budget is spent or the gap is small enough, and evaluates bounds aside.
//!
//! Evaluation stops the training clock and uses calls of its own, whose answers no solver sees; all it decides
//! is which iterate to save and when to stop.

mod driver;
mod evaluation;
mod outcome;
mod saving;
mod stop;

pub use driver::Run;
pub(crate) use driver::is_possible;
pub use outcome::{LossMeter, Losses, Outcome, RunError, Unsupported};
pub use stop::{GapTarget, Stop, StopReason};
