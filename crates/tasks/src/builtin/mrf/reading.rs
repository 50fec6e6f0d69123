//! How the task is opened: pairwise models read as examples, truths with their costs, and what a model remembers.

use std::sync::Arc;

use multiplane_core::example::Examples;
use multiplane_core::parameter::require;

use super::input::MrfInput;
use super::spec::{MrfInference, MrfSpec};
use super::structure::{MrfTask, MrfVocabulary, tables};
use crate::builtin::pairwise::{
    EngineChoice, Judge, Labelling, Misfit, UNLABELLED, bare, check_use_of_weights, check_weights, misfit, repeated,
};
use crate::builtin::reading::Reading;
use crate::data::graphs::Graphs;
use crate::data::mrf::{self, Mrfs};
use crate::dataset::Dataset;
use crate::entry::{TaskEntry, TaskSpec};
use crate::problem::tables::WeightTable;
use crate::problem::{OpenError, Problem, Vocabulary, check_dim};

/// The task as users name it.
pub const ENTRY: TaskEntry = TaskEntry::new::<MrfSpec>("mrf")
    .summary("any pairwise model given as tables of features, with weights that it shares")
    .reads(&[&mrf::FORMAT])
    .layout("[feature]")
    .lambda(super::super::pairwise::LAMBDA)
    .bounded()
    .oracle("trees, cuts and small models exactly, else message passing with a proven bound")
    .lists_several()
    .sums();

impl TaskSpec for MrfSpec {
    fn open(&self, data: Dataset, vocabulary: Option<&Vocabulary>) -> Result<Box<dyn Problem>, OpenError> {
        require(self.max_iterations > 0, "max_iterations", self.max_iterations, "must be at least 1")?;
        let (reading, task) = read(self, &data, vocabulary)?;
        reading.into_problem(ENTRY.name, task)
    }

    fn weight_tables(&self, vocabulary: &Vocabulary) -> Result<Vec<WeightTable>, OpenError> {
        Ok(tables(vocabulary.read::<MrfVocabulary>()?.features))
    }
}

/// Returns the task on pairwise models with its examples: for programs that ask the oracle themselves.
///
/// # Errors
///
/// Those of opening the task: parameters and data do not fit together.
pub fn examples(spec: &MrfSpec, data: &Dataset) -> Result<(MrfTask, Examples<MrfInput, Labelling>), OpenError> {
    let (reading, task) = read(spec, data, None)?;
    Ok((task, Examples::new(reading.inputs, reading.labels)))
}

/// Reads pairwise models, with the vocabulary of a model where one is given.
pub(super) fn read(
    spec: &MrfSpec,
    data: &Dataset,
    model: Option<&Vocabulary>,
) -> Result<(Reading<MrfInput, Labelling, MrfVocabulary>, MrfTask), OpenError> {
    let Some(models) = data.get::<Mrfs>() else {
        let other = if data.get::<Graphs>().is_some() { ", which task `graph` reads" } else { "" };
        let found = data.describe();
        return Err(OpenError::new(format!("task `{}` reads pairwise models, found {found}{other}", ENTRY.name)));
    };
    let checked = models.checked();
    let vocabulary = match model {
        Some(model) => model.read()?,
        None => MrfVocabulary { features: checked.features() },
    };
    if checked.features() != vocabulary.features {
        let (found, expected) = (checked.features(), vocabulary.features);
        return Err(OpenError::new(format!("found {found} features, but the model has {expected}")));
    }
    check_dim(vocabulary.features, 1)?;
    let has_weights = checked.arrays().node_weights.is_some();
    let unweighted = check_weights(spec.loss.into(), has_weights, model.is_some())?;
    let inputs: Vec<MrfInput> =
        models.chosen().iter().map(|&example| MrfInput::new(checked.clone(), example)).collect();
    check_engine(spec.inference, &inputs)?;
    let truths: Vec<Labelling> = inputs.iter().map(|input| truth(spec, input)).collect();
    let mut warnings: Vec<String> = repeated(models.repeated_edges()).into_iter().chain(unweighted).collect();
    if model.is_none() {
        warnings.extend(check_use_of_weights(spec.loss, &truths)?);
        if truths.iter().all(|truth| truth.labelled().next().is_none()) {
            return Err(OpenError::new("no node has a label: there is nothing to learn from"));
        }
        warnings.extend(bare(&truths, ("models", "node")));
    }
    let task = MrfTask::new(vocabulary.features, spec);
    let fingerprint = data.fingerprint();
    Ok((Reading { inputs, labels: truths, vocabulary, fingerprint, warnings }, task))
}

/// Refuses an exact engine that was asked for and cannot take an example.
fn check_engine(inference: MrfInference, inputs: &[MrfInput]) -> Result<(), OpenError> {
    let asked = match inference {
        MrfInference::Tree => EngineChoice::Tree,
        MrfInference::Brute => EngineChoice::Brute,
        _ => return Ok(()),
    };
    let examples = inputs.iter().map(|x| (x.nodes(), x.edges(), |node| x.labels(node)));
    let fault = match misfit(asked, examples) {
        None => return Ok(()),
        Some(Misfit::Cycle(example)) => {
            format!("task.inference=tree needs models without cycles, and example {example} has one")
        }
        Some(Misfit::TooMany(example, labellings, most)) => format!(
            "task.inference=brute needs models of at most {most:e} labellings, and example {example} has {labellings:.1e}"
        ),
    };
    Err(OpenError::new(fault))
}

/// The truth of a pairwise model.
fn truth(spec: &MrfSpec, input: &MrfInput) -> Labelling {
    // The data's check has seen that all others are labels of their nodes.
    let number = |&label: &i64| if label < 0 { UNLABELLED } else { label as u32 };
    let labels: Vec<u32> = input.truth().iter().map(number).collect();
    let weights = input.weights().unwrap_or_default().to_vec();
    let costs = spec.loss.costs(&labels, &weights);
    Labelling { labels, judge: Some(Arc::new(Judge { costs, weights })) }
}
