//! What a solver offers that can go on at another lambda: the capability behind regularisation paths and grids.
//!
//! Planes do not depend on lambda, so a solver that changes it keeps its working sets and their inner products.
//! Source: Osokin et al. 2016, section 5.

use serde::{Deserialize, Serialize};

use crate::context::Ctx;
use crate::oracle::MaxOracle;
use crate::plane::Plane;

/// What of a solver's state stays as it is when lambda changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WarmStart {
    /// w: with `rho = lambda'/lambda <= 1`, every `phi^i` becomes `rho phi^i`, the rest of its mass goes to the truth.
    /// Every block gap g_i becomes `g_i + (1 - rho) score(phi^i; w)`.
    KeepPrimal,
    /// phi: w becomes `w(phi)` at the new lambda.
    KeepDual,
}

impl WarmStart {
    /// Returns the share of phi that goes on where lambda becomes another: what keeps w, but never more than phi is.
    pub fn scale(self, before: f64, lambda: f64) -> f64 {
        match self {
            WarmStart::KeepPrimal => (lambda / before).min(1.0),
            WarmStart::KeepDual => 1.0,
        }
    }
}

/// A solver whose point phi can be taken to another lambda.
///
/// The calls go between steps. None of them calls the oracle; each costs one pass over what the blocks store.
pub trait Rescale<O: MaxOracle + ?Sized> {
    /// Goes on at `lambda`: averages start anew, planes stay. The caller sees to it that `lambda` is no larger than
    /// before where the primal is kept.
    fn rescale(&mut self, lambda: f64, start: WarmStart, ctx: &mut Ctx<'_, O>);

    /// Puts all mass of example `block` on `corner`. w follows with the next [`rescale`](Rescale::rescale) only.
    fn place(&mut self, block: usize, corner: &mut Plane, ctx: &mut Ctx<'_, O>);

    /// Writes w(phi) of the present point, no average, and returns F(phi).
    fn point(&self, w: &mut Vec<f64>) -> f64;
}
