//! The driver: steps a solver until a budget is spent or the gap is small enough, and evaluates bounds aside.
//!
//! Bounds are evaluated where that can end the run, or after every outer iteration ([`Evaluate`]). All that an evaluation
//! decides is which iterate to save and when to stop; what it finds reaches a solver only where that asks for it.

mod ask;
mod attempt;
mod booking;
mod budget;
mod candidate;
mod driver;
mod evaluation;
mod losses;
mod moment;
mod outcome;
mod patience;
mod proof;
mod saving;
mod setup;
mod still;
mod stop;
mod under_way;
mod watched;

pub(crate) use booking::Spent;
pub use driver::Run;
pub use moment::Evaluate;
pub use outcome::{LossMeter, LossMeters, Losses, Outcome, RunError, Unsupported};
pub(crate) use proof::is_possible;
pub use stop::{GapTarget, Stop, StopReason};
