//! Solvers, oracles and runs across crates, against references.
//!
//! One program of many files, because linking costs more than running: `--test all NAME::` runs one file.

mod attempts;
mod boxes;
mod brackets;
#[path = "../common/mod.rs"]
mod common;
mod constraints;
mod cutting_planes;
mod data_parts;
mod dear_calls;
mod early_stopping;
mod functional_descent;
mod gap_passes;
mod graphs;
mod lasvm;
mod marginals;
mod mrfs;
mod online;
mod oracles;
mod pages;
mod partial_linearization;
mod path;
mod poses;
#[cfg(feature = "highs")]
mod programmes;
mod promises;
mod resume;
mod rows;
mod several;
mod slack;
mod solvers;
mod streams;
mod threads;
mod weights;
mod workers;
