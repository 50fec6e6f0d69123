//! How the task is opened: programmes read as examples, and truths with the costs of errors.

use std::sync::Arc;

use multiplane_core::example::Examples;
use multiplane_core::parameter::require;
use multiplane_infer::programme::closer;

use super::solution::Solution;
use super::spec::{IlpPartial, IlpSpec};
use super::task::{IlpInput, IlpTask, IlpVocabulary, tables};
use crate::builtin::reading::Reading;
use crate::data::programmes::{self, Programmes};
use crate::dataset::Dataset;
use crate::entry::{TaskEntry, TaskSpec};
use crate::problem::tables::WeightTable;
use crate::problem::{OpenError, Problem, Vocabulary, check_dim};

/// The task as users name it.
pub const ENTRY: TaskEntry = TaskEntry::new::<IlpSpec>("ilp")
    .summary("costs of integer programmes, from their solutions")
    .reads(&[&programmes::FORMAT])
    .layout("[feature]")
    .bounded()
    .oracle("HiGHS: the relaxation, exact where it is whole, else a search with a proven bound");

impl TaskSpec for IlpSpec {
    fn open(&self, data: Dataset, vocabulary: Option<&Vocabulary>) -> Result<Box<dyn Problem>, OpenError> {
        let (reading, task) = read(self, &data, vocabulary)?;
        reading.into_problem(ENTRY.name, task)
    }

    fn weight_tables(&self, vocabulary: &Vocabulary) -> Result<Vec<WeightTable>, OpenError> {
        Ok(tables(&vocabulary.read()?))
    }
}

/// Returns the task on integer programmes with its examples: for programs that ask the oracle themselves.
///
/// # Errors
///
/// Those of opening the task: parameters and data do not fit together.
pub fn examples(spec: &IlpSpec, data: &Dataset) -> Result<(IlpTask, Examples<IlpInput, Solution>), OpenError> {
    let (reading, task) = read(spec, data, None)?;
    Ok((task, Examples::new(reading.inputs, reading.labels)))
}

/// Reads integer programmes, with the vocabulary of a model if one is given.
fn read(
    spec: &IlpSpec,
    data: &Dataset,
    model: Option<&Vocabulary>,
) -> Result<(Reading<IlpInput, Solution, IlpVocabulary>, IlpTask), OpenError> {
    require(
        spec.oracle_gap >= 0.0 && spec.oracle_gap.is_finite(),
        "oracle_gap",
        spec.oracle_gap,
        "must be finite and >= 0",
    )?;
    if let Some(seconds) = spec.oracle_seconds {
        require(seconds > 0.0, "oracle_seconds", seconds, "must be greater than 0")?;
    }
    let Some(found) = data.get::<Programmes>() else {
        let found = data.describe();
        return Err(OpenError::new(format!("task `{}` reads integer programmes, found {found}", ENTRY.name)));
    };
    let own = IlpVocabulary { features: found.features(), names: found.names().to_vec() };
    let vocabulary = model.map(Vocabulary::read::<IlpVocabulary>).transpose()?.unwrap_or_else(|| own.clone());
    let is_unnamed = own.names.is_empty() || vocabulary.names.is_empty();
    if own.features != vocabulary.features || !is_unnamed && own.names != vocabulary.names {
        let list = |of: &IlpVocabulary| format!("{} features {}", of.features, of.names.join(","));
        return Err(OpenError::new(format!("found {}, but the model has {}", list(&own), list(&vocabulary))));
    }
    check_dim(vocabulary.features, 1)?;
    if let Some(column) = spec.nonnegative.iter().find(|column| **column as usize >= vocabulary.features) {
        let rule = format!("must be features, from 0 to {}", vocabulary.features - 1);
        require(false, "nonnegative", column, &rule)?;
    }
    let (mut inputs, mut labels) = (Vec::new(), Vec::new());
    for (k, example) in found.examples().iter().enumerate() {
        let input = IlpInput { example: example.clone(), closer: Arc::new(closer(&example.programme)) };
        let mut truth = Solution::truth(spec.loss, example, &input.closer);
        if spec.partial == IlpPartial::Fixed {
            truth.values.iter_mut().filter(|value| value.is_nan()).for_each(|value| *value = 0.0);
            if let Some(fault) = example.programme.fault(&truth.values).filter(|_| model.is_none()) {
                return Err(OpenError::new(format!(
                    "example {k}: with 0 for what is not known (task.partial=fixed), {fault}: task.partial=masked \
                     completes truths"
                )));
            }
        }
        inputs.push(input);
        labels.push(truth);
    }
    let is_known = |truth: &Solution| truth.judged().next().is_some();
    if model.is_none() && !labels.iter().any(is_known) {
        return Err(OpenError::new("no variable has a truth: there is nothing to learn from"));
    }
    let task = IlpTask::new(spec, vocabulary.clone(), inputs.iter().any(IlpInput::has_costs));
    let fingerprint = data.fingerprint();
    Ok((Reading { inputs, labels, vocabulary, fingerprint, warnings: Vec::new() }, task))
}
