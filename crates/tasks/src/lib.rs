//! From data sets to max-oracles: joint feature maps, losses and the built-in tasks.
//!
//! ```text
//! file --multiplane_data--> Dataset --TaskEntry--> Box<dyn Problem> --oracle()--> Box<dyn MaxOracle>
//! ```
//!
//! A format is a file or folder in [`multiplane_data`], a task one in [`builtin`]; both end at the waist that solvers
//! see, [`MaxOracle`](multiplane_core::oracle::MaxOracle).

pub mod builtin;
pub mod class_weights;
pub mod double_double;
pub mod entry;
pub mod foreign;
pub mod kernel;
pub mod losses;
pub mod metrics;
pub mod probe;
pub mod problem;
pub mod reference;
pub mod registry;
pub mod rescaling;

pub use multiplane_data as data;
pub use multiplane_data::{dataset, synth, templates as text};
