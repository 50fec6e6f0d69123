//! Graphs read as examples: labels numbered, truths with their costs, and what a model remembers.

use std::collections::HashMap;
use std::sync::Arc;

use multiplane_core::example::Examples;
use serde::{Deserialize, Serialize};

use super::input::GraphInput;
use super::labelling::{Judge, Labelling, UNLABELLED};
use super::layout::GraphTask;
use super::loss::{GraphLoss, check_factors};
use super::part::Part;
use super::spec::{GraphSpec, Inference, Pairwise};
use crate::builtin::known::unseen_labels;
use crate::builtin::reading::Reading;
use crate::data::container::Matrix;
use crate::data::graphs::{Graphs, NO_LABEL};
use crate::data::mrf::Mrfs;
use crate::dataset::Dataset;
use crate::losses::UNSEEN;
use crate::problem::{MAX_DIM, OpenError, TaskVocabulary, Vocabulary, check_dim};

/// Most labellings that are enumerated.
const ENUMERABLE: f64 = 1e8;

/// What a model of graphs remembers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GraphVocabulary {
    /// Names of the labels, whole numbers in ascending order.
    pub labels: Vec<String>,
    /// Features of a node.
    pub features: usize,
    /// Features of an edge; 0 where edges have none.
    pub edge_features: usize,
    /// How the features were made, where the training data said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub features_id: Option<String>,
}

impl TaskVocabulary for GraphVocabulary {}

impl GraphVocabulary {
    /// Returns the name of a label; `?` for one that training never saw or a node without one.
    pub fn label(&self, label: u32) -> &str {
        self.labels.get(label as usize).map_or("?", String::as_str)
    }
}

/// Returns the task on graphs with its examples: for programs that ask the oracle themselves.
///
/// # Errors
///
/// Those of opening the task: parameters and data do not fit together.
pub fn examples(spec: &GraphSpec, data: &Dataset) -> Result<(GraphTask, Examples<GraphInput, Labelling>), OpenError> {
    let (reading, task) = read(spec, data, None)?;
    Ok((task, Examples { inputs: reading.inputs, labels: reading.labels }))
}

/// Reads graphs, with the vocabulary of a model where one is given.
pub(super) fn read(
    spec: &GraphSpec,
    data: &Dataset,
    model: Option<&Vocabulary>,
) -> Result<(Reading<GraphInput, Labelling, GraphVocabulary>, GraphTask), OpenError> {
    let Some(graphs) = data.get::<Graphs>() else {
        let other = if data.get::<Mrfs>().is_some() { ", which task `mrf` reads" } else { "" };
        return Err(OpenError::new(format!("task `graph` reads graphs, found {}{other}", data.describe())));
    };
    let arrays = graphs.arrays();
    let (features, edge_features) =
        (arrays.node_features.columns(), arrays.edge_features.as_ref().map_or(0, Matrix::columns));
    let mut warnings = Vec::new();
    let inputs: Vec<GraphInput> =
        graphs.chosen().iter().map(|&example| GraphInput::new(arrays.clone(), example)).collect();
    let vocabulary = match model {
        Some(model) => model.read()?,
        None => {
            let features_id = graphs.features_id().map(str::to_string);
            GraphVocabulary { labels: labels(&inputs, &mut warnings)?, features, edge_features, features_id }
        }
    };
    for (what, found, expected) in
        [("a node", features, vocabulary.features), ("an edge", edge_features, vocabulary.edge_features)]
    {
        if found != expected {
            let (features, has) =
                (plural(found, "feature"), if expected == 0 { "none".into() } else { expected.to_string() });
            return Err(OpenError::new(format!("found {features} of {what}, but the model has {has}")));
        }
    }
    if matches!((graphs.features_id(), &vocabulary.features_id), (Some(found), Some(known)) if found != known) {
        warnings.push(
            "the features were not made as those that the model was trained on (other settings, or fitted on other images): \
             build the data like the model's training data (--like)"
                .into(),
        );
    }
    check_dim(features, vocabulary.labels.len())?;
    let labels = vocabulary.labels.len();
    let table = if spec.pairwise == Pairwise::Full { labels.saturating_mul(labels) } else { 1 };
    let weights = edge_features.max(1).saturating_mul(table).saturating_add(labels * features);
    if weights > MAX_DIM {
        return Err(OpenError::new(format!(
            "{labels} labels and {edge_features} features of an edge need {weights} weights, expected at most {MAX_DIM}"
        )));
    }
    let task = GraphTask::new(labels, features, edge_features, spec);
    check(spec, &task, graphs, model.is_some())?;
    check_engine(spec.inference, labels, &inputs)?;
    if graphs.repeated_edges() > 0 {
        let count = graphs.repeated_edges();
        warnings.push(format!("{count} edges join nodes that an earlier edge joins already: they are added up"));
    }
    if spec.loss == GraphLoss::NodeWeighted && arrays.node_weights.is_none() {
        warnings.push("the data has no node_weights: in the loss all nodes count alike".into());
    }
    let silent = task.pairwise == Pairwise::Cut && edge_features == 0 && spec.potts == 0.0;
    if silent && !arrays.edges.is_empty() {
        warnings.push("edges have no features, and task.potts is 0: they have no effect".into());
    }
    if model.is_none()
        && let Some(weights) = &arrays.node_weights
    {
        let labelled =
            || inputs.iter().flat_map(|input| input.labels().iter().zip(input.weights().unwrap_or_default()));
        if spec.loss != GraphLoss::NodeWeighted {
            // What makes graphs of photographs always says how large superpixels are.
            if graphs.features_id().is_none() {
                warnings.push(weights_warning(&spec.loss));
            }
        } else if !weights.is_empty() && labelled().all(|(label, weight)| *label == NO_LABEL || *weight == 0.0) {
            return Err(OpenError::new(ALL_ZERO));
        }
    }
    check_factors(spec.class_weights.as_deref(), vocabulary.labels.len())?;
    // Names that are no numbers, which a program may give labels, keep their places.
    let named = vocabulary.labels.iter().zip(0..);
    let numbers: HashMap<i64, u32> = named.filter_map(|(label, place)| Some((label.parse().ok()?, place))).collect();
    let truths: Vec<Labelling> = inputs.iter().map(|input| truth(spec, input, &numbers)).collect();
    let of_all = |number: u32| truths.iter().flat_map(|truth| &truth.labels).filter(|label| **label == number).count();
    warnings.extend(unseen_labels(of_all(UNSEEN), "node"));
    if model.is_none() {
        let bare = truths.iter().filter(|truth| truth.labels.iter().all(|label| *label == UNLABELLED)).count();
        if bare > 0 {
            warnings
                .push(format!("{bare} of {} graphs have no labelled node: nothing is learned from them", truths.len()));
        }
    }
    let fingerprint = data.fingerprint();
    Ok((Reading { inputs, labels: truths, vocabulary, fingerprint, warnings }, task))
}

/// What is said where a loss goes by weights, and no labelled node has one above 0.
pub(in crate::builtin) const ALL_ZERO: &str =
    "task.loss=node-weighted: the node_weights of all labelled nodes are 0, so that no error costs anything";

/// Says that a loss does not go by the weights that there are.
pub(in crate::builtin) fn weights_warning(loss: &impl Serialize) -> String {
    let name = serde_json::to_value(loss).unwrap_or_default();
    format!(
        "node_weights have no effect on training with task.loss={}: task.loss=node-weighted goes by them",
        name.as_str().unwrap_or("?")
    )
}

/// A number of things.
fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// The labels of training data.
fn labels(inputs: &[GraphInput], warnings: &mut Vec<String>) -> Result<Vec<String>, OpenError> {
    let mut labels: Vec<i64> = inputs.iter().flat_map(|input| input.labels()).copied().collect();
    labels.sort_unstable();
    labels.dedup();
    labels.retain(|label| *label != NO_LABEL);
    match labels[..] {
        [] => return Err(OpenError::new("no node has a label (tensor `labels`): there is nothing to learn from")),
        [only] => warnings.push(format!("all nodes have the label {only}: there is nothing to learn")),
        _ => {}
    }
    Ok(labels.iter().map(i64::to_string).collect())
}

/// Refuses parameters that do not fit the data.
fn check(spec: &GraphSpec, task: &GraphTask, graphs: &Graphs, used: bool) -> Result<(), OpenError> {
    let arrays = graphs.arrays();
    let negative = arrays.edge_features.as_ref().and_then(Matrix::first_negative);
    if let Some((row, column, value)) = negative.filter(|_| task.pairwise == Pairwise::Cut) {
        let example = arrays.edge_offsets.partition_point(|&offset| offset <= row) - 1;
        return Err(OpenError::new(format!(
            "edge_features: found {value} in row {row} (example {example}), column {column}: task.pairwise=cut needs \
             numbers >= 0; task.pairwise=full takes any"
        )));
    }
    // Who predicts needs no weights.
    if spec.loss == GraphLoss::NodeWeighted && arrays.node_weights.is_none() && !used {
        return Err(OpenError::new("task.loss=node-weighted needs node_weights, and the data has none"));
    }
    let mismatch = |needs: &str| {
        let name = serde_json::to_value(spec.inference).unwrap_or_default();
        Err(OpenError::new(format!("task.inference={} needs {needs}", name.as_str().unwrap_or("?"))))
    };
    match spec.inference {
        Inference::MinCut if task.pairwise != Pairwise::Cut => mismatch("task.pairwise=cut"),
        Inference::MinCut if task.labels != 2 => mismatch(&format!("two labels, found {}", task.labels)),
        Inference::Expansion if task.pairwise != Pairwise::Cut => mismatch("task.pairwise=cut"),
        _ => Ok(()),
    }
}

/// Refuses an exact engine that was asked for and cannot take a graph.
fn check_engine(inference: Inference, labels: usize, inputs: &[GraphInput]) -> Result<(), OpenError> {
    let (mut part, mut parents) = (Part::default(), Vec::new());
    for (example, input) in inputs.iter().enumerate() {
        part.take(input.nodes(), input.edges(), None);
        if inference == Inference::Tree && !part.is_forest(&mut parents) {
            return Err(OpenError::new(format!("task.inference=tree: the graph of example {example} has a cycle")));
        }
        let labellings = (labels as f64).powi(input.nodes().min(1 << 20) as i32);
        if inference == Inference::Brute && labellings > ENUMERABLE {
            return Err(OpenError::new(format!(
                "task.inference=brute takes at most {ENUMERABLE:e} labellings, and the graph of example {example} has \
                 {labellings:.1e}"
            )));
        }
    }
    Ok(())
}

/// The truth of a graph.
fn truth(spec: &GraphSpec, input: &GraphInput, numbers: &HashMap<i64, u32>) -> Labelling {
    let number = |label: &i64| match label {
        &NO_LABEL => UNLABELLED,
        label => numbers.get(label).copied().unwrap_or(UNSEEN),
    };
    let labels: Vec<u32> = input.labels().iter().map(number).collect();
    let weights = input.weights().unwrap_or_default().to_vec();
    let costs = spec.loss.costs(&labels, &weights, spec.class_weights.as_deref());
    Labelling { labels, judge: Some(Arc::new(Judge { costs, weights, ..Judge::default() })) }
}
