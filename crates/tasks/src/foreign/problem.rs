//! A foreign task as a [`Problem`]: what sessions, models and verification hold.

use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use multiplane_core::divide::divide;
use multiplane_core::executor::Executor;
use multiplane_core::oracle::{BoxedOracle, OracleError, Quality};
use multiplane_core::plane::Plane;

use crate::foreign::executor::ForeignExecutor;
use crate::foreign::oracle::{self, Shared, Truths, lock};
use crate::foreign::{FeatureVector, ForeignAnswer, ForeignOracle, ForeignPatient, ForeignTask, Shape};
use crate::patient::{self, BoxedPatient};
use crate::problem::{Evaluation, MAX_DIM, OpenError, Prediction, Problem, Vocabulary};
use crate::reference::careful_sum;

/// Workers that the doctor asks at the same time.
const DOCTOR_THREADS: usize = 2;

/// Most examples: their truths' features are kept, some 56 bytes each before the first.
const MAX_EXAMPLES: usize = 1 << 28;

/// Makes a worker.
type Make<T> = Box<dyn Fn() -> Result<T, String> + Send + Sync>;

/// A task that lives elsewhere, on its examples.
pub struct ForeignProblem<T: ForeignTask> {
    name: &'static str,
    shape: Shape,
    vocabulary: Vocabulary,
    make: Make<T>,
    /// One worker per slot, made when the slot is first asked for.
    slots: Mutex<Vec<Shared<T>>>,
    truths: Truths,
}

impl<T: ForeignTask + 'static> ForeignProblem<T> {
    /// A problem whose first worker is there already; `make` makes more, for more threads.
    pub fn new(name: &'static str, shape: Shape, first: T, make: Make<T>) -> Result<Self, OpenError> {
        if shape.examples == 0 {
            return Err(OpenError::new("there is no example in the data".into()));
        }
        if shape.examples > MAX_EXAMPLES {
            return Err(OpenError::new(format!("{} examples: expected at most {MAX_EXAMPLES}", shape.examples)));
        }
        if shape.dim == 0 || shape.dim > MAX_DIM {
            return Err(OpenError::new(format!("dim = {}: must be between 1 and {MAX_DIM}", shape.dim)));
        }
        if let Some(range) = shape.nonnegative.iter().find(|range| range.end > shape.dim || range.start > range.end) {
            return Err(OpenError::new(format!("nonnegative {range:?}: must lie within 0..{}", shape.dim)));
        }
        let truths = (0..shape.examples).map(|_| OnceLock::new()).collect();
        let slots = Mutex::new(vec![Arc::new(Mutex::new(first))]);
        Ok(ForeignProblem { name, shape, vocabulary: Vocabulary::default(), make, slots, truths })
    }

    /// What a model must remember.
    pub fn with_vocabulary(mut self, vocabulary: Vocabulary) -> Self {
        self.vocabulary = vocabulary;
        self
    }

    /// The worker of a slot.
    fn worker(&self, slot: usize) -> Result<Shared<T>, String> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        while slots.len() <= slot {
            slots.push(Arc::new(Mutex::new((self.make)()?)));
        }
        Ok(slots[slot].clone())
    }

    /// The workers of so many slots.
    fn workers(&self, threads: usize) -> Result<Vec<Shared<T>>, String> {
        (0..threads.clamp(1, self.shape.examples)).map(|slot| self.worker(slot)).collect()
    }

    /// Decodes every example without its truth on so many workers, in order, and hands over what `judge` makes of
    /// the answers.
    fn decode_all<F: Send>(
        &self,
        w: &[f64],
        threads: usize,
        judge: impl Fn(&mut T, usize, &ForeignAnswer<T::Label>) -> Result<F, String> + Sync,
        mut each: impl FnMut(F),
    ) -> Result<(), OracleError> {
        let threads = threads.clamp(1, self.shape.examples);
        let mut workers = self.workers(threads).map_err(|reason| OracleError { block: 0, reason })?;
        let together = lock(&workers[0]).batch().max(1);
        let all: Vec<usize> = (0..self.shape.examples).collect();
        for chunk in all.chunks(together * threads) {
            let mut slots: Vec<(&[usize], Vec<F>)> = chunk.chunks(together).map(|part| (part, Vec::new())).collect();
            let fill = |worker: &mut Shared<T>, _: usize, (part, found): &mut (&[usize], Vec<F>)| {
                let mut worker = lock(worker);
                let mut answers = Vec::new();
                answers.resize_with(part.len(), ForeignAnswer::default);
                let named = |(slot, reason): (usize, String)| format!("example {}: {reason}", part[slot]);
                worker.answers(part, w, false, &mut answers).map_err(named)?;
                for (slot, (&example, answer)) in part.iter().zip(&answers).enumerate() {
                    found.push(judge(&mut worker, example, answer).map_err(|reason| named((slot, reason)))?);
                }
                Ok(())
            };
            let first = chunk[0];
            divide(&mut workers, &mut slots, fill)
                .map_err(|unfilled| OracleError { block: first + unfilled.slot * together, reason: unfilled.reason })?;
            slots.into_iter().flat_map(|(_, found)| found).for_each(&mut each);
        }
        Ok(())
    }
}

impl<T: ForeignTask + 'static> Problem for ForeignProblem<T> {
    fn task(&self) -> &'static str {
        self.name
    }
    fn blocks(&self) -> usize {
        self.shape.examples
    }
    fn dim(&self) -> usize {
        self.shape.dim
    }
    fn weight_blocks(&self) -> Vec<(&'static str, Range<usize>)> {
        Vec::new()
    }
    fn nonnegative(&self) -> Vec<Range<usize>> {
        self.shape.nonnegative.clone()
    }
    fn oracle(&self) -> Result<BoxedOracle, OpenError> {
        self.oracle_of(0)
    }
    fn oracle_of(&self, slot: usize) -> Result<BoxedOracle, OpenError> {
        Ok(Box::new(ForeignOracle::new(self.worker(slot)?, self.truths.clone(), self.shape.dim)))
    }
    fn executor(&self, threads: usize) -> Result<Option<Box<dyn Executor>>, OpenError> {
        let workers = self.workers(threads)?;
        if workers.len() < 2 && lock(&workers[0]).batch() < 2 {
            return Ok(None);
        }
        Ok(Some(Box::new(ForeignExecutor::new(workers, self.truths.clone()))))
    }
    fn patient(&self) -> Result<Option<BoxedPatient<'_>>, OpenError> {
        let workers = self.workers(DOCTOR_THREADS)?;
        Ok(Some(patient::erase(ForeignPatient::new(self.shape.clone(), workers))))
    }
    fn to_file_layout(&self, w: &[f64]) -> Vec<f64> {
        w.to_vec()
    }
    fn from_file_layout(&self, w: &[f64]) -> Vec<f64> {
        w.to_vec()
    }
    fn predict(&self, w: &[f64], threads: usize, each: &mut dyn FnMut(Prediction)) -> Result<(), OracleError> {
        let judge = |worker: &mut T, example: usize, answer: &ForeignAnswer<T::Label>| {
            let label = answer.label.as_ref().ok_or("no answer")?;
            let (wrong, variables) = worker.errors(example, label, answer.loss)?;
            let truth = worker.truth(example)?;
            let (text, truth) = (worker.show(label)?, worker.show(&truth)?);
            Ok(Prediction { text, truth, loss: answer.loss, wrong, variables })
        };
        self.decode_all(w, threads, judge, each)
    }
    fn predict_numbers(&self, _: &[f64], _: usize, _: &mut dyn FnMut(&[u32])) -> Result<(), OracleError> {
        Err(OracleError { block: 0, reason: format!("the labels of task `{}` have no numbers", self.name) })
    }
    fn evaluate(&self, w: &[f64], threads: usize) -> Result<Evaluation, OracleError> {
        let judge = |worker: &mut T, example: usize, answer: &ForeignAnswer<T::Label>| {
            let label = answer.label.as_ref().ok_or("no answer")?;
            Ok((answer.loss, worker.errors(example, label, answer.loss)?))
        };
        let (mut loss, mut wrong, mut variables, mut exact) = (0.0, 0, 0, 0);
        self.decode_all(w, threads, judge, |(cost, (errors, all))| {
            loss += cost;
            wrong += errors;
            variables += all;
            exact += usize::from(errors == 0);
        })?;
        let n = self.shape.examples as f64;
        Ok(Evaluation {
            n: self.shape.examples,
            loss: loss / n,
            accuracy: if variables == 0 { 1.0 } else { 1.0 - wrong as f64 / variables as f64 },
            exact: exact as f64 / n,
            chunks: None,
        })
    }
    fn reference_primal_from(
        &self,
        prior: Option<&[f64]>,
        w: &[f64],
        lambda: f64,
        _threads: usize,
    ) -> Result<f64, OracleError> {
        let hinges: Result<Vec<f64>, OracleError> =
            (0..self.shape.examples).map(|block| self.reference_hinge(block, w)).collect();
        let from = |k: usize| prior.map_or(0.0, |prior| prior[k]);
        let square = careful_sum(w.iter().enumerate().map(|(k, w)| (w - from(k)) * (w - from(k))));
        Ok(0.5 * lambda * square + careful_sum(hinges?.into_iter()))
    }
    fn reference_hinge(&self, block: usize, w: &[f64]) -> Result<f64, OracleError> {
        let failed = |reason| OracleError { block, reason };
        let worker = self.worker(0).map_err(failed)?;
        let mut worker = lock(&worker);
        let mut answer = ForeignAnswer::default();
        worker.answer(block, w, true, &mut answer).map_err(failed)?;
        let truth = oracle::truth(&self.truths, &mut *worker, block).map_err(failed)?;
        // The answer is checked as in training; its score is summed by other code.
        let mut checked = Plane::new();
        oracle::plane(&answer, truth, 1.0, w, &mut checked).map_err(failed)?;
        let score = |features: &FeatureVector| careful_sum(features.iter().map(|(k, value)| w[k as usize] * value));
        let found = score(&answer.features) + answer.loss.max(0.0);
        // Where the answer is a bound, the bound is what the primal value is made of.
        let most = if let Quality::UpperBound(bound) = answer.quality { bound.max(found) } else { found };
        Ok((most - score(truth)).max(0.0) / self.shape.examples as f64)
    }
    fn reference_plane(&self, _block: usize, _code: &[u32], _add: &mut dyn FnMut(usize, f64)) -> Option<f64> {
        None
    }
    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }
    fn fingerprint(&self) -> &str {
        &self.shape.fingerprint
    }
    fn warnings(&self) -> &[String] {
        &self.shape.warnings
    }
}
