//! The dual point of block solvers: weights, F, and a plane `phi^i` per example, a convex combination of planes seen.
//!
//! [`DualPoint`] is the point as a whole, [`BlockDual`] what the block-coordinate engine does with it. Two things keep
//! it: [`VectorDual`] one vector per example, which Frank-Wolfe steps need and no more, and
//! [`HullState`](crate::hull::HullState) masses over the planes kept, for all other steps ([ADR
//! 0009](../../../docs/adr/0009-two-dual-states.md)).

mod block;
mod block_dual;
mod rule;
mod state;
mod vectors;

pub use block_dual::{BlockDual, BlockVisit, DualPoint};
pub use rule::{Solve, StepRule};
pub use state::DualState;
pub use vectors::{VectorDual, VectorVisit};
