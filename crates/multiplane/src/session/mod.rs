//! Sessions: a specification with its data and task opened, the runs on it, and what they come to.

mod abort;
mod checkpointer;
mod choice;
mod claim;
mod data;
mod held_out;
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
pub use held_out::training_part;
pub use hints::Setting;
pub use incoming::Incoming;
pub use open::{Session, read_run_data, unlabelled_warning};
pub use options::RunOptions;
pub use prior::{read_prior, weights_sha256};
pub use staff::{threads_for, with_mishaps};
pub use summary::{KernelCost, SlackCost, Summary};
pub use verify::{Verified, verify};
pub use warm::WarmState;
