//! How the task is opened: pairwise models read as examples, truths with their costs, and what a model remembers.

use std::sync::Arc;

use multiplane_core::example::Examples;
use multiplane_core::parameter::require;
use serde::{Deserialize, Serialize};

use super::input::MrfInput;
use super::layout::MrfTask;
use super::loss::MrfLoss;
use super::spec::{Inference, MrfSpec};
use crate::builtin::graph::labelling::Judge;
use crate::builtin::graph::part::Part;
use crate::builtin::graph::reading::{ALL_ZERO, weights_warning};
use crate::builtin::graph::{Labelling, UNLABELLED};
use crate::builtin::reading::Reading;
use crate::data::graphs::Graphs;
use crate::data::mrf::{self, Mrfs};
use crate::dataset::Dataset;
use crate::entry::{TaskEntry, TaskSpec};
use crate::problem::{OpenError, Problem, TaskVocabulary, Vocabulary, check_dim};

/// The task as users name it.
pub const ENTRY: TaskEntry = TaskEntry::new::<MrfSpec>("mrf")
    .summary("any pairwise model given as tables of features, with weights that it shares")
    .reads(&[&mrf::FORMAT])
    .layout("[feature]")
    .lambda("1, more where examples are few: an example's features are sums over its nodes, and 1/n is far too small")
    .bounded()
    .oracle("trees, cuts and small models exactly, else message passing with a proven bound");

/// Most labellings of `brute`; those of the engine.
const ENUMERABLE: f64 = 1e8;

/// What a model remembers. Labels have no names: they are numbers that mean something at their node only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MrfVocabulary {
    /// Features of labels and of pairs of labels, which are the weights.
    pub features: usize,
}

impl TaskVocabulary for MrfVocabulary {}

impl TaskSpec for MrfSpec {
    fn open(&self, data: Dataset, vocabulary: Option<&Vocabulary>) -> Result<Box<dyn Problem>, OpenError> {
        require(self.max_iterations > 0, "max_iterations", self.max_iterations, "must be at least 1")?;
        let (reading, task) = read(self, &data, vocabulary)?;
        reading.into_problem(ENTRY.name, task)
    }
}

/// Returns the task on pairwise models with its examples: for programs that ask the oracle themselves.
///
/// # Errors
///
/// Those of opening the task: parameters and data do not fit together.
pub fn examples(spec: &MrfSpec, data: &Dataset) -> Result<(MrfTask, Examples<MrfInput, Labelling>), OpenError> {
    let (reading, task) = read(spec, data, None)?;
    Ok((task, Examples { inputs: reading.inputs, labels: reading.labels }))
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
    // Who predicts needs no weights.
    if spec.loss == MrfLoss::NodeWeighted && checked.arrays().node_weights.is_none() && model.is_none() {
        return Err(OpenError::new("task.loss=node-weighted needs node_weights, and the data has none"));
    }
    let inputs: Vec<MrfInput> =
        models.chosen().iter().map(|&example| MrfInput::new(checked.clone(), example)).collect();
    check_engine(spec.inference, &inputs)?;
    let truths: Vec<Labelling> = inputs.iter().map(|input| truth(spec, input)).collect();
    let mut warnings = Vec::new();
    if models.repeated_edges() > 0 {
        let count = models.repeated_edges();
        warnings.push(format!("{count} edges join nodes that an earlier edge joins already: they are added up"));
    }
    if model.is_none() && checked.arrays().node_weights.is_some() {
        let weighed = |input: &MrfInput| {
            let weights = input.weights().unwrap_or_default();
            input.truth().iter().zip(weights).any(|(label, weight)| *label >= 0 && *weight > 0.0)
        };
        if spec.loss != MrfLoss::NodeWeighted {
            warnings.push(weights_warning(&spec.loss));
        } else if !inputs.iter().any(weighed) {
            return Err(OpenError::new(ALL_ZERO));
        }
    }
    if model.is_none() {
        let bare = truths.iter().filter(|truth| truth.labels.iter().all(|label| *label == UNLABELLED)).count();
        if bare == truths.len() {
            return Err(OpenError::new("no node has a label (tensor `labels`): there is nothing to learn from"));
        }
        if bare > 0 {
            warnings
                .push(format!("{bare} of {} models have no labelled node: nothing is learned from them", truths.len()));
        }
    }
    let task = MrfTask::new(vocabulary.features, spec);
    let fingerprint = data.fingerprint();
    Ok((Reading { inputs, labels: truths, vocabulary, fingerprint, warnings }, task))
}

/// Refuses an exact engine that was asked for and cannot take an example.
fn check_engine(inference: Inference, inputs: &[MrfInput]) -> Result<(), OpenError> {
    let mut part = Part::default();
    for (example, x) in inputs.iter().enumerate() {
        part.take(x.nodes(), x.edges(), None);
        if inference == Inference::Tree && !part.is_forest(&mut Vec::new()) {
            return Err(OpenError::new(format!(
                "task.inference=tree needs models without cycles, and example {example} has one"
            )));
        }
        let labellings: f64 = (0..x.nodes()).map(|node| x.labels(node) as f64).product();
        if inference == Inference::Brute && labellings > ENUMERABLE {
            return Err(OpenError::new(format!(
                "task.inference=brute needs models of at most {ENUMERABLE:e} labellings, and example {example} has \
                 {labellings:.1e}"
            )));
        }
    }
    Ok(())
}

/// The truth of a pairwise model.
fn truth(spec: &MrfSpec, input: &MrfInput) -> Labelling {
    // The data's check has seen that all others are labels of their nodes.
    let number = |&label: &i64| if label < 0 { UNLABELLED } else { label as u32 };
    let labels: Vec<u32> = input.truth().iter().map(number).collect();
    let weights = input.weights().unwrap_or_default().to_vec();
    let costs = spec.loss.costs(&labels, &weights);
    let counts = (0..input.nodes()).map(|node| input.labels(node) as u32).collect();
    Labelling { labels, judge: Some(Arc::new(Judge { costs, weights, counts })) }
}
