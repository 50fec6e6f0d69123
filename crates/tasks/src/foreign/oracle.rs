//! The max-oracle of a foreign task: builds planes from features and loss.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use multiplane_core::oracle::{MaxOracle, OracleError, Quality};
use multiplane_core::plane::Plane;

use crate::foreign::{FeatureVector, ForeignAnswer, ForeignTask};

/// A worker that several oracles of one slot share: they are never asked at the same time.
pub(super) type Shared<T> = Arc<Mutex<T>>;

/// The truths' features, each asked for once.
pub(super) type Truths = Arc<[OnceLock<FeatureVector>]>;

pub(super) fn lock<T>(worker: &Shared<T>) -> MutexGuard<'_, T> {
    // A panic of a worker has failed the whole work already; what it leaves is never trusted.
    worker.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The max-oracle of a foreign task. A call costs one decoding, one feature vector and one loss on the other side,
/// and O(entries) here.
pub struct ForeignOracle<T: ForeignTask> {
    worker: Shared<T>,
    truths: Truths,
    dim: usize,
    answer: ForeignAnswer<T::Label>,
}

impl<T: ForeignTask> ForeignOracle<T> {
    pub(super) fn new(worker: Shared<T>, truths: Truths, dim: usize) -> Self {
        ForeignOracle { worker, truths, dim, answer: ForeignAnswer::default() }
    }
}

/// The features of an example's truth, asked for where nobody has.
pub(super) fn truth<'a, T: ForeignTask>(
    truths: &'a [OnceLock<FeatureVector>],
    worker: &mut T,
    example: usize,
) -> Result<&'a FeatureVector, String> {
    if truths[example].get().is_none() {
        let label = worker.truth(example)?;
        let mut features = FeatureVector::default();
        worker.features(example, &label, &mut features).map_err(|reason| format!("of the truth: {reason}"))?;
        let _ = truths[example].set(features); // somebody else may have been faster, with the same
    }
    truths[example].get().ok_or_else(|| "its truth has no features".into())
}

/// Writes the plane of an answer, with its 1/n, and returns how far it can be trusted in the plane's own scale.
pub(super) fn plane<L>(
    answer: &ForeignAnswer<L>,
    truth: &FeatureVector,
    scale: f64,
    w: &[f64],
    out: &mut Plane,
) -> Result<Quality, String> {
    if !(answer.loss.is_finite() && answer.loss >= 0.0) {
        return Err(format!("its loss is {}, expected a number >= 0", answer.loss));
    }
    out.clear();
    if answer.loss == 0.0 && answer.features == *truth {
        out.seal();
        return answer.quality_of_plane(truth, scale, w, out); // the truth: nothing that would cancel is stored
    }
    answer.features.difference(truth, scale, out);
    out.set_circ(scale * answer.loss);
    out.seal();
    answer.quality_of_plane(truth, scale, w, out)
}

/// By how much, relative to the numbers involved, a bound may fall below the score of its own labelling: rounding.
const BOUND_TOLERANCE: f64 = 1e-6;

impl<L> ForeignAnswer<L> {
    /// How far the plane can be trusted, in its own scale. A bound below what the plane itself scores bounds nothing.
    fn quality_of_plane(&self, truth: &FeatureVector, scale: f64, w: &[f64], plane: &Plane) -> Result<Quality, String> {
        let Quality::UpperBound(bound) = self.quality else { return Ok(self.quality) };
        let (of_truth, of_plane) = (truth.score(w), plane.view().score(w));
        let own = of_truth + of_plane / scale;
        if bound < own - BOUND_TOLERANCE * (1.0 + own.abs() + of_truth.abs()) {
            return Err(format!("its upper bound is {bound}, below the score {own} of its own labelling"));
        }
        Ok(Quality::UpperBound((scale * (bound - of_truth)).max(of_plane)))
    }
}

impl<T: ForeignTask> MaxOracle for ForeignOracle<T> {
    fn blocks(&self) -> usize {
        self.truths.len()
    }
    fn dim(&self) -> usize {
        self.dim
    }
    fn maximize(&mut self, block: usize, w: &[f64], out: &mut Plane) -> Result<Quality, OracleError> {
        let failed = |reason| OracleError { block, reason };
        let mut worker = lock(&self.worker);
        worker.answer(block, w, true, &mut self.answer).map_err(failed)?;
        let truth = truth(&self.truths, &mut *worker, block).map_err(failed)?;
        plane(&self.answer, truth, 1.0 / self.truths.len() as f64, w, out).map_err(failed)
    }
}
