//! Models, engines and formats against enumeration and published results.
//!
//! One program of many files, because linking costs more than running: `--test all NAME::` runs one file.

mod arborescence;
mod bad_files;
#[path = "../common/mod.rs"]
mod common;
mod expansion;
mod formats;
mod grid;
mod last_search;
mod marginals_chain;
mod marginals_tilted;
mod marginals_tree;
mod maxflow;
mod maxflow_edges;
mod maxflow_large;
mod maxflow_lowered;
mod min_cut;
mod min_marginals;
mod model;
#[path = "../models/mod.rs"]
mod models;
mod persistency;
#[cfg(feature = "highs")]
mod programme;
mod restricted;
mod score_tree;
mod several;
mod sweep;
mod tree;
mod trws;
