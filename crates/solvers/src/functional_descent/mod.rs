//! Stochastic functional descent (SFD): steps that reduce the hinges of a sample as far as a local regulariser lets
//! them.
//!
//! At step t a sample S_t of k examples is drawn, and `u_t = argmin lambda_t/2 |u|^2 + mean hinge of S_t at w_t + u`,
//! where the *residual margin* `rho_t(y) = n score(p^y; w_t)` stands in the place of the loss; `w_{t+1} = w_t + u_t`.
//! There is no global regulariser, so no dual value and no certificate, and no use for lambda: P at the run's lambda is
//! what it happens to be. Steps are solved by 1-slack cutting planes over S_t, on the master of
//! [`cutting_plane`](super::cutting_plane), or with a block for each example, as `mp-bcfw` has it.
//!
//! | file | what |
//! |---|---|
//! | `config.rs` | parameters, schedules of lambda_t |
//! | `choice.rs` | active selection of a sample |
//! | `margins.rs` | the answer about an example, its residual margin clamped |
//! | `inner/` | the problem of one step, by 1-slack cutting planes or by blocks |
//! | `solver.rs` | step after step |
//! | `presets.rs` | lines of the registry, notes to users, windows of a stream |

mod choice;
mod config;
mod inner;
mod margins;
mod presets;
mod solver;

pub use config::{Constant, FunctionalDescent, Geometric, InnerSolver, Margins, MpBcfw, Power, Schedule};
pub use presets::{ENTRIES, OnlineDescent};
pub use solver::FunctionalDescentSolver;
