//! The one problem that there is: a built-in task with its examples, decoded and judged on any number of threads.

use std::ops::Range;
use std::sync::Arc;

use multiplane_core::divide::{Unfilled, divide};
use multiplane_core::example::{Examples, Workspace};
use multiplane_core::oracle::{BoxedOracle, OracleError};
use multiplane_core::task::Task;
use multiplane_core::task_oracle::TaskOracle;

use super::{Builtin, Evaluation, OpenError, Prediction, Problem, Vocabulary};
use crate::chunks::ChunkCounter;
use crate::patient::{self, BoxedPatient};
use crate::reference::careful_sum;
use crate::specimen::Specimen;

/// Examples that are predicted at a time: what threads bring back waits for its turn.
const BATCH: usize = 1024;

/// A built-in task on examples.
pub struct Opened<T: Task> {
    name: &'static str,
    task: Arc<T>,
    examples: Arc<Examples<T::Input, T::Label>>,
    vocabulary: Vocabulary,
    /// Labels of the data that the vocabulary lacks; they are numbered after its own.
    unseen: Vec<String>,
    fingerprint: String,
    warnings: Vec<String>,
}

impl<T: Builtin> Opened<T> {
    /// Puts a task and examples together; there must be an example.
    pub fn new(
        name: &'static str,
        task: T,
        examples: Arc<Examples<T::Input, T::Label>>,
        vocabulary: Vocabulary,
        fingerprint: String,
        warnings: Vec<String>,
    ) -> Result<Self, OpenError> {
        if examples.labels.is_empty() {
            return Err(OpenError::new("there is no example in the data".into()));
        }
        Ok(Opened { name, task: Arc::new(task), examples, vocabulary, unseen: Vec::new(), fingerprint, warnings })
    }

    /// Names labels of the data that the vocabulary lacks and that are numbered after its own.
    pub fn with_unseen(mut self, names: Vec<String>) -> Self {
        self.unseen = names;
        self
    }

    /// Counts chunks, if the labels are tags of chunks.
    fn chunk_counter(&self) -> Option<ChunkCounter> {
        ChunkCounter::new(self.vocabulary.labels.iter().chain(&self.unseen).map(String::as_str))
    }
}

impl<T> Opened<T>
where
    T: Builtin + Send + Sync,
    T::Input: Send + Sync,
    T::Label: Send + Sync,
    T::Scratch: Send,
{
    /// Decodes every example on its thread, judges truth and answer there, and hands over the findings in order.
    fn decode_all<F: Send>(
        &self,
        w: &[f64],
        threads: usize,
        judge: impl Fn(&T::Label, &T::Label) -> F + Sync,
        mut each: impl FnMut(F),
    ) -> Result<(), OracleError> {
        let Some(first) = self.examples.labels.first() else { return Ok(()) };
        let threads = threads.clamp(1, self.examples.labels.len());
        let mut workers: Vec<_> = (0..threads).map(|_| (T::Scratch::default(), first.clone())).collect();
        let mut findings: Vec<Option<F>> = Vec::new();
        for start in (0..self.examples.labels.len()).step_by(BATCH) {
            findings.clear();
            findings.resize_with(BATCH.min(self.examples.labels.len() - start), || None);
            let decode = |(scratch, answer): &mut (T::Scratch, T::Label), slot: usize, finding: &mut Option<F>| {
                let example = self.examples.get(start + slot);
                let work = Workspace { scratch, memory: &mut T::Memory::default() };
                self.task.decode(example.plain(), w, work, answer)?;
                *finding = Some(judge(example.truth, answer));
                Ok(())
            };
            divide(&mut workers, &mut findings, decode).map_err(|unfilled| failure(start, unfilled))?;
            findings.drain(..).flatten().for_each(&mut each);
        }
        Ok(())
    }
}

fn failure(start: usize, unfilled: Unfilled) -> OracleError {
    OracleError { block: start + unfilled.slot, reason: unfilled.reason }
}

impl<T> Problem for Opened<T>
where
    T: Builtin + Send + Sync + 'static,
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
        self.task.weight_blocks()
    }
    fn nonnegative(&self) -> Vec<Range<usize>> {
        self.task.nonnegative()
    }
    fn oracle(&self) -> Result<BoxedOracle, OpenError> {
        let oracle = TaskOracle::new(self.task.clone(), self.examples.clone());
        Ok(Box::new(oracle.ok_or_else(|| OpenError::new("there is no example in the data".into()))?))
    }
    fn patient(&self) -> Result<Option<BoxedPatient<'_>>, OpenError> {
        Ok(Some(patient::erase(Specimen::new(&*self.task, &self.examples, &self.vocabulary))))
    }
    fn to_file_layout(&self, w: &[f64]) -> Vec<f64> {
        self.task.to_file_layout(w)
    }
    fn from_file_layout(&self, w: &[f64]) -> Vec<f64> {
        self.task.from_file_layout(w)
    }
    fn predict(&self, w: &[f64], threads: usize, each: &mut dyn FnMut(Prediction)) -> Result<(), OracleError> {
        let judge = |truth: &T::Label, answer: &T::Label| {
            let (wrong, variables) = self.task.errors(truth, answer);
            Prediction {
                text: self.task.show(answer, &self.vocabulary),
                truth: self.task.show(truth, &self.vocabulary),
                loss: self.task.loss(truth, answer),
                wrong,
                variables,
            }
        };
        self.decode_all(w, threads, judge, each)
    }
    fn predict_numbers(&self, w: &[f64], threads: usize, each: &mut dyn FnMut(&[u32])) -> Result<(), OracleError> {
        let judge = |_: &T::Label, answer: &T::Label| self.task.numbers(answer).to_vec();
        self.decode_all(w, threads, judge, |numbers| each(&numbers))
    }
    fn evaluate(&self, w: &[f64], threads: usize) -> Result<Evaluation, OracleError> {
        let (mut loss, mut wrong, mut variables, mut exact) = (0.0, 0, 0, 0);
        let mut chunks = self.chunk_counter();
        let counts = chunks.is_some();
        let judge = |truth: &T::Label, answer: &T::Label| {
            let sequences = self.task.sequence(truth).zip(self.task.sequence(answer)).filter(|_| counts);
            let tags = sequences.map(|(truth, answer)| (truth.to_vec(), answer.to_vec()));
            (self.task.loss(truth, answer), self.task.errors(truth, answer), tags)
        };
        self.decode_all(w, threads, judge, |(cost, (errors, all), tags)| {
            loss += cost;
            wrong += errors;
            variables += all;
            exact += usize::from(errors == 0);
            if let (Some(chunks), Some((truth, answer))) = (&mut chunks, tags) {
                chunks.add(&truth, &answer);
            }
        })?;
        let n = self.blocks();
        Ok(Evaluation {
            n,
            loss: loss / n as f64,
            accuracy: if variables == 0 { 1.0 } else { 1.0 - wrong as f64 / variables as f64 },
            exact: exact as f64 / n as f64,
            chunks: chunks.map(|chunks| chunks.score()),
        })
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
            *hinge = self.task.reference_hinge(&self.examples.inputs[block], &self.examples.labels[block], w);
            Ok(())
        };
        divide(&mut workers, &mut hinges, fill).map_err(|unfilled| failure(0, unfilled))?;
        let mean_hinge = careful_sum(hinges.into_iter()) / self.blocks() as f64;
        let off = |k: usize| w[k] - prior.map_or(0.0, |prior| prior[k]);
        Ok(0.5 * lambda * careful_sum((0..w.len()).map(|k| off(k) * off(k))) + mean_hinge)
    }
    fn reference_hinge(&self, block: usize, w: &[f64]) -> Result<f64, OracleError> {
        let (x, truth) = (&self.examples.inputs[block], &self.examples.labels[block]);
        Ok(self.task.reference_hinge(x, truth, w) / self.blocks() as f64)
    }
    fn reference_plane(&self, block: usize, code: &[u32], add: &mut dyn FnMut(usize, f64)) -> Option<f64> {
        let n = self.blocks() as f64;
        let (x, truth) = (&self.examples.inputs[block], &self.examples.labels[block]);
        Some(self.task.reference_plane(x, truth, code, &mut |k, value| add(k, value / n))? / n)
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
