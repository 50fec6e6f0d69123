//! The dual point with every example's plane as an explicit combination of planes kept.
//!
//! `phi^i = sum_p alpha_p p` over the working set, the rest of the mass on the truth. What pairwise and away steps
//! and block solves need. A visit scores the planes once (O(planes x stored coefficients)), moves mass on cached
//! inner products (O(planes) a pairwise step, O(planes^2) others), writes w once, for the planes whose mass changed.

mod block_dual;
mod joint;
mod state;
#[cfg(test)]
mod tests;
mod visit;

pub use state::HullState;
pub use visit::HullVisit;
