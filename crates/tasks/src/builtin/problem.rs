//! A built-in task with its examples, decoded and judged on any number of threads.

use std::ops::Range;
use std::sync::Arc;

use multiplane_core::divide::divide;
use multiplane_core::example::Examples;
use multiplane_core::executor::{Executor, PoolSize, PoolStats};
use multiplane_core::oracle::{BoxedOracle, OracleError};
use multiplane_core::plane::Plane;
use multiplane_core::rounding::Magnitudes;
use multiplane_core::task::{ExampleOf, Question, Task, TaskLabel};
use multiplane_core::task_oracle::TaskOracle;

use crate::builtin::enumerate;
use crate::builtin::probe::BuiltinProbe;
use crate::builtin::task::{BuiltinTask, as_in_truth, from_file_layout, is_partly_known, to_file_layout};
use crate::data::SparseRows;
use crate::metrics::{Counts, Evaluation, LabelReport, Measure};
use crate::probe::{self, BoxedProbe};
use crate::problem::{
    AnswerSample, Completion, EachMargin, EachResult, FeatureSizes, GoOn, Judged, MarginalPrediction, OpenError,
    Oracles, Prediction, Predictor, ProblemFacts, ProblemReference, Tally, TaskVocabulary, TopPrediction, Vocabulary,
    WeightLayout, WholeProblem, decode_all, tables,
};
use crate::reference::careful_sum;

/// Examples that are predicted at a time: what threads bring back waits for its turn.
pub(super) const BATCH: usize = 1024;

/// Working memory of a thread: the task's, a labelling, and room for features.
pub(super) type Worker<T> = (<T as Task>::Scratch, <T as Task>::Label, Plane);

/// A built-in task on examples.
pub struct TaskProblem<T: BuiltinTask> {
    pub(super) facts: ProblemFacts,
    pub(super) task: Arc<T>,
    pub(super) examples: Arc<Examples<T::Input, T::Label>>,
    /// With truths as given, if those of `examples` have been completed.
    pub(super) given: Option<Arc<Examples<T::Input, T::Label>>>,
    pub(super) own: T::Vocabulary,
    measures: Vec<Box<dyn Measure<T::Label>>>,
}

impl<T: BuiltinTask> TaskProblem<T> {
    /// Puts a task and examples together.
    ///
    /// # Errors
    ///
    /// There is no example.
    pub fn new(
        name: &'static str,
        task: T,
        examples: Arc<Examples<T::Input, T::Label>>,
        vocabulary: T::Vocabulary,
        fingerprint: String,
        warnings: Vec<String>,
    ) -> Result<Self, OpenError> {
        if examples.labels.is_empty() {
            return Err(OpenError::new("there is no example in the data"));
        }
        let (own, measures) = (vocabulary.clone(), task.measures(&vocabulary));
        let facts = ProblemFacts {
            task: name,
            blocks: examples.labels.len(),
            dim: task.dim(),
            nonnegative: task.nonnegative(),
            is_audited: false,
            has_fixed_scores: task.has_fixed_scores(),
            is_weighted: false,
            is_partly_known: examples.labels.iter().any(|truth| is_partly_known(&task, truth)),
            total_weight: examples.labels.len() as f64,
            vocabulary: Vocabulary::of(vocabulary),
            fingerprint,
            warnings,
        };
        Ok(TaskProblem { facts, task: Arc::new(task), examples, given: None, own, measures })
    }

    /// Returns the problem with other truths, made of those given.
    pub(super) fn with_truths(
        &self,
        examples: Arc<Examples<T::Input, T::Label>>,
        given: Arc<Examples<T::Input, T::Label>>,
    ) -> Self {
        let (facts, task, own) = (self.facts.clone(), self.task.clone(), self.own.clone());
        TaskProblem { facts, task, examples, given: Some(given), measures: self.task.measures(&own), own }
    }
}

impl<T: BuiltinTask> TaskProblem<T> {
    /// The hinge of one example by slow code, without its 1/n.
    fn plain_hinge(&self, block: usize, w: &[f64]) -> Result<f64, String> {
        let (x, truth) = (&self.examples.inputs[block], &self.examples.labels[block]);
        self.check_known(x, truth)?;
        Ok(self.task.reference_hinge(x, truth, w))
    }

    fn check_known(&self, x: &T::Input, truth: &T::Label) -> Result<(), String> {
        match self.task.has_hinge(x, truth) {
            true => Ok(()),
            false => Err("the model has no such labelling, so nothing can be verified".into()),
        }
    }

    /// Holds an answer against the truth, where that is known.
    fn judge(&self, example: ExampleOf<'_, T>, answer: &T::Label) -> Judged {
        let truth = example.truth;
        let known = self.task.is_known(truth);
        Judged {
            known,
            weight: self.examples.weights.get(example.index).copied().unwrap_or(1.0),
            loss: self.task.loss(truth, answer),
            errors: self.task.errors(truth, answer),
            counts: match known {
                true => {
                    let masked = as_in_truth(truth, answer);
                    let known = masked.as_ref().unwrap_or(answer);
                    let seen = |all: bool| if all { answer } else { known };
                    self.measures.iter().map(|measure| measure.count(truth, seen(measure.counts_all()))).collect()
                }
                false => vec![Counts::default(); self.measures.len()],
            },
        }
    }

    /// Decodes every example on its thread, judges the answer there (with room for features), and hands over the
    /// findings in order.
    fn decode_all<F: Send>(
        &self,
        w: &[f64],
        threads: usize,
        judge: impl Fn(ExampleOf<'_, T>, &T::Label, &mut Plane) -> F + Sync,
        each: impl FnMut(F),
    ) -> EachResult {
        self.decode_while(w, threads, &|| true, judge, each)
    }

    /// The same while `goes_on` says so; an error where it ended it.
    fn decode_while<F: Send>(
        &self,
        w: &[f64],
        threads: usize,
        goes_on: GoOn<'_>,
        judge: impl Fn(ExampleOf<'_, T>, &T::Label, &mut Plane) -> F + Sync,
        each: impl FnMut(F),
    ) -> EachResult {
        let decode = |example: ExampleOf<'_, T>, (scratch, answer, features): &mut Worker<T>| {
            if !goes_on() {
                return Err("stopped".into());
            }
            let question = Question::plain(example, w);
            self.task.decode(question.call(scratch, &mut T::Memory::default()), answer)?;
            Ok(judge(example, answer, features))
        };
        self.ask_all(threads, BATCH, decode, each)
    }

    /// Asks for something of every example on its thread and hands over what was found in order; `round` findings wait
    /// for each other.
    pub(super) fn ask_all<F: Send>(
        &self,
        threads: usize,
        round: usize,
        ask: impl Fn(ExampleOf<'_, T>, &mut Worker<T>) -> Result<F, String> + Sync,
        each: impl FnMut(F),
    ) -> EachResult {
        let n = self.examples.labels.len();
        let worker = |_| (T::Scratch::default(), self.examples.labels[0].clone(), Plane::new());
        let mut workers: Vec<Worker<T>> = (0..threads.clamp(1, n)).map(worker).collect();
        let fill = |worker: &mut Worker<T>, examples: Range<usize>, found: &mut Vec<F>| {
            for example in examples {
                found.push(ask(self.examples.get(example), worker)?);
            }
            Ok(())
        };
        decode_all(&mut workers, n, 1, round, fill, each)
    }
}

impl<T: BuiltinTask> WholeProblem for TaskProblem<T> {
    fn own_facts(&self) -> &ProblemFacts {
        &self.facts
    }
    fn weigh_own(&mut self, weights: &[f64]) -> Result<(), OpenError> {
        let Some(examples) = Arc::get_mut(&mut self.examples) else {
            return Err(OpenError::new("these examples cannot be weighted")); // nobody else has them yet
        };
        let total = careful_sum(weights.iter().copied());
        if !(total > 0.0 && total.is_finite()) {
            return Err(OpenError::new(format!("the weights of these examples sum up to {total:e}")));
        }
        let mean = total / weights.len() as f64;
        examples.weights = weights.iter().map(|weight| weight / mean).collect();
        (self.facts.is_weighted, self.facts.total_weight) = (true, total);
        Ok(())
    }
}

impl<T: BuiltinTask> Oracles for TaskProblem<T> {
    fn oracle(&self, _: usize) -> Result<BoxedOracle, OpenError> {
        let oracle = TaskOracle::new(self.task.clone(), self.examples.clone());
        Ok(Box::new(oracle.ok_or_else(|| OpenError::new("there is no example in the data"))?))
    }
    fn executor(&self, _: PoolSize) -> Result<Option<Box<dyn Executor>>, OpenError> {
        Ok(None)
    }
    fn pool_stats(&self) -> Arc<PoolStats> {
        Arc::default()
    }
    fn probe(&self) -> Result<Option<BoxedProbe<'_>>, OpenError> {
        Ok(Some(probe::erase(BuiltinProbe::new(&*self.task, &self.examples, &self.own))))
    }
    fn magnitudes(&self) -> Option<Magnitudes> {
        Some(self.task.capabilities().magnitudes?.magnitudes(&self.examples).weighted(self.examples.largest_weight()))
    }
    fn is_slack_rescaled(&self) -> bool {
        false
    }
    fn sample(&self) -> Option<AnswerSample> {
        None
    }
    fn check_sample(&self, _: &AnswerSample) -> Result<(), String> {
        Ok(())
    }
}

impl<T: BuiltinTask> Predictor for TaskProblem<T> {
    fn predict(&self, w: &[f64], threads: usize, each: &mut dyn FnMut(Prediction)) -> EachResult {
        let judge = |example: ExampleOf<'_, T>, answer: &T::Label, features: &mut Plane| {
            let (truth, is_known) = (example.truth, self.task.is_known(example.truth));
            let (wrong, variables) = self.task.errors(truth, answer);
            Prediction {
                text: self.task.show(answer, &self.own),
                truth: is_known.then(|| self.task.show(truth, &self.own)),
                loss: is_known.then(|| self.task.loss(truth, answer)),
                score: Some(self.task.score(example.input, answer, w, features).0),
                wrong: if is_known { wrong } else { 0 },
                variables,
            }
        };
        self.decode_all(w, threads, judge, each)
    }
    fn predict_numbers(&self, w: &[f64], threads: usize, each: &mut dyn FnMut(&[u32])) -> EachResult {
        let numbers = |_: ExampleOf<'_, T>, answer: &T::Label, _: &mut Plane| answer.numbers().map(<[u32]>::to_vec);
        let mut without = None;
        let mut count = 0;
        self.decode_all(w, threads, numbers, |numbers| {
            match numbers {
                Some(numbers) => each(&numbers),
                None => without = without.or(Some(count)),
            }
            count += 1;
        })?;
        let reason = || format!("the labels of task `{}` have no numbers", self.facts.task);
        without.map_or(Ok(()), |block| Err(OracleError { block, reason: reason() }))
    }
    fn predict_top(&self, w: &[f64], count: usize, threads: usize, each: &mut dyn FnMut(TopPrediction)) -> EachResult {
        self.list(w, count, threads, each)
    }
    fn predict_margins(&self, w: &[f64], trust: f64, threads: usize, each: EachMargin<'_>) -> EachResult {
        self.margins(w, trust, threads, each)
    }
    fn predict_marginals(&self, w: &[f64], threads: usize, each: &mut dyn FnMut(MarginalPrediction)) -> EachResult {
        self.marginals(w, threads, each)
    }
    fn evaluate_while(&self, w: &[f64], threads: usize, goes_on: GoOn<'_>) -> Result<Option<Evaluation>, OracleError> {
        let mut tally = Tally::default();
        let judge = |example: ExampleOf<'_, T>, answer: &T::Label, _: &mut Plane| self.judge(example, answer);
        match self.decode_while(w, threads, goes_on, judge, |judged| tally.add(judged)) {
            Err(_) if !goes_on() => Ok(None),
            decoded => decoded.map(|()| Some(tally.evaluation(&self.measures))),
        }
    }
    fn evaluate_labels(&self, w: &[f64], threads: usize) -> Result<Option<(Evaluation, LabelReport)>, OracleError> {
        let Some(mut report) = self.task.label_report(&self.own) else { return Ok(None) };
        let mut tally = Tally::default();
        let of = |labels: &T::Label| labels.numbers().unwrap_or_default().to_vec();
        let judge = |example: ExampleOf<'_, T>, answer: &T::Label, _: &mut Plane| {
            let masked = as_in_truth(example.truth, answer);
            (self.judge(example, answer), of(example.truth), of(masked.as_ref().unwrap_or(answer)))
        };
        self.decode_all(w, threads, judge, |(judged, truth, answer)| {
            if judged.known {
                report.add(&truth, &answer);
            }
            tally.add(judged);
        })?;
        Ok(Some((tally.evaluation(&self.measures), report)))
    }
    fn completed(&self, w: &[f64], threads: usize) -> Result<Option<Completion>, OracleError> {
        self.complete(w, threads)
    }
    fn label_weights(&self) -> Option<Vec<f64>> {
        let report = self.task.label_report(&self.own).filter(|report| !report.is_of_sets())?;
        let mut sums = vec![0.0; report.names().len()];
        for (block, truth) in self.examples.labels.iter().enumerate() {
            let weight = self.examples.weights.get(block).copied().unwrap_or(1.0);
            let labels = truth.numbers().filter(|_| self.task.is_known(truth)).unwrap_or_default();
            // Nodes without a label have no place among the names.
            labels.iter().for_each(|&label| sums.get_mut(label as usize).into_iter().for_each(|sum| *sum += weight));
        }
        Some(sums)
    }
    fn unlabelled(&self) -> usize {
        self.examples.labels.iter().filter(|truth| !self.task.is_known(truth)).count()
    }
}

impl<T: BuiltinTask> ProblemReference for TaskProblem<T> {
    fn primal(&self, prior: Option<&[f64]>, w: &[f64], lambda: f64, threads: usize) -> Result<f64, OracleError> {
        let mut hinges = vec![0.0; self.facts.blocks];
        let mut workers = vec![(); threads.clamp(1, self.facts.blocks)];
        let fill = |_: &mut (), block: usize, hinge: &mut f64| {
            *hinge = self.plain_hinge(block, w)?;
            Ok(())
        };
        divide(&mut workers, &mut hinges, fill)
            .map_err(|unfilled| OracleError { block: unfilled.slot, reason: unfilled.reason })?;
        let mean_hinge = match self.examples.weights.as_slice() {
            [] => careful_sum(hinges.into_iter()) / self.facts.blocks as f64,
            weights => {
                careful_sum(hinges.iter().zip(weights).map(|(hinge, weight)| weight * hinge)) / self.facts.blocks as f64
            }
        };
        let off = |k: usize| w[k] - prior.map_or(0.0, |prior| prior[k]);
        Ok(0.5 * lambda * careful_sum((0..w.len()).map(|k| off(k) * off(k))) + mean_hinge)
    }
    fn hinge(&self, block: usize, w: &[f64]) -> Result<f64, OracleError> {
        let hinge = self.plain_hinge(block, w).map_err(|reason| OracleError { block, reason })?;
        Ok(match self.examples.weights.get(block) {
            Some(weight) => weight * hinge / self.facts.blocks as f64,
            None => hinge / self.facts.blocks as f64,
        })
    }
    fn roundoff(&self) -> f64 {
        T::REFERENCE_ROUNDOFF
    }
    fn plane(&self, block: usize, code: &[u32], add: &mut dyn FnMut(usize, f64)) -> Option<f64> {
        let n = self.facts.blocks as f64;
        let weight = self.examples.weights.get(block).copied().unwrap_or(1.0);
        let (x, truth) = (&self.examples.inputs[block], &self.examples.labels[block]);
        Some(weight * self.task.reference_plane(x, truth, code, &mut |k, value| add(k, weight * value / n))? / n)
    }
    fn labellings(&self, block: usize, most: usize) -> Option<usize> {
        let (x, truth) = (&self.examples.inputs[block], &self.examples.labels[block]);
        Some(enumerate::codes(&*self.task, x, truth, most)?.len())
    }
    fn slack_hinge(&self, block: usize, w: &[f64], most: usize) -> Result<Option<f64>, OracleError> {
        let (x, truth) = (&self.examples.inputs[block], &self.examples.labels[block]);
        self.check_known(x, truth).map_err(|reason| OracleError { block, reason })?;
        Ok(enumerate::slack_hinge(&*self.task, x, truth, w, most).map(|hinge| hinge / self.facts.blocks as f64))
    }
}

impl<T: BuiltinTask> WeightLayout for TaskProblem<T> {
    fn file_dim(&self) -> usize {
        self.facts.dim
    }
    fn weight_blocks(&self) -> Vec<(&'static str, Range<usize>)> {
        tables::blocks(&self.task.weight_tables())
    }
    fn to_file(&self, w: &[f64]) -> Vec<f64> {
        to_file_layout(&*self.task, w)
    }
    fn from_file(&self, w: &[f64]) -> Vec<f64> {
        from_file_layout(&*self.task, w)
    }
    fn transposed(&self) -> Vec<[usize; 2]> {
        self.task.transposed()
    }
    fn feature_sizes(&self) -> Option<FeatureSizes> {
        let inputs = &self.examples.inputs;
        self.task.rows(inputs.first()?).filter(|_| self.own.has_numbers())?;
        let of_example = |x| {
            let rows = self.task.rows(x).into_iter();
            rows.flat_map(|rows| (0..rows.len()).flat_map(|i| rows.row(i).iter()))
        };
        let columns = |x| self.task.rows(x).map_or(0, |rows| rows.columns());
        let features = inputs.iter().map(columns).max()?;
        Some(FeatureSizes::of(features, inputs.iter().map(of_example)))
    }
    fn rows(&self, block: usize) -> Option<&SparseRows> {
        self.task.rows(&self.examples.inputs[block])
    }
}
