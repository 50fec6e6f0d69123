//! Files: models, paths and checkpoints in one container, records, and how a file is replaced safely.

mod breakpoint;
mod bulk;
mod checkpoint;
mod container;
mod dictionary;
mod durable;
mod lambda_choice;
mod lock;
mod model;
mod model_file;
mod packed;
mod path_model;
mod provenance;
mod ready;
mod record;
mod tensors;

pub use breakpoint::{Breakpoint, least_test_loss};
pub(crate) use bulk::check_fits;
pub use checkpoint::{CHECKPOINT_FORMAT, Checkpoint, CheckpointInfo, Outputs, previous as previous_checkpoint};
pub use container::FORMAT_VERSION;
pub(crate) use container::sha256;
pub(crate) use durable::sweep;
pub use durable::{DurableFile, abandon_unfinished, check_writable, durable_write, is_special, leads_to};
pub use lambda_choice::{LambdaChoice, ValidatedLambda};
pub(crate) use lock::Lock;
pub use lock::lock_path;
pub use model::{Model, ModelInfo};
pub use model_file::ModelFile;
pub use path_model::{PathInfo, PathKind, PathModel};
pub use provenance::Provenance;
pub use ready::ReadyModel;
pub use record::{RecordFile, RecordPosition};
