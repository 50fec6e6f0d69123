//! From data files to max-oracles: readers, joint feature maps, losses and the built-in tasks.
//!
//! ```text
//! file --data/*--> Dataset --tasks/*--> Box<dyn Problem> --oracle()--> Box<dyn MaxOracle>
//! ```
//!
//! A format is one file in [`data`], a task one file in [`tasks`]; both end at the waist that solvers see,
//! [`MaxOracle`](multiplane_core::oracle::MaxOracle).

pub mod chunks;
pub mod data;
pub mod dataset;
pub mod foreign;
pub mod losses;
pub mod patient;
pub mod problem;
pub mod reference;
mod specimen;
pub mod synth;
pub mod tasks;
pub mod text;
