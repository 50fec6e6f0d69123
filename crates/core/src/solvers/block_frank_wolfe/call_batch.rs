//! Calls of an exact pass that are made at one w, so that several workers can answer them. The steps toward their planes are
//! taken one after the other at the present weights: a plane stays one, wherever w has gone.

use crate::context::Ctx;
use crate::oracle::{MaxOracle, OracleResult};
use crate::plane::Plane;

/// The batch in hand. A batch of one is a plain call.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct CallBatch {
    /// Where the calls are made; empty outside of batches.
    w: Vec<f64>,
    /// Calls that are still to be made there.
    left: usize,
}

impl CallBatch {
    /// Whether the next call begins a batch.
    pub(super) fn is_over(&self) -> bool {
        self.left == 0
    }

    /// Begins a batch of so many calls at `w`.
    pub(super) fn begin(&mut self, calls: usize, w: &[f64]) {
        self.w.clear();
        if calls > 1 {
            self.w.extend_from_slice(w);
        }
        self.left = calls;
    }

    /// Ends the batch, whatever is left of it.
    pub(super) fn end(&mut self) {
        self.w.clear();
        self.left = 0;
    }

    /// Calls the oracle for `block`. `others` are the blocks that will be called for next; `now` are the present weights.
    pub(super) fn call<O: MaxOracle + ?Sized>(
        &mut self,
        block: usize,
        others: impl Iterator<Item = usize>,
        now: &[f64],
        ctx: &mut Ctx<'_, O>,
        out: &mut Plane,
    ) -> OracleResult {
        self.left = self.left.saturating_sub(1);
        if self.w.is_empty() {
            return ctx.maximize(block, now, out);
        }
        ctx.maximize_ahead(std::iter::once(block).chain(others.take(self.left)), &self.w, out)
    }

    /// Whether a restored batch fits `blocks` blocks and `dim` weights.
    pub(super) fn is_sound(&self, blocks: usize, dim: usize) -> bool {
        let weights = self.w.is_empty() || (self.w.len() == dim && crate::state::finite(&self.w));
        weights && self.left <= blocks
    }
}
