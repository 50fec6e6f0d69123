//! Truths that are known in part: what training makes of the other variables, and the best labellings that agree with
//! what is known.

use std::sync::Arc;

use multiplane_core::example::Examples;
use multiplane_core::oracle::{OracleError, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::task::{Case, DiversityPenalty, ExampleOf, Question, Task, TaskLabel, UNLABELLED};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::problem::{BATCH, TaskProblem, Worker};
use super::task::{BuiltinTask, is_partly_known};
use crate::problem::Completion;

/// The first penalty of a label that is not the known one, in mean terms of a score; the factor of the next ones; and
/// how many are tried.
const PENALTIES: (f64, f64, usize) = (4.0, 16.0, 12);

/// The part that variables without a label have in training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Partial {
    /// None: they are left out, with their edges.
    #[default]
    LeftOut,
    /// Their errors cost nothing, and their truth is completed in rounds: by the best labelling that agrees with the
    /// known labels, at the weights of the round before (a latent SSVM by the concave-convex procedure).
    Masked,
}

/// Returns labellings, one after the other, that have together all labels but the known one at every known variable,
/// and none at others.
fn others(known: &[u32], labels: impl Fn(usize) -> usize) -> Vec<u32> {
    let most = (0..known.len()).map(&labels).max().unwrap_or(0);
    let other = |k: usize, v: usize| match (known[v], labels(v)) {
        (UNLABELLED, _) => UNLABELLED,
        (_, count) if k >= count => UNLABELLED,
        (label, count) => ((label as usize + k) % count) as u32,
    };
    (1..most).flat_map(|k| (0..known.len()).map(move |v| (k, v))).map(|(k, v)| other(k, v)).collect()
}

/// Truths, and how they have changed.
pub(super) struct CompletedTruths<L> {
    pub(super) truths: Vec<L>,
    /// The number of those that are others than before.
    pub(super) changed: usize,
    /// As in [`Completion`].
    pub(super) moves: Vec<(usize, Plane)>,
}

/// The completed truths; `None` if the task cannot complete any.
type TruthsResult<T> = Result<Option<CompletedTruths<<T as Task>::Label>>, OracleError>;

impl<T: BuiltinTask> TaskProblem<T> {
    /// Completes the truths as given at `w`; see [`Predictor::completed`](crate::problem::Predictor::completed).
    pub(super) fn complete(&self, w: &[f64], threads: usize) -> Result<Option<Completion>, OracleError> {
        let Some(CompletedTruths { truths: labels, changed, moves }) = self.completed_truths(w, threads)? else {
            return Ok(None);
        };
        let Examples { inputs, weights, .. } = &*self.examples;
        let examples = Arc::new(Examples { inputs: inputs.clone(), labels, weights: weights.clone() });
        let problem = Arc::new(self.with_truths(examples, self.as_given().clone()));
        Ok(Some(Completion { problem, changed, moves }))
    }

    /// Returns the examples with their truths as given.
    fn as_given(&self) -> &Arc<Examples<T::Input, T::Label>> {
        self.given.as_ref().unwrap_or(&self.examples)
    }

    /// Returns the completed truths.
    pub(super) fn completed_truths(&self, w: &[f64], threads: usize) -> TruthsResult<T> {
        let (given, own) = (self.as_given(), self.task.capabilities().completion);
        let is_partly_known = |truth: &T::Label| is_partly_known(&*self.task, truth);
        let with = |truth: &T::Label, labels| self.task.capabilities().variables?.completed(truth, labels);
        let labels = |truth: &T::Label| truth.numbers().map(<[u32]>::to_vec).unwrap_or_default();
        let has_none = given.labels.iter().all(|truth| with(truth, labels(truth)).is_none());
        if own.is_none() && (has_none || self.task.capabilities().kbest.is_none()) {
            return Ok(None);
        }
        let ask = |example: ExampleOf<'_, T>, worker: &mut Worker<T>| {
            let partly = &given.labels[example.index];
            if !is_partly_known(partly) {
                return Ok((partly.clone(), None));
            }
            let best = match self.task.capabilities().completion {
                Some(own) => Some(own.best_agreeing(ExampleOf::<T> { truth: partly, ..example }, w, &mut worker.0)?),
                None => with(partly, self.best_agreeing(example, partly.numbers().unwrap_or_default(), w, worker)?),
            };
            let Some(best) = best else { return Err("its labels have no numbers".into()) };
            if is_partly_known(example.truth) {
                return Ok((best, Some(None)));
            }
            let features = &mut worker.2;
            let mut score = |y: &T::Label| self.task.score(example.input, y, w, features).0;
            if score(&best) <= score(example.truth) {
                return Ok((example.truth.clone(), None));
            }
            let (mut plane, mut memory) = (Plane::new(), T::Memory::default());
            let now = ExampleOf::<T> { truth: &best, ..example };
            let case = Case::new(now, self.examples.share(example.index), &mut worker.0, &mut memory);
            self.task.plane(case, example.truth, &mut plane);
            if let (Some(_), Some(labels)) = (self.task.capabilities().variables, example.truth.numbers()) {
                plane.code_mut().clear();
                plane.code_mut().extend_from_slice(labels); // as the oracle does
            }
            Ok((best, Some(Some(plane))))
        };
        let mut all = CompletedTruths { truths: Vec::with_capacity(given.labels.len()), changed: 0, moves: Vec::new() };
        self.ask_all(threads, BATCH, ask, |(truth, change): (T::Label, Option<Option<Plane>>)| {
            let block = all.truths.len();
            all.truths.push(truth);
            all.changed += usize::from(change.is_some());
            all.moves.extend(change.flatten().map(|plane| (block, plane)));
        })?;
        Ok(Some(all))
    }

    /// Finds the labelling of the highest score that agrees with the known labels. Others are penalised, more and more:
    /// the best labelling with penalties is the best of those that agree if it is one of them.
    fn best_agreeing(
        &self,
        example: ExampleOf<'_, T>,
        known: &[u32],
        w: &[f64],
        (scratch, answer, features): &mut Worker<T>,
    ) -> Result<Vec<u32>, String> {
        let Some(variables) = self.task.capabilities().variables else { return Err("it has no variables".into()) };
        let codes = others(known, |v| variables.label_count(example.input, v));
        let mut penalties = vec![0.0; codes.len() / known.len().max(1)];
        let (first, factor, most) = PENALTIES;
        for attempt in 0..=most {
            let penalty = DiversityPenalty { codes: &codes, penalties: &penalties };
            let question = Question { penalty, ..Question::plain(example, w) };
            let quality = self.task.decode(question.call(scratch, &mut T::Memory::default()), answer)?;
            let mut labels = answer.numbers().unwrap_or_default().to_vec();
            let wrong = |(label, known): &(&mut u32, &u32)| **known != UNLABELLED && *label != *known;
            let count = labels.iter_mut().zip(known).filter(wrong).count();
            if count == 0 || attempt == most && quality != Quality::Exact {
                labels.iter_mut().zip(known).filter(wrong).for_each(|(label, known)| *label = *known);
                return Ok(labels);
            }
            let next = match attempt {
                0 => first * (1.0 + self.task.score(example.input, answer, w, features).1) / known.len() as f64,
                _ => factor * penalties[0],
            };
            penalties.fill(next);
        }
        Err("no labelling that is allowed has the known labels".into())
    }
}
