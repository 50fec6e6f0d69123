//! The max-oracle of a foreign task: builds planes from features and loss.

use std::sync::{Arc, OnceLock};

use multiplane_core::oracle::{MaxOracle, OracleError, Quality};
use multiplane_core::plane::Plane;

use crate::foreign::audit::Audit;
use crate::foreign::features::FeatureVector;
use crate::foreign::sample::Sampler;
use crate::foreign::slots::{Shared, Slots};
use crate::foreign::task::{ForeignAnswer, ForeignTask};

/// The truths' features, each asked for once.
pub(super) type Truths = [OnceLock<FeatureVector>];

/// The answers of the workers of a task that are kept.
pub(super) struct Told<L> {
    /// The truths.
    pub(super) truths: Box<Truths>,
    /// Some answers.
    pub(super) sampler: Sampler<L>,
    /// The record that answers are held against, if that is done here.
    pub(super) audit: Option<Audit>,
}

impl<L: Clone> Told<L> {
    /// Nothing yet about so many examples.
    pub(super) fn new(examples: usize, is_audited: bool) -> Self {
        let truths = (0..examples).map(|_| OnceLock::new()).collect();
        Told { truths, sampler: Sampler::new(examples), audit: is_audited.then(|| Audit::new(examples)) }
    }

    /// Holds an answer with the loss added against what is known of its example; the truth was asked for before.
    pub(super) fn audit(&self, example: usize, w: &[f64], answer: &ForeignAnswer<L>) -> Result<(), String> {
        match (&self.audit, self.truths[example].get()) {
            (Some(audit), Some(truth)) => audit.augmented(example, w, answer, truth),
            _ => Ok(()),
        }
    }
}

/// The max-oracle of a foreign task. A call costs one decoding, one feature vector and one loss on the other side,
/// and O(entries) here.
pub struct ForeignOracle<T: ForeignTask> {
    slots: Arc<Slots<T>>,
    slot: usize,
    worker: Shared<T>,
    told: Arc<Told<T::Label>>,
    dim: usize,
    answer: ForeignAnswer<T::Label>,
}

impl<T: ForeignTask> ForeignOracle<T> {
    /// Asks the worker of a slot, and another one where that is lost.
    pub(super) fn new(
        slots: Arc<Slots<T>>,
        slot: usize,
        told: Arc<Told<T::Label>>,
        dim: usize,
    ) -> Result<Self, String> {
        let worker = slots.sound(slot)?;
        Ok(ForeignOracle { slots, slot, worker, told, dim, answer: ForeignAnswer::default() })
    }

    fn ask(&mut self, block: usize, w: &[f64], out: &mut Plane) -> Result<Quality, String> {
        let (told, answer) = (&self.told, &mut self.answer);
        self.slots.ask(self.slot, &mut self.worker, 1, |worker, _| {
            worker.answer(block, w, true, answer)?;
            let truth = truth(&told.truths, worker, block)?;
            let quality = plane(answer, truth, 1.0 / told.truths.len() as f64, w, out)?;
            told.audit(block, w, answer)?;
            told.sampler.see(block, answer);
            Ok(quality)
        })
    }
}

/// Returns the features of an example's truth, asked for where no worker has; its loss must be 0.
pub(super) fn truth<'a, T: ForeignTask>(
    truths: &'a Truths,
    worker: &mut T,
    example: usize,
) -> Result<&'a FeatureVector, String> {
    if truths[example].get().is_none() {
        let label = worker.truth(example)?;
        let loss = worker.loss(example, &label)?;
        if loss.is_nan() || loss.abs() > LOSS_ROUNDING {
            return Err(format!("the loss of its truth is {loss}, expected 0"));
        }
        let mut features = FeatureVector::default();
        worker.features(example, &label, &mut features).map_err(|reason| format!("of the truth: {reason}"))?;
        let _ = truths[example].set(features); // another worker may have been faster, with the same
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
    if !(answer.loss.is_finite() && answer.loss >= -LOSS_ROUNDING) {
        return Err(format!("its loss is {}, expected a number >= 0", answer.loss));
    }
    let loss = answer.loss.max(0.0);
    out.clear();
    if loss == 0.0 && answer.features == *truth {
        out.seal();
        return answer.quality_of_plane(truth, scale, w, out); // the truth: nothing that would cancel is stored
    }
    answer.features.difference(truth, scale, out);
    out.set_circ(scale * (loss + answer.features.fixed - truth.fixed));
    out.seal();
    answer.quality_of_plane(truth, scale, w, out)
}

/// By how much a loss may be off 0 where it should be 0: rounding.
pub const LOSS_ROUNDING: f64 = 1e-9;

/// By how much, relative to the numbers involved, a bound may fall below the score of its own labelling: rounding.
const BOUND_TOLERANCE: f64 = 1e-6;

impl<L> ForeignAnswer<L> {
    /// How far the plane can be trusted, in its own scale. A bound below what the plane itself scores bounds nothing.
    fn quality_of_plane(&self, truth: &FeatureVector, scale: f64, w: &[f64], plane: &Plane) -> Result<Quality, String> {
        let Quality::UpperBound(bound) = self.quality else { return Ok(self.quality) };
        if !bound.is_finite() {
            return Err(format!("its upper bound is {bound}, expected a finite number"));
        }
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
        self.told.truths.len()
    }
    fn dim(&self) -> usize {
        self.dim
    }
    fn maximize(&mut self, block: usize, w: &[f64], out: &mut Plane) -> Result<Quality, OracleError> {
        self.ask(block, w, out).map_err(|reason| OracleError { block, reason })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::foreign::task::WorkerControl;

    /// One example, two labels 0 (the truth) and 1, one feature each.
    struct Tiny {
        loss_of_truth: f64,
        bound: Option<f64>,
    }

    impl WorkerControl for Tiny {}

    impl ForeignTask for Tiny {
        type Label = usize;

        fn truth(&mut self, _: usize) -> Result<usize, String> {
            Ok(0)
        }
        fn features(&mut self, _: usize, label: &usize, out: &mut FeatureVector) -> Result<(), String> {
            out.push(*label as i64, 2.0, 2)
        }
        fn loss(&mut self, _: usize, label: &usize) -> Result<f64, String> {
            Ok(if *label == 0 { self.loss_of_truth } else { 1.0 })
        }
        fn decode(&mut self, _: usize, _: &[f64], _: bool) -> Result<(usize, Quality), String> {
            Ok((1, self.bound.map_or(Quality::Exact, Quality::UpperBound)))
        }
        fn show(&mut self, label: &usize) -> Result<String, String> {
            Ok(label.to_string())
        }
    }

    fn ask(loss_of_truth: f64, bound: Option<f64>) -> Result<(Quality, f64), String> {
        let told = Arc::new(Told::new(1, false));
        let make = |_: usize| Err("there is only one".to_string());
        let slots = Arc::new(Slots::new(Tiny { loss_of_truth, bound }, Box::new(make), Arc::default()));
        let mut oracle = ForeignOracle::new(slots, 0, told, 2)?;
        let mut plane = Plane::new();
        let w = [0.5, 3.0];
        let quality = oracle.maximize(0, &w, &mut plane).map_err(|error| error.to_string())?;
        Ok((quality, plane.view().score(&w)))
    }

    /// The plane is features and loss minus the truth's; a bound comes on the same scale.
    #[test]
    fn planes_are_built_from_features_and_loss() {
        assert_eq!(ask(0.0, None), Ok((Quality::Exact, 2.0 * 3.0 + 1.0 - 2.0 * 0.5)));
        assert_eq!(ask(0.0, Some(9.0)), Ok((Quality::UpperBound(9.0 - 1.0), 6.0)));
    }

    /// A loss that rounding put off 0 is 0.
    #[test]
    fn rounding_is_no_loss() {
        assert!(ask(1.1e-16, None).is_ok() && ask(-1.1e-16, None).is_ok());
    }

    /// Answers that cannot be true are refused: a truth with a loss, a bound below its own labelling's score.
    #[test]
    fn contradictions_are_refused() {
        assert!(ask(0.5, None).unwrap_err().contains("the loss of its truth is 0.5, expected 0"));
        let reason = ask(0.0, Some(6.5)).unwrap_err();
        assert!(reason.contains("upper bound is 6.5, below the score 7"), "{reason}");
        for bound in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(ask(0.0, Some(bound)).unwrap_err().contains("expected a finite number"), "{bound}");
        }
    }
}
