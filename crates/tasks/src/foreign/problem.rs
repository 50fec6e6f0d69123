//! A foreign task as a [`Problem`]: what sessions, models and verification hold.

use std::ops::Range;
use std::sync::Arc;

use multiplane_core::executor::{Executor, PoolSize, PoolStats};
use multiplane_core::oracle::{BoxedOracle, OracleError, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::rounding::{Magnitudes, UNIT};

use crate::data::SparseRows;
use crate::double_double::DoubleDouble;
use crate::foreign::executor;
use crate::foreign::features::FeatureVector;
use crate::foreign::oracle::{self, ForeignOracle, Told};
use crate::foreign::probe::ForeignProbe;
use crate::foreign::sample::digest;
use crate::foreign::slots::{Make, Shared, Slots, lock, persist};
use crate::foreign::task::{Examinable, ForeignAnswer, ForeignTask, Shape};
use crate::metrics::{Evaluation, LabelReport, Measure};
use crate::probe::{self, BoxedProbe};
use crate::problem::{
    AnswerSample, Completion, EachResult, FeatureSizes, GoOn, Judged, MAX_DIM, MarginPrediction, MarginalPrediction,
    OpenError, Oracles, Prediction, Predictor, ProblemFacts, ProblemReference, Tally, TopPrediction, Vocabulary,
    WeightLayout, WholeProblem, decode_all,
};
use crate::reference::careful_sum;

/// Workers that the doctor asks at the same time.
const DOCTOR_THREADS: usize = 2;

/// Parts that each worker would get of all examples if all took equally long.
const PARTS: usize = 4;

/// Most examples: what is kept of each, its truth and its block, takes some 500 bytes before the first answer.
const MAX_EXAMPLES: usize = 1 << 24;

/// A task that lives elsewhere, on its examples.
pub struct ForeignProblem<T: ForeignTask> {
    facts: ProblemFacts,
    slots: Arc<Slots<T>>,
    /// Number of workers, if the task itself decides.
    own_workers: Option<usize>,
    told: Arc<Told<T::Label>>,
}

impl<T: Examinable + 'static> ForeignProblem<T> {
    /// Makes a problem from its first worker; `make` makes more, for more threads. `stats` counts what happens to them.
    ///
    /// # Errors
    ///
    /// There is no example or there are too many, or dimension or signs of the weights cannot be.
    pub fn new(
        name: &'static str,
        shape: Shape,
        first: T,
        make: Make<T>,
        stats: Arc<PoolStats>,
    ) -> Result<Self, OpenError> {
        if shape.examples == 0 {
            return Err(OpenError::new("there is no example in the data"));
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
        let told = Arc::new(Told::new(shape.examples, first.is_audited()));
        let slots = Arc::new(Slots::new(first, make, stats));
        let facts = ProblemFacts {
            task: name,
            blocks: shape.examples,
            dim: shape.dim,
            nonnegative: shape.nonnegative,
            is_audited: told.audit.is_some(),
            has_fixed_scores: shape.has_fixed_scores,
            is_weighted: false,
            is_partly_known: false,
            total_weight: shape.examples as f64,
            vocabulary: Vocabulary::default(),
            fingerprint: shape.fingerprint,
            warnings: shape.warnings,
        };
        Ok(ForeignProblem { facts, slots, own_workers: None, told })
    }

    /// Says what a model must remember.
    pub fn with_vocabulary(mut self, vocabulary: Vocabulary) -> Self {
        self.facts.vocabulary = vocabulary;
        self
    }

    /// Has so many workers answer, whatever a run asks for.
    pub fn with_workers(mut self, workers: Option<usize>) -> Self {
        self.own_workers = workers;
        self
    }

    /// Decodes every example at `w` without the loss and returns the labellings in order.
    ///
    /// # Errors
    ///
    /// The first example, in their order, that cannot be decoded.
    pub fn labels(&self, w: &[f64], threads: usize) -> Result<Vec<T::Label>, OracleError> {
        let mut labels = Vec::with_capacity(self.facts.blocks);
        let judge = |_: &mut T, _: usize, answer: &ForeignAnswer<T::Label>| {
            answer.label.clone().ok_or_else(|| "no answer".to_string())
        };
        self.decode_all(w, false, threads, judge, |label| labels.push(label))?;
        Ok(labels)
    }

    /// A worker to ask one by one.
    fn worker(&self) -> Result<Shared<T>, String> {
        self.slots.sound(0)
    }

    /// The workers of so many slots, with their slots.
    fn workers(&self, threads: usize) -> Result<Vec<(usize, Shared<T>)>, String> {
        let of_slot = |slot| Ok((slot, self.slots.sound(slot)?));
        (0..threads.clamp(1, self.facts.blocks)).map(of_slot).collect()
    }

    /// Decodes every example on so many workers, in order, and hands over what `judge` makes of the answers. Whoever is
    /// lost on the way leaves its examples to the others.
    fn decode_all<F: Send>(
        &self,
        w: &[f64],
        augmented: bool,
        threads: usize,
        judge: impl Fn(&mut T, usize, &ForeignAnswer<T::Label>) -> Result<F, String> + Sync,
        each: impl FnMut(F),
    ) -> Result<(), OracleError> {
        let mut workers =
            self.workers(self.own_workers.unwrap_or(threads)).map_err(|reason| OracleError { block: 0, reason })?;
        let (most, round) = (lock(&workers[0].1).hand_out().most.max(1), workers.len());
        // None should be idle at the end.
        let share = if round > 1 { self.facts.blocks.div_ceil(PARTS * round) } else { most };
        let (together, round) = (most.min(share), if round > 1 { PARTS * round } else { 1 });
        let decode = |(slot, worker): &mut (usize, Shared<T>), examples: Range<usize>, found: &mut Vec<F>| {
            let left = examples.len();
            self.slots.ask(*slot, worker, left, |worker, losses| {
                // After a loss one at a time, so that the example to blame is known.
                let size = if losses > 0 { 1 } else { left };
                for part in Vec::from_iter(examples.clone().skip(found.len())).chunks(size) {
                    let mut answers = Vec::new();
                    answers.resize_with(part.len(), ForeignAnswer::default);
                    let failed = worker.answers(part, w, augmented, &mut answers).err();
                    let answered = failed.as_ref().map_or(part.len(), |(slot, _)| *slot);
                    for (&example, answer) in part.iter().zip(&answers).take(answered) {
                        if let (Some(audit), false) = (&self.told.audit, augmented) {
                            audit.plain(example, w, answer, worker)?;
                        }
                        found.push(judge(worker, example, answer)?);
                    }
                    failed.map_or(Ok(()), |(_, reason)| Err(reason))?;
                }
                Ok(())
            })
        };
        decode_all(&mut workers, self.facts.blocks, together, round, decode, each)
    }

    /// Looks if a worker still says what is in a sample of its answers.
    fn check_answers(&self, sample: &AnswerSample, task: &mut T) -> Result<(), String> {
        let declared = task.declared();
        if declared != sample.quality {
            return Err(format!("its decodings were declared \"{}\", now \"{declared}\"", sample.quality));
        }
        let examples = sample.truths.iter().map(|(example, _)| example);
        let mut examples = examples.chain(sample.answers.iter().map(|answer| &answer.example));
        if let Some(example) = examples.find(|example| **example >= self.facts.blocks) {
            return Err(format!("example {example}: there is none"));
        }
        for (example, before) in &sample.truths {
            let named = |reason: String| format!("example {example}: {reason}");
            let truth = oracle::truth(&self.told.truths, task, *example).map_err(named)?;
            if digest(truth, 0.0) != *before {
                return Err(named("its truth has other features now".into()));
            }
        }
        self.told.sampler.check(sample, task)
    }

    /// The hinge of an example by the answer of a worker, without 1/n: checked as in training, its score summed by
    /// other code.
    fn hinge(&self, worker: &mut T, block: usize, answer: &ForeignAnswer<T::Label>, w: &[f64]) -> Result<f64, String> {
        let truth = oracle::truth(&self.told.truths, worker, block)?;
        let mut checked = Plane::new();
        oracle::plane(answer, truth, 1.0, w, &mut checked)?;
        let term = |(k, value): (u32, f64)| DoubleDouble::product(w[k as usize], value);
        let score = |features: &FeatureVector| features.iter().map(term).sum::<DoubleDouble>() + features.fixed.into();
        let truth = score(truth);
        let found = score(&answer.features) + answer.loss.max(0.0).into() - truth;
        // Where the answer is a bound, the bound is what the primal value is made of.
        let most = match answer.quality {
            Quality::UpperBound(bound) => found.max(DoubleDouble::from(bound) - truth),
            _ => found,
        };
        Ok(most.value().max(0.0))
    }
}

impl<T: Examinable + 'static> WholeProblem for ForeignProblem<T> {
    fn own_facts(&self) -> &ProblemFacts {
        &self.facts
    }
    fn weigh_own(&mut self, _: &[f64]) -> Result<(), OpenError> {
        Err(OpenError::new(format!("task `{}` takes no weights of examples", self.facts.task)))
    }
}

impl<T: Examinable + 'static> Oracles for ForeignProblem<T> {
    fn oracle(&self, slot: usize) -> Result<BoxedOracle, OpenError> {
        Ok(Box::new(ForeignOracle::new(self.slots.clone(), slot, self.told.clone(), self.facts.dim)?))
    }
    fn executor(&self, size: PoolSize) -> Result<Option<Box<dyn Executor>>, OpenError> {
        let size = self.own_workers.map_or(size, PoolSize::of).at_most(self.facts.blocks);
        if size.most < 2 && lock(&*self.worker()?).hand_out().most < 2 {
            return Ok(None);
        }
        Ok(Some(Box::new(executor::pool(size, self.slots.clone(), self.told.clone())?)))
    }
    fn pool_stats(&self) -> Arc<PoolStats> {
        self.slots.stats.clone()
    }
    fn probe(&self) -> Result<Option<BoxedProbe<'_>>, OpenError> {
        let workers = self.workers(DOCTOR_THREADS)?.into_iter().map(|(_, worker)| worker).collect();
        Ok(Some(probe::erase(ForeignProbe::new(&self.facts, workers))))
    }
    fn magnitudes(&self) -> Option<Magnitudes> {
        None
    }
    fn is_slack_rescaled(&self) -> bool {
        false
    }
    fn sample(&self) -> Option<AnswerSample> {
        let worker = self.worker().ok()?;
        let task = lock(&worker);
        let told = |example: usize| Some((example, digest(self.told.truths[example].get()?, 0.0)));
        Some(AnswerSample {
            quality: task.declared(),
            truths: self.told.sampler.chosen().filter_map(told).collect(),
            answers: self.told.sampler.answers(|label| task.write(label)),
        })
    }
    fn check_sample(&self, sample: &AnswerSample) -> Result<(), String> {
        let worker = self.worker()?;
        persist(&mut *lock(&worker), |task| self.check_answers(sample, task))
    }
}

impl<T: Examinable + 'static> Predictor for ForeignProblem<T> {
    fn predict(&self, w: &[f64], threads: usize, each: &mut dyn FnMut(Prediction)) -> EachResult {
        let judge = |worker: &mut T, example: usize, answer: &ForeignAnswer<T::Label>| {
            let label = answer.label.as_ref().ok_or("no answer")?;
            let (wrong, variables) = worker.errors(example, label, answer.loss)?;
            let truth = worker.truth(example)?;
            let (text, truth) = (worker.show(label)?, Some(worker.show(&truth)?));
            Ok(Prediction { text, truth, loss: Some(answer.loss), score: None, wrong, variables })
        };
        self.decode_all(w, false, threads, judge, each)
    }
    fn predict_numbers(&self, _: &[f64], _: usize, _: &mut dyn FnMut(&[u32])) -> EachResult {
        Err(OracleError { block: 0, reason: format!("the labels of task `{}` have no numbers", self.facts.task) })
    }
    fn predict_top(&self, _: &[f64], _: usize, _: usize, _: &mut dyn FnMut(TopPrediction)) -> EachResult {
        let reason = format!("task `{}` lists no labellings beside the best", self.facts.task);
        Err(OracleError { block: 0, reason })
    }
    fn predict_margins(&self, _: &[f64], _: f64, _: usize, _: &mut dyn FnMut(MarginPrediction)) -> EachResult {
        Err(OracleError { block: 0, reason: format!("task `{}` has no max-marginals", self.facts.task) })
    }
    fn predict_marginals(&self, _: &[f64], _: usize, _: &mut dyn FnMut(MarginalPrediction)) -> EachResult {
        let reason = format!("task `{}` has no probabilities of labels: chains and trees have", self.facts.task);
        Err(OracleError { block: 0, reason })
    }
    fn evaluate_while(&self, w: &[f64], threads: usize, goes_on: GoOn<'_>) -> Result<Option<Evaluation>, OracleError> {
        let judge = |worker: &mut T, example: usize, answer: &ForeignAnswer<T::Label>| {
            if !goes_on() {
                return Err("stopped".into());
            }
            let label = answer.label.as_ref().ok_or("no answer")?;
            let errors = worker.errors(example, label, answer.loss)?;
            Ok(Judged { weight: 1.0, known: true, loss: answer.loss, errors, counts: Vec::new() })
        };
        let mut tally = Tally::default();
        let measures: [Box<dyn Measure<T::Label>>; 0] = [];
        match self.decode_all(w, false, threads, judge, |judged| tally.add(judged)) {
            Err(_) if !goes_on() => Ok(None),
            decoded => decoded.map(|()| Some(tally.evaluation(&measures))),
        }
    }
    fn evaluate_labels(&self, _: &[f64], _: usize) -> Result<Option<(Evaluation, LabelReport)>, OracleError> {
        Ok(None)
    }
    fn completed(&self, _: &[f64], _: usize) -> Result<Option<Completion>, OracleError> {
        Ok(None)
    }
    fn label_weights(&self) -> Option<Vec<f64>> {
        None
    }
    fn unlabelled(&self) -> usize {
        0
    }
}

impl<T: Examinable + 'static> ProblemReference for ForeignProblem<T> {
    fn primal(&self, prior: Option<&[f64]>, w: &[f64], lambda: f64, threads: usize) -> Result<f64, OracleError> {
        let mut hinges = Vec::new();
        let judge =
            |worker: &mut T, block: usize, answer: &ForeignAnswer<T::Label>| self.hinge(worker, block, answer, w);
        self.decode_all(w, true, threads, judge, |hinge| hinges.push(hinge / self.facts.blocks as f64))?;
        let from = |k: usize| prior.map_or(0.0, |prior| prior[k]);
        let square = careful_sum(w.iter().enumerate().map(|(k, w)| (w - from(k)) * (w - from(k))));
        Ok(0.5 * lambda * square + careful_sum(hinges.into_iter()))
    }
    fn hinge(&self, block: usize, w: &[f64]) -> Result<f64, OracleError> {
        let failed = |reason| OracleError { block, reason };
        let mut worker = self.worker().map_err(failed)?;
        let mut answer = ForeignAnswer::default();
        let asked = self.slots.ask(0, &mut worker, 1, |worker, _| {
            worker.answer(block, w, true, &mut answer)?;
            self.hinge(worker, block, &answer, w)
        });
        Ok(asked.map_err(failed)? / self.facts.blocks as f64)
    }
    fn roundoff(&self) -> f64 {
        UNIT
    }
}

impl<T: Examinable + 'static> WeightLayout for ForeignProblem<T> {
    fn file_dim(&self) -> usize {
        self.facts.dim
    }
    fn weight_blocks(&self) -> Vec<(&'static str, Range<usize>)> {
        Vec::new()
    }
    fn to_file(&self, w: &[f64]) -> Vec<f64> {
        w.to_vec()
    }
    fn from_file(&self, w: &[f64]) -> Vec<f64> {
        w.to_vec()
    }
    fn feature_sizes(&self) -> Option<FeatureSizes> {
        None
    }
    fn rows(&self, _: usize) -> Option<&SparseRows> {
        None
    }
}
