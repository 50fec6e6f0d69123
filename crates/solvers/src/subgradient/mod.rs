//! Stochastic subgradient descent, the baseline without a dual: `w <- (1 - 1/t) w - n p_star / (lambda t)`, where p is
//! the mean plane of k examples (k = 1: SSG, Lacoste-Julien et al. 2013; larger: Pegasos, Shalev-Shwartz et al. 2007,
//! without its projection to a ball).
//!
//! Kept as `z = t (w - w0)`, so that a visit is `z -= n p_star / (k lambda)`, and a step one O(d) scaling. It has no
//! certificate. If weights are constrained, w is projected after every step.
//!
//! | answer | average after step t |
//! |---|---|
//! | `weighted` | `2/(t(t+1)) sum_s s w_s` (Lacoste-Julien et al. 2013) |
//! | `polynomial` | `w_bar <- (1 - r) w_bar + r w_t`, `r = (eta + 1)/(t + eta)` (Shamir & Zhang 2013; eta = 1 is `weighted`) |
//! | `thesis` | the same with `r = 3/(t + 4)`, `w_bar = w_1` at first, as the SFD thesis prints that weight |

mod config;
mod presets;
mod solver;
#[cfg(test)]
mod tests;

pub use config::Subgradient;
pub use presets::{ENTRIES, OnlineSubgradient};
pub use solver::SubgradientSolver;
