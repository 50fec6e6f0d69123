//! Lists and max-marginals of all examples, on any number of threads.

use std::ops::Range;

use multiplane_core::example::Example;
use multiplane_core::oracle::{OracleError, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::task::{Question, Task, TaskLabel};

use crate::builtin::problem::{BATCH, TaskProblem};
use crate::builtin::task::BuiltinTask;
use crate::problem::{MarginPrediction, MarginalPrediction, ScoredLabelling, TopPrediction, decode_all};

/// Working memory of a thread: the task's, a labelling, and room for features.
type ListWorker<T> = (<T as Task>::Scratch, <T as Task>::Label, Plane);

impl<T: BuiltinTask> TaskProblem<T> {
    /// Asks for something of every example on its thread and hands over what was found in order; `round` findings wait
    /// for each other.
    fn ask_all<F: Send>(
        &self,
        threads: usize,
        round: usize,
        ask: impl Fn(Example<'_, T::Input, T::Label>, &mut ListWorker<T>) -> Result<F, String> + Sync,
        each: impl FnMut(F),
    ) -> Result<(), OracleError> {
        let n = self.examples.labels.len();
        let worker = |_| (T::Scratch::default(), self.examples.labels[0].clone(), Plane::new());
        let mut workers: Vec<ListWorker<T>> = (0..threads.clamp(1, n)).map(worker).collect();
        let fill = |worker: &mut ListWorker<T>, examples: Range<usize>, found: &mut Vec<F>| {
            for example in examples {
                found.push(ask(self.examples.get(example), worker)?);
            }
            Ok(())
        };
        decode_all(&mut workers, n, 1, round, fill, each)
    }

    fn numbers(&self, y: &T::Label) -> Result<Vec<u32>, String> {
        let numbers = y.numbers().map(<[u32]>::to_vec);
        numbers.ok_or_else(|| format!("the labels of task `{}` have no numbers", self.facts.task))
    }

    pub(in crate::builtin) fn list(
        &self,
        w: &[f64],
        count: usize,
        threads: usize,
        each: &mut dyn FnMut(TopPrediction),
    ) -> Result<(), OracleError> {
        let list = |example: Example<'_, T::Input, T::Label>, (scratch, answer, features): &mut ListWorker<T>| {
            let kbest = self.task.capabilities().kbest;
            let kbest =
                kbest.ok_or_else(|| format!("task `{}` lists no labellings beside the best", self.facts.task))?;
            let mut labels = vec![answer.clone(); count];
            let (question, memory) = (Question::plain(example, w), &mut T::Memory::default());
            let (found, quality) = kbest.top(question.call(scratch, memory), &mut labels)?;
            let scored = |y: &T::Label| {
                let (score, _) = self.task.score(example.input, y, w, features);
                Ok(ScoredLabelling { text: self.task.show(y, &self.own), numbers: self.numbers(y)?, score })
            };
            let labellings = labels[..found].iter().map(scored).collect::<Result<_, String>>()?;
            Ok(TopPrediction { labellings, exact: quality == Quality::Exact })
        };
        self.ask_all(threads, (BATCH / count.max(1)).max(threads.max(1)), list, each)
    }

    pub(in crate::builtin) fn margins(
        &self,
        w: &[f64],
        threads: usize,
        each: &mut dyn FnMut(MarginPrediction),
    ) -> Result<(), OracleError> {
        let find = |example: Example<'_, T::Input, T::Label>, (scratch, answer, _): &mut ListWorker<T>| {
            let kbest = self.task.capabilities().kbest;
            let kbest = kbest.ok_or_else(|| format!("task `{}` has no max-marginals", self.facts.task))?;
            let memory = &mut T::Memory::default();
            let question = Question::plain(example, w);
            self.task.decode(question.call(scratch, memory), answer)?;
            let mut max_marginals = Vec::new();
            kbest.max_marginals(question.call(scratch, memory), &mut max_marginals)?;
            let numbers = self.numbers(answer)?;
            let counts = (0..numbers.len()).map(|variable| kbest.label_count(example.input, variable)).collect();
            Ok(MarginPrediction { text: self.task.show(answer, &self.own), numbers, counts, max_marginals })
        };
        self.ask_all(threads, BATCH, find, each)
    }

    pub(in crate::builtin) fn marginals(
        &self,
        w: &[f64],
        threads: usize,
        each: &mut dyn FnMut(MarginalPrediction),
    ) -> Result<(), OracleError> {
        let find = |example: Example<'_, T::Input, T::Label>, (scratch, ..): &mut ListWorker<T>| {
            let able = self.task.capabilities();
            let none = || format!("task `{}` has no probabilities of labels: chains and trees have", self.facts.task);
            let (sums, variables) = able.marginals.zip(able.variables).ok_or_else(none)?;
            let (mut marginals, mut probabilities) = (vec![0.0; sums.len(example)?], Vec::new());
            let call = Question::plain(example, w);
            sums.gibbs(call.call(scratch, &mut T::Memory::default()), 1.0, &[], &mut marginals)?;
            if !sums.of_labels(example, &marginals, &mut probabilities) {
                return Err(none());
            }
            let count = variables.variables(example.input);
            let counts = (0..count).map(|variable| variables.label_count(example.input, variable)).collect();
            Ok(MarginalPrediction { counts, probabilities })
        };
        self.ask_all(threads, BATCH, find, each)
    }
}
