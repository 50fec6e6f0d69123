//! Stopping at once: an oracle that refuses further calls when there is no time, not even for an evaluation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use multiplane_core::oracle::{MaxOracle, OracleError, OracleResult, Wrapper};
use multiplane_core::plane::Plane;

/// Makes every call fail once the flag is set.
pub(crate) struct Abort(pub(crate) Arc<AtomicBool>);

impl Wrapper for Abort {
    fn maximize(&mut self, inner: &mut impl MaxOracle, block: usize, w: &[f64], out: &mut Plane) -> OracleResult {
        if self.0.load(Ordering::Relaxed) {
            return Err(OracleError { block, reason: "interrupted".into() });
        }
        inner.maximize(block, w, out)
    }
}
