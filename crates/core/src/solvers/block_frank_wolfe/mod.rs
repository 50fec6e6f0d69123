//! The block-coordinate Frank-Wolfe family: one engine, four dials.
//!
//! BCFW (Lacoste-Julien et al. 2013) moves one example's plane toward the oracle's answer per visit. MP-BCFW (Shah,
//! Kolmogorov, Lampert 2015, Alg. 3) adds passes over the planes kept; Osokin et al. (2016) draw blocks by their gaps,
//! use cached corners while their gap is large, and move mass pairwise. All of them are settings of the dials:
//!
//! | preset | order | step | planes | averaging |
//! |---|---|---|---|---|
//! | `bcfw` | `permutation` | `frank-wolfe` | `none` | `none` |
//! | `bcfw-avg` | `permutation` | `frank-wolfe` | `none` | `weighted` |
//! | `mp-bcfw` | `permutation` | `frank-wolfe` | `multi-plane` | `none` |
//! | `mp-bcfw-avg` | `permutation` | `frank-wolfe` | `multi-plane` | `weighted` |
//! | `bcfw-gap` | `gap` | `frank-wolfe` | `none` | `none` |
//! | `bcfw-cache` | `uniform` | `frank-wolfe` | `gap-cache` | `none` |
//! | `bcfw-gap-cache` | `gap` | `frank-wolfe` | `gap-cache` | `none` |
//! | `bcpfw` | `uniform` | `pairwise` | `none` | `none` |
//! | `bcpfw-gap` | `gap` | `pairwise` | `none` | `none` |
//! | `bcpfw-cache` | `uniform` | `pairwise` | `gap-cache` | `none` |
//! | `bcpfw-gap-cache` | `gap` | `pairwise` | `gap-cache` | `none` |
//! | `auto` | `shrinking` | `solve` | `multi-plane`, 3 idle iterations, recombines when that is cheap | `recent` |
//!
//! Besides the dials, gap passes (n calls that measure) refresh the gaps that orders and caches use. The algorithm is
//! `visit` in `solver.rs`, on one page.

mod batch_step;
mod call_batch;
mod config;
mod corners;
mod given;
mod interface;
mod pace;
mod presets;
mod solver;

pub use crate::dual::{Solve, StepRule};
pub use config::{BlockFrankWolfe, GapStep};
pub use presets::{AUTO, ENTRIES};
pub use solver::BlockFrankWolfeSolver;
