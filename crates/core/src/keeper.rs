//! What a solver that keeps planes offers to the evaluation of bounds: what its planes say of a primal value before it is
//! evaluated, and a place for the planes that an evaluation finds.

use crate::context::Ctx;
use crate::oracle::MaxOracle;
use crate::plane::Plane;

/// A solver that can bound hinges from below and learn from an evaluation.
///
/// The calls go between outer iterations. None of them calls the oracle.
pub trait PlaneKeeper<O: MaxOracle + ?Sized> {
    /// Returns the largest score at `w` among the planes known of example `block`: no more than its hinge. Costs the
    /// inner products of these planes.
    fn hinge_kept(&mut self, block: usize, w: &[f64], ctx: &mut Ctx<'_, O>) -> f64;

    /// Returns the gap of example `block` when the oracle was last asked for it; infinite before that.
    fn gap_seen(&self, block: usize) -> f64;

    /// Returns whether planes that an evaluation finds are taken; if not, nothing of it reaches the solver.
    fn takes(&self) -> bool;

    /// Keeps the oracle's answer for example `block`, which an evaluation at some w has found: a call that the next exact
    /// pass need not make.
    fn take(&mut self, block: usize, answer: &mut Plane, ctx: &mut Ctx<'_, O>);
}
