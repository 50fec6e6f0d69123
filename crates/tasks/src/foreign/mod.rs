//! Tasks that live elsewhere, in a Python class or another program: what crosses the border, and how it becomes a
//! max-oracle.
//!
//! A [`ForeignTask`] answers four questions about an example: its features, a loss, a decoding, its truth. Nothing it
//! says is trusted: numbers and indices are checked where they come in, and a plane is always built from features and
//! loss, never from a score.

mod audit;
mod executor;
pub mod external;
mod features;
mod oracle;
mod probe;
mod problem;
mod quality;
mod sample;
mod slots;
mod task;

pub use features::FeatureVector;
pub use oracle::{ForeignOracle, LOSS_ROUNDING};
pub use probe::ForeignProbe;
pub use problem::ForeignProblem;
pub use quality::DeclaredQuality;
pub use task::{Examinable, ForeignAnswer, ForeignTask, Shape, WorkerControl};
