//! Calls of an exact pass that are made at one w, so that several workers can answer them, and go on doing so while
//! approximate passes are made. The steps toward their planes are taken one after the other at the present weights: a
//! plane stays one, wherever w has gone.

use crate::context::Ctx;
use crate::oracle::{MaxOracle, OracleResult};
use crate::plane::Plane;

/// The batch in hand; outside of batches calls are made at the present weights.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct CallBatch {
    /// The weights of the calls; empty outside of batches.
    w: Vec<f64>,
    /// Calls of the batch.
    calls: usize,
}

impl CallBatch {
    /// Returns the number of its calls; `None` outside of batches.
    pub(super) fn calls(&self) -> Option<usize> {
        (self.calls > 0).then_some(self.calls)
    }

    /// Begins a batch of so many calls at `w`.
    pub(super) fn begin(&mut self, calls: usize, w: &[f64]) {
        self.w.clear();
        self.w.extend_from_slice(w);
        self.calls = calls;
    }

    /// Ends the batch.
    pub(super) fn end(&mut self) {
        self.w.clear();
        self.calls = 0;
    }

    /// Calls the oracle for `block`. `others` are the blocks of the batch that will be called for next; `now` are the
    /// present weights.
    pub(super) fn call<O: MaxOracle + ?Sized>(
        &self,
        block: usize,
        others: impl Iterator<Item = usize>,
        now: &[f64],
        ctx: &mut Ctx<'_, O>,
        out: &mut Plane,
    ) -> OracleResult {
        if self.calls == 0 {
            return ctx.maximize(block, now, out);
        }
        ctx.maximize_ahead(std::iter::once(block).chain(others), &self.w, out)
    }

    /// Returns true if a restored batch fits `dim` weights.
    pub(super) fn is_sound(&self, dim: usize) -> bool {
        let weights = if self.calls == 0 { self.w.is_empty() } else { self.w.len() == dim };
        weights && crate::state::finite(&self.w)
    }
}
