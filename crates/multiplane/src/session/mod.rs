//! Sessions: a specification with its data and task opened, the runs on it, and what they come to.

mod abort;
mod checkpointer;
mod choice;
mod claim;
mod data;
mod hints;
mod incoming;
mod losses;
mod memory;
mod needs;
mod open;
mod options;
mod prepare;
mod prior;
mod reduce;
mod run;
mod staff;
mod summary;
mod verify;
mod warm;

pub(crate) use checkpointer::Origin;
pub use checkpointer::{CheckpointReport, Checkpointer};
pub use choice::{LambdaChoice, ValidatedLambda};
pub use claim::{PrimalClaim, Verdict};
pub use data::{model_format, model_rules, needs_data, read_data, read_task_data};
pub use hints::Setting;
pub use incoming::Incoming;
pub use open::{Session, unlabelled_warning};
pub(crate) use open::{open_task, read_run_data};
pub use options::RunOptions;
pub use prior::{read_prior, weights_sha256};
pub use staff::{threads_for, with_mishaps};
pub use summary::{KernelCost, SlackCost, Summary};
pub use verify::{Verified, verify};
pub use warm::WarmState;
