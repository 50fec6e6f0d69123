//! Sessions: a specification with its data and task opened, the runs on it, and what they come to.

mod checkpointer;
mod claim;
mod data;
mod held_out;
mod hints;
mod losses;
mod open;
mod prepare;
mod prior;
mod reduce;
mod requirements;
mod rounds;
mod run;
mod stdin;
mod summary;
mod task;
mod threads;
mod verify;
mod warm;

pub(crate) use checkpointer::{Cadence, CheckpointOrigin};
pub use checkpointer::{CheckpointReport, Checkpointer, RunOptions};
pub use claim::{PrimalClaim, Verdict};
pub(crate) use data::is_given;
pub use data::{model_format, model_rules, needs_data, read_data, read_task_data};
pub use held_out::{hold_out, training_part};
pub use hints::{Advice, Setting};
pub use open::{Session, read_run_data, unlabelled_warning};
pub use prior::{read_prior, weights_sha256};
pub(crate) use requirements::check_copies;
pub use rounds::as_completed;
pub use stdin::Incoming;
pub use summary::{KernelCost, Round, RunMachine, RunSubject, SlackCost, Summary, SummaryAside};
pub(crate) use task::{list_class_weights, open_task};
pub use threads::{threads_for, with_mishaps};
pub use verify::{Verified, verify};
pub use warm::WarmState;
