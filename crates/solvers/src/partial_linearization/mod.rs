//! Partial linearisation (Mohapatra, Dokania, Jawahar, Kumar 2016): steps toward what is expected under a Gibbs
//! distribution, where Frank-Wolfe steps go toward the best labelling alone.
//!
//! | preset | blocks in a step | length | rate 1/tau |
//! |---|---|---|---|
//! | `bcpl` | one | exact line search | as given |
//! | `pl` | all, at one w | exact line search | as given |
//! | `oeg` | one | 1 | halved until F rises (Collins et al. 2008) |
//! | `eg` | all, at one w | 1 | halved until F rises |
//!
//! All start on the truth; the papers start uniform (`start = uniform`).
//!
//! With alpha the distribution of a block, `s ~ alpha exp(n score / tau)` and `D = sum_y s_y p^y - phi^i`: the slope
//! along D is at least tau times a relative entropy, so never negative. The solver keeps alpha as the oracle's
//! marginals ([`MarginalPlanes`](crate::oracle::MarginalPlanes)); the dual depends on it through them alone ([ADR
//! 0037](../../../../../docs/adr/0037-partial-linearisation.md)). Where they do not determine alpha, as in
//! arborescences, the slope may be negative: then the temperature falls.

mod batch;
mod block;
mod config;
mod kept;
mod origin;
mod presets;

pub use batch::BatchSolver;
pub use block::BlockSolver;
pub use config::{Length, PartialLinearization, Rate, Start};
pub use presets::ENTRIES;
