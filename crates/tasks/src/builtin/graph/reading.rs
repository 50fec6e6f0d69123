//! Graphs read as examples: labels numbered, truths with their costs, and what a model remembers.

use std::collections::HashMap;
use std::sync::Arc;

use multiplane_core::example::Examples;
use serde::{Deserialize, Serialize};

use super::input::GraphInput;
use super::layout::{GraphStructure, GraphTask};
use super::loss::check_factors;
use super::spec::{GraphInference, GraphSpec, Pairwise};
use crate::builtin::pairwise::{
    EngineChoice, Judge, Labelling, Misfit, UNLABELLED, bare, check_use_of_weights, check_weights, misfit, repeated,
};
use crate::builtin::reading::{Reading, other_features};
use crate::builtin::vocabulary_match::unseen_labels;
use crate::class_weights::ClassWeights;
use crate::data::container::Matrix;
use crate::data::graphs::{Graphs, NO_LABEL};
use crate::data::mrf::Mrfs;
use crate::dataset::Dataset;
use crate::losses::UNSEEN;
use crate::problem::{MAX_DIM, OpenError, TaskVocabulary, Vocabulary, check_dim};

/// The facts that a model of graphs remembers.
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
    Ok((task, Examples::new(reading.inputs, reading.labels)))
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
    warnings.extend(other_features("the features", graphs.features_id(), vocabulary.features_id.as_deref()));
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
    check(spec, &task.0, graphs)?;
    check_engine(spec.inference, labels, &inputs)?;
    warnings.extend(repeated(graphs.repeated_edges()));
    warnings.extend(check_weights(spec.loss, arrays.node_weights.is_some(), model.is_some())?);
    let silent = task.0.pairwise == Pairwise::Cut && edge_features == 0 && spec.potts == 0.0;
    if silent && inputs.iter().any(|input| !input.edges().is_empty()) {
        warnings.push("edges have no features, and task.potts is 0: they have no effect".into());
    }
    let factors = ClassWeights::list(spec.class_weights.as_ref())?;
    check_factors(factors, vocabulary.labels.len())?;
    // Names that are no numbers, which a program may give labels, keep their places.
    let named = vocabulary.labels.iter().zip(0..);
    let unknown = model.map(Vocabulary::unknown_names).unwrap_or_default();
    let all = unknown.iter().map(|name| (name, UNLABELLED)).chain(named);
    let numbers: HashMap<i64, u32> = all.filter_map(|(label, number)| Some((label.parse().ok()?, number))).collect();
    let truths: Vec<Labelling> = inputs.iter().map(|input| truth((spec, factors), input, &numbers)).collect();
    let of_all = |number: u32| truths.iter().flat_map(|truth| &truth.labels).filter(|label| **label == number).count();
    warnings.extend(unseen_labels(of_all(UNSEEN), "node"));
    if model.is_none() {
        // What makes graphs of photographs always says how large superpixels are.
        let ignored = check_use_of_weights(spec.loss, &truths)?;
        warnings.extend(ignored.filter(|_| graphs.features_id().is_none()));
        warnings.extend(bare(&truths, ("graphs", "node")));
    }
    let fingerprint = data.fingerprint();
    Ok((Reading { inputs, labels: truths, vocabulary, fingerprint, warnings }, task))
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
        [] => return Err(OpenError::new("no node has a label: there is nothing to learn from")),
        [only] => warnings.push(format!("all nodes have the label {only}: there is nothing to learn")),
        _ => {}
    }
    Ok(labels.iter().map(i64::to_string).collect())
}

/// Refuses parameters that do not fit the data.
fn check(spec: &GraphSpec, task: &GraphStructure, graphs: &Graphs) -> Result<(), OpenError> {
    let arrays = graphs.arrays();
    let negative = |features: &Matrix| {
        let mut chosen = graphs.chosen().iter();
        chosen.find_map(|&example| Some((example, features.first_negative(arrays.edges_of(example))?)))
    };
    if task.pairwise == Pairwise::Cut
        && let Some((example, (row, column, value))) = arrays.edge_features.as_ref().and_then(negative)
    {
        return Err(OpenError::new(format!(
            "edge_features: found {value} in row {row} (example {example}), column {column}: task.pairwise=cut needs \
             numbers >= 0; task.pairwise=full takes any"
        )));
    }
    let mismatch = |needs: &str| {
        let name = serde_json::to_value(spec.inference).unwrap_or_default();
        Err(OpenError::new(format!("task.inference={} needs {needs}", name.as_str().unwrap_or("?"))))
    };
    match spec.inference {
        GraphInference::MinCut if task.pairwise != Pairwise::Cut => mismatch("task.pairwise=cut"),
        GraphInference::MinCut if task.labels != 2 => mismatch(&format!("two labels, found {}", task.labels)),
        GraphInference::Expansion | GraphInference::PersistentExpansion if task.pairwise != Pairwise::Cut => {
            mismatch("task.pairwise=cut")
        }
        _ => Ok(()),
    }
}

/// Refuses an exact engine that was asked for and cannot take a graph.
fn check_engine(inference: GraphInference, labels: usize, inputs: &[GraphInput]) -> Result<(), OpenError> {
    let asked = match inference {
        GraphInference::Tree => EngineChoice::Tree,
        GraphInference::Brute => EngineChoice::Brute,
        _ => return Ok(()),
    };
    let examples = inputs.iter().map(|input| (input.nodes(), input.edges(), |_| labels));
    let fault = match misfit(asked, examples) {
        None => return Ok(()),
        Some(Misfit::Cycle(example)) => format!("task.inference=tree: the graph of example {example} has a cycle"),
        Some(Misfit::TooMany(example, labellings, most)) => format!(
            "task.inference=brute takes at most {most:e} labellings, and the graph of example {example} has \
             {labellings:.1e}"
        ),
    };
    Err(OpenError::new(fault))
}

/// The truth of a graph.
fn truth((spec, factors): (&GraphSpec, Option<&[f64]>), input: &GraphInput, numbers: &HashMap<i64, u32>) -> Labelling {
    let number = |label: &i64| match label {
        &NO_LABEL => UNLABELLED,
        label => numbers.get(label).copied().unwrap_or(UNSEEN),
    };
    let labels: Vec<u32> = input.labels().iter().map(number).collect();
    let weights = input.weights().unwrap_or_default().to_vec();
    let costs = spec.loss.costs(&labels, &weights, factors);
    Labelling { labels, judge: Some(Arc::new(Judge { costs, weights })) }
}
