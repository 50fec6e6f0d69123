//! Lists and max-marginals of all examples, on any number of threads.

use multiplane_core::oracle::Quality;
use multiplane_core::task::{DiversityPenalty, ExampleOf, Question, TaskLabel, UNLABELLED};

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

    /// Max-marginals, with `trust` added to the scores of labels that are true at other variables.
    pub(super) fn margins(
        &self,
        w: &[f64],
        trust: f64,
        threads: usize,
        each: impl FnMut(MarginPrediction),
    ) -> EachResult {
        let find = |example: ExampleOf<'_, T>, (scratch, answer, features): &mut Worker<T>| {
            let kbest = self.task.capabilities().kbest;
            let kbest = kbest.ok_or_else(|| format!("task `{}` has no max-marginals", self.facts.task))?;
            let memory = &mut T::Memory::default();
            let question = Question::plain(example, w);
            self.task.decode(question.call(scratch, memory), answer)?;
            let (numbers, truth) = (self.numbers(answer)?, example.truth.numbers().map(<[u32]>::to_vec));
            let label_count = |variable| kbest.label_count(example.input, variable);
            let counts: Vec<usize> = (0..numbers.len()).map(label_count).collect();
            let known = |(&label, &count): (&u32, &usize)| if label < count as u32 { label } else { UNLABELLED };
            let codes: Vec<u32> = truth.iter().flatten().zip(&counts).map(known).collect();
            let is_trusted = trust > 0.0 && codes.len() > 1;
            let penalties: &[f64] = if is_trusted { &[-trust] } else { &[] };
            let trusting = Question { penalty: DiversityPenalty { codes: &codes, penalties }, ..question };
            let mut max_marginals = Vec::new();
            let quality = kbest.max_marginals(trusting.call(scratch, memory), &mut max_marginals)?;
            let mut rest = &mut max_marginals[..];
            for (&label, &count) in codes.iter().zip(&counts).take_while(|_| is_trusted) {
                let (own, after) = rest.split_at_mut(count);
                own.get_mut(label as usize).into_iter().for_each(|score| *score -= trust);
                rest = after;
            }
            let score = (quality != Quality::Exact).then(|| self.task.score(example.input, answer, w, features).0);
            let text = self.task.show(answer, &self.own);
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
