//! Stopping at once: an oracle that refuses further calls when somebody cannot wait, not even for an evaluation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use multiplane_core::oracle::{BoxedOracle, MaxOracle, OracleError, Quality};
use multiplane_core::plane::Plane;

/// An oracle that fails once the flag is set.
pub(crate) struct Abortable {
    pub(crate) inner: BoxedOracle,
    pub(crate) flag: Arc<AtomicBool>,
}

impl MaxOracle for Abortable {
    fn blocks(&self) -> usize {
        self.inner.blocks()
    }
    fn dim(&self) -> usize {
        self.inner.dim()
    }
    fn maximize(&mut self, block: usize, w: &[f64], out: &mut Plane) -> Result<Quality, OracleError> {
        if self.flag.load(Ordering::Relaxed) {
            return Err(OracleError { block, reason: "interrupted".into() });
        }
        self.inner.maximize(block, w, out)
    }
    fn is_code(&self, block: usize, code: &[u32]) -> bool {
        self.inner.is_code(block, code)
    }
    fn recombines(&self) -> bool {
        self.inner.recombines()
    }
    fn recombine(&mut self, block: usize, w: &[f64], codes: &[u32], out: &mut Plane) -> Result<bool, OracleError> {
        self.inner.recombine(block, w, codes, out)
    }
    fn knows_planes(&self) -> bool {
        self.inner.knows_planes()
    }
    fn linear_scores(&mut self, block: usize, w: &[f64], codes: &[u32], out: &mut [f64]) {
        self.inner.linear_scores(block, w, codes, out);
    }
    fn add_planes(&mut self, block: usize, codes: &[u32], amounts: &[f64], scale: f64, target: &mut [f64]) {
        self.inner.add_planes(block, codes, amounts, scale, target);
    }
    fn expect(&self, block: usize) {
        self.inner.expect(block);
    }
    fn work(&self) -> f64 {
        self.inner.work()
    }
}
