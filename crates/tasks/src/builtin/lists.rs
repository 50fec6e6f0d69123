//! Lists and max-marginals of all examples, on any number of threads.

use multiplane_core::oracle::Quality;
use multiplane_core::task::{ExampleOf, Question, TaskLabel};

use crate::builtin::problem::{BATCH, TaskProblem, Worker};
use crate::builtin::task::BuiltinTask;
use crate::problem::{EachResult, MarginPrediction, MarginalPrediction, ScoredLabelling, TopPrediction};

impl<T: BuiltinTask> TaskProblem<T> {
    fn numbers(&self, y: &T::Label) -> Result<Vec<u32>, String> {
        let numbers = y.numbers().map(<[u32]>::to_vec);
        numbers.ok_or_else(|| format!("the labels of task `{}` have no numbers", self.facts.task))
    }

    pub(super) fn list(&self, w: &[f64], count: usize, threads: usize, each: impl FnMut(TopPrediction)) -> EachResult {
        let list = |example: ExampleOf<'_, T>, (scratch, answer, features): &mut Worker<T>| {
            let mut labels = vec![answer.clone(); count];
            let (question, memory) = (Question::plain(example, w), &mut T::Memory::default());
            let (found, quality) = self.task.top(question.call(scratch, memory), &mut labels)?;
            let scored = |y: &T::Label| {
                let (score, _) = self.task.score(example.input, y, w, features);
                Ok(ScoredLabelling { text: self.task.show(y, &self.own), numbers: self.numbers(y)?, score })
            };
            let labellings = labels[..found].iter().map(scored).collect::<Result<_, String>>()?;
            let truth = self.task.is_known(example.truth).then(|| self.numbers(example.truth)).transpose()?;
            Ok(TopPrediction { labellings, exact: quality == Quality::Exact, truth })
        };
        self.ask_all(threads, (BATCH / count.max(1)).max(threads.max(1)), list, each)
    }

    pub(super) fn margins(&self, w: &[f64], threads: usize, each: impl FnMut(MarginPrediction)) -> EachResult {
        let find = |example: ExampleOf<'_, T>, (scratch, answer, features): &mut Worker<T>| {
            let kbest = self.task.capabilities().kbest;
            let kbest = kbest.ok_or_else(|| format!("task `{}` has no max-marginals", self.facts.task))?;
            let memory = &mut T::Memory::default();
            let question = Question::plain(example, w);
            self.task.decode(question.call(scratch, memory), answer)?;
            let mut max_marginals = Vec::new();
            let quality = kbest.max_marginals(question.call(scratch, memory), &mut max_marginals)?;
            let score = (quality != Quality::Exact).then(|| self.task.score(example.input, answer, w, features).0);
            let numbers = self.numbers(answer)?;
            let counts = (0..numbers.len()).map(|variable| kbest.label_count(example.input, variable)).collect();
            let (text, truth) = (self.task.show(answer, &self.own), example.truth.numbers().map(<[u32]>::to_vec));
            Ok(MarginPrediction { text, numbers, counts, max_marginals, score, truth })
        };
        self.ask_all(threads, BATCH, find, each)
    }

    pub(super) fn marginals(&self, w: &[f64], threads: usize, each: impl FnMut(MarginalPrediction)) -> EachResult {
        let find = |example: ExampleOf<'_, T>, (scratch, ..): &mut Worker<T>| {
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
