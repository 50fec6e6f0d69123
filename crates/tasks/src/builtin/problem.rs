//! A built-in task with its examples, decoded and judged on any number of threads.

use std::ops::Range;
use std::sync::Arc;

use multiplane_core::divide::divide;
use multiplane_core::example::{Example, Examples, Workspace};
use multiplane_core::oracle::{BoxedOracle, OracleError};
use multiplane_core::plane::Plane;
use multiplane_core::rounding::Magnitudes;
use multiplane_core::task_oracle::TaskOracle;

use crate::builtin::listed;
use crate::builtin::probe::BuiltinProbe;
use crate::builtin::task::BuiltinTask;
use crate::data::SparseRows;
use crate::metrics::{Counts, Evaluation, LabelReport, Measure};
use crate::probe::{self, BoxedProbe};
use crate::problem::{
    FeatureSizes, Judged, MarginPrediction, OpenError, Prediction, Problem, Tally, TaskVocabulary, TopPrediction,
    Vocabulary, decode_all, tables,
};
use crate::reference::careful_sum;

/// Examples that are predicted at a time: what threads bring back waits for its turn.
pub(super) const BATCH: usize = 1024;

/// A built-in task on examples.
pub struct TaskProblem<T: BuiltinTask> {
    pub(super) name: &'static str,
    pub(super) task: Arc<T>,
    pub(super) examples: Arc<Examples<T::Input, T::Label>>,
    pub(super) own: T::Vocabulary,
    vocabulary: Vocabulary,
    measures: Vec<Box<dyn Measure<T::Label>>>,
    fingerprint: String,
    warnings: Vec<String>,
    total_weight: f64,
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
        let vocabulary = Vocabulary::of(&vocabulary);
        let (task, total_weight) = (Arc::new(task), examples.labels.len() as f64);
        Ok(TaskProblem { name, task, examples, own, vocabulary, measures, fingerprint, warnings, total_weight })
    }
}

impl<T> TaskProblem<T>
where
    T: BuiltinTask + Send + Sync,
    T::Input: Send + Sync,
    T::Label: Send + Sync,
    T::Scratch: Send,
{
    /// The hinge of one example by slow code, without its 1/n.
    fn plain_hinge(&self, block: usize, w: &[f64]) -> Result<f64, String> {
        let (x, truth) = (&self.examples.inputs[block], &self.examples.labels[block]);
        match self.task.has_hinge(x, truth) {
            true => Ok(self.task.reference_hinge(x, truth, w)),
            false => Err("it has a label that the model does not know, so nothing can be verified".into()),
        }
    }

    /// Holds an answer against the truth, where that is known.
    fn judge(&self, example: Example<'_, T::Input, T::Label>, answer: &T::Label) -> Judged {
        let truth = example.truth;
        let known = self.task.is_known(truth);
        Judged {
            known,
            weight: self.examples.weights.get(example.index).copied().unwrap_or(1.0),
            loss: self.task.loss(truth, answer),
            errors: self.task.errors(truth, answer),
            counts: match known {
                true => self.measures.iter().map(|measure| measure.count(truth, answer)).collect(),
                false => vec![Counts::default(); self.measures.len()],
            },
        }
    }

    /// Decodes every example on its thread, judges the answer there (with room for features), and hands over the findings in
    /// order.
    fn decode_all<F: Send>(
        &self,
        w: &[f64],
        threads: usize,
        judge: impl Fn(Example<'_, T::Input, T::Label>, &T::Label, &mut Plane) -> F + Sync,
        each: impl FnMut(F),
    ) -> Result<(), OracleError> {
        let n = self.examples.labels.len();
        let worker = |_| (T::Scratch::default(), self.examples.labels[0].clone(), Plane::new());
        let mut workers: Vec<_> = (0..threads.clamp(1, n)).map(worker).collect();
        let decode = |worker: &mut (T::Scratch, T::Label, Plane), examples: Range<usize>, found: &mut Vec<F>| {
            let (scratch, answer, features) = worker;
            for example in examples.map(|example| self.examples.get(example)) {
                let work = Workspace { scratch: &mut *scratch, memory: &mut T::Memory::default() };
                self.task.decode(example.plain(), w, work, answer)?;
                found.push(judge(example, answer, features));
            }
            Ok(())
        };
        decode_all(&mut workers, n, 1, BATCH, decode, each)
    }
}

impl<T> Problem for TaskProblem<T>
where
    T: BuiltinTask + Send + Sync + 'static,
    T::Input: Send + Sync,
    T::Label: Send + Sync + 'static,
    T::Scratch: Send,
{
    fn task(&self) -> &'static str {
        self.name
    }
    fn blocks(&self) -> usize {
        self.examples.labels.len()
    }
    fn dim(&self) -> usize {
        self.task.dim()
    }
    fn weight_blocks(&self) -> Vec<(&'static str, Range<usize>)> {
        tables::blocks(&self.task.weight_tables())
    }
    fn nonnegative(&self) -> Vec<Range<usize>> {
        self.task.nonnegative()
    }
    fn magnitudes(&self) -> Option<Magnitudes> {
        Some(self.task.capabilities().magnitudes?.magnitudes(&self.examples).weighted(self.examples.largest_weight()))
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
    fn oracle(&self) -> Result<BoxedOracle, OpenError> {
        let oracle = TaskOracle::new(self.task.clone(), self.examples.clone());
        Ok(Box::new(oracle.ok_or_else(|| OpenError::new("there is no example in the data"))?))
    }
    fn probe(&self) -> Result<Option<BoxedProbe<'_>>, OpenError> {
        Ok(Some(probe::erase(BuiltinProbe::new(&*self.task, &self.examples, &self.own))))
    }
    fn to_file_layout(&self, w: &[f64]) -> Vec<f64> {
        self.task.to_file_layout(w)
    }
    fn from_file_layout(&self, w: &[f64]) -> Vec<f64> {
        self.task.from_file_layout(w)
    }
    fn predict(&self, w: &[f64], threads: usize, each: &mut dyn FnMut(Prediction)) -> Result<(), OracleError> {
        let judge = |example: Example<'_, T::Input, T::Label>, answer: &T::Label, features: &mut Plane| {
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
    fn predict_numbers(&self, w: &[f64], threads: usize, each: &mut dyn FnMut(&[u32])) -> Result<(), OracleError> {
        let numbers = |_: Example<'_, T::Input, T::Label>, answer: &T::Label, _: &mut Plane| {
            self.task.variables(answer).map(<[u32]>::to_vec)
        };
        let mut without = None;
        let mut count = 0;
        self.decode_all(w, threads, numbers, |numbers| {
            match numbers {
                Some(numbers) => each(&numbers),
                None => without = without.or(Some(count)),
            }
            count += 1;
        })?;
        let reason = || format!("the labels of task `{}` have no numbers", self.name);
        without.map_or(Ok(()), |block| Err(OracleError { block, reason: reason() }))
    }
    fn predict_top(
        &self,
        w: &[f64],
        count: usize,
        threads: usize,
        each: &mut dyn FnMut(TopPrediction),
    ) -> Result<(), OracleError> {
        self.list(w, count, threads, each)
    }
    fn predict_margins(
        &self,
        w: &[f64],
        threads: usize,
        each: &mut dyn FnMut(MarginPrediction),
    ) -> Result<(), OracleError> {
        self.margins(w, threads, each)
    }
    fn evaluate(&self, w: &[f64], threads: usize) -> Result<Evaluation, OracleError> {
        let mut tally = Tally::default();
        let judge =
            |example: Example<'_, T::Input, T::Label>, answer: &T::Label, _: &mut Plane| self.judge(example, answer);
        self.decode_all(w, threads, judge, |judged| tally.add(judged))?;
        Ok(tally.evaluation(&self.measures))
    }
    fn evaluate_labels(&self, w: &[f64], threads: usize) -> Result<Option<(Evaluation, LabelReport)>, OracleError> {
        let Some(mut report) = self.task.label_report(&self.own) else { return Ok(None) };
        let mut tally = Tally::default();
        let of = |labels: &T::Label| self.task.variables(labels).unwrap_or_default().to_vec();
        let judge = |example: Example<'_, T::Input, T::Label>, answer: &T::Label, _: &mut Plane| {
            (self.judge(example, answer), of(example.truth), of(answer))
        };
        self.decode_all(w, threads, judge, |(judged, truth, answer)| {
            if judged.known {
                report.add(&truth, &answer);
            }
            tally.add(judged);
        })?;
        Ok(Some((tally.evaluation(&self.measures), report)))
    }
    fn reference_primal_from(
        &self,
        prior: Option<&[f64]>,
        w: &[f64],
        lambda: f64,
        threads: usize,
    ) -> Result<f64, OracleError> {
        let mut hinges = vec![0.0; self.blocks()];
        let mut workers = vec![(); threads.clamp(1, self.blocks())];
        let fill = |_: &mut (), block: usize, hinge: &mut f64| {
            *hinge = self.plain_hinge(block, w)?;
            Ok(())
        };
        divide(&mut workers, &mut hinges, fill)
            .map_err(|unfilled| OracleError { block: unfilled.slot, reason: unfilled.reason })?;
        let mean_hinge = match self.examples.weights.as_slice() {
            [] => careful_sum(hinges.into_iter()) / self.blocks() as f64,
            weights => {
                careful_sum(hinges.iter().zip(weights).map(|(hinge, weight)| weight * hinge)) / self.blocks() as f64
            }
        };
        let off = |k: usize| w[k] - prior.map_or(0.0, |prior| prior[k]);
        Ok(0.5 * lambda * careful_sum((0..w.len()).map(|k| off(k) * off(k))) + mean_hinge)
    }
    fn reference_hinge(&self, block: usize, w: &[f64]) -> Result<f64, OracleError> {
        let hinge = self.plain_hinge(block, w).map_err(|reason| OracleError { block, reason })?;
        Ok(match self.examples.weights.get(block) {
            Some(weight) => weight * hinge / self.blocks() as f64,
            None => hinge / self.blocks() as f64,
        })
    }
    fn reference_roundoff(&self) -> f64 {
        self.task.reference_roundoff()
    }
    fn reference_plane(&self, block: usize, code: &[u32], add: &mut dyn FnMut(usize, f64)) -> Option<f64> {
        let n = self.blocks() as f64;
        let weight = self.examples.weights.get(block).copied().unwrap_or(1.0);
        let (x, truth) = (&self.examples.inputs[block], &self.examples.labels[block]);
        Some(weight * self.task.reference_plane(x, truth, code, &mut |k, value| add(k, weight * value / n))? / n)
    }
    fn is_weighted(&self) -> bool {
        !self.examples.weights.is_empty()
    }
    fn total_weight(&self) -> f64 {
        self.total_weight
    }
    fn weigh(&mut self, weights: &[f64]) -> Result<(), OpenError> {
        let Some(examples) = Arc::get_mut(&mut self.examples) else {
            return Err(OpenError::new("these examples cannot be weighted")); // nobody else has them yet
        };
        self.total_weight = careful_sum(weights.iter().copied());
        if !(self.total_weight > 0.0 && self.total_weight.is_finite()) {
            return Err(OpenError::new(format!("the weights of these examples sum up to {:e}", self.total_weight)));
        }
        let mean = self.total_weight / weights.len() as f64;
        examples.weights = weights.iter().map(|weight| weight / mean).collect();
        Ok(())
    }
    fn has_fixed_scores(&self) -> bool {
        self.task.has_fixed_scores()
    }
    fn labellings(&self, block: usize, most: usize) -> Option<usize> {
        let (x, truth) = (&self.examples.inputs[block], &self.examples.labels[block]);
        Some(listed::codes(&*self.task, x, truth, most)?.len())
    }
    fn reference_slack(&self, block: usize, w: &[f64], most: usize) -> Option<f64> {
        let (x, truth) = (&self.examples.inputs[block], &self.examples.labels[block]);
        Some(listed::slack_hinge(&*self.task, x, truth, w, most)? / self.blocks() as f64)
    }
    fn unlabelled(&self) -> usize {
        self.examples.labels.iter().filter(|truth| !self.task.is_known(truth)).count()
    }
    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }
    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }
    fn warnings(&self) -> &[String] {
        &self.warnings
    }
}
