//! From data files to max-oracles: readers, joint feature maps, losses and the built-in tasks.
//!
//! ```text
//! file --data/*--> Dataset --TaskEntry--> Box<dyn Problem> --oracle()--> Box<dyn MaxOracle>
//! ```
//!
//! A format is one file in [`data`], a task one file in [`builtin`]; both end at the waist that solvers see,
//! [`MaxOracle`](multiplane_core::oracle::MaxOracle).

pub mod builtin;
pub mod class_weights;
pub mod data;
pub mod dataset;
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
pub mod synth;
pub mod text;
pub mod twofold;

/// Hash of the sources of this crate: planes that are kept by their labellings alone are computed anew by its code, and
/// its decoders and prices decide how a run goes on.
pub const SOURCES: &str = env!("MULTIPLANE_SOURCES");
