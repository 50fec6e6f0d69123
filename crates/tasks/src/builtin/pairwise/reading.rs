//! Faults and warnings of data of nodes and edges.

use multiplane_core::task::TaskLabel;
use serde::Serialize;

use super::engines::EngineChoice;
use super::labelling::{Labelling, UNLABELLED};
use super::loss::NodeLoss;
use super::part::LabelledPart;
use crate::problem::OpenError;

/// Most labellings that are enumerated; those of the engine.
const ENUMERABLE: f64 = 1e8;

/// An example that an exact engine which was asked for cannot take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::builtin) enum Misfit {
    /// The example has a cycle.
    Cycle(usize),
    /// The example has so many labellings, more than the last number.
    TooMany(usize, f64, f64),
}

/// Returns the first example that the engine asked for cannot take; of each the number of nodes, the edges, and a
/// function that tells the number of labels of a node.
pub(in crate::builtin) fn misfit<'a, L: Fn(usize) -> usize>(
    asked: EngineChoice,
    mut examples: impl Iterator<Item = (usize, &'a [[u32; 2]], L)>,
) -> Option<Misfit> {
    match asked {
        EngineChoice::Tree => {
            let (mut part, mut parents) = (LabelledPart::default(), Vec::new());
            let example = examples.position(|(nodes, edges, _)| {
                part.take(nodes, edges, None);
                !part.is_forest(&mut parents)
            });
            example.map(Misfit::Cycle)
        }
        EngineChoice::Brute => {
            let count = |labels: L, nodes: usize| (0..nodes).map(|node| labels(node) as f64).product::<f64>();
            let counts = examples.map(|(nodes, _, labels)| count(labels, nodes)).enumerate();
            let mut beyond = counts.filter(|(_, labellings)| *labellings > ENUMERABLE);
            beyond.next().map(|(example, labellings)| Misfit::TooMany(example, labellings, ENUMERABLE))
        }
        _ => None,
    }
}

/// Refuses a loss by weights where there are none and something is to be learned, and returns the warning where a model
/// is used: `has_weights` and `used` say so.
pub(in crate::builtin) fn check_weights(
    loss: NodeLoss,
    has_weights: bool,
    used: bool,
) -> Result<Option<String>, OpenError> {
    match loss {
        NodeLoss::NodeWeighted if has_weights => Ok(None),
        // Who predicts needs no weights.
        NodeLoss::NodeWeighted if used => {
            Ok(Some("the data has no node_weights: in the loss all nodes count alike".into()))
        }
        NodeLoss::NodeWeighted => {
            Err(OpenError::new("task.loss=node-weighted needs node_weights, and the data has none"))
        }
        _ => Ok(None),
    }
}

/// Refuses weights of training data that make every error free, and returns the warning about a loss that does not go
/// by the weights that there are.
pub(in crate::builtin) fn check_use_of_weights<L: Into<NodeLoss> + Serialize + Copy>(
    loss: L,
    truths: &[Labelling],
) -> Result<Option<String>, OpenError> {
    let weights = |truth: &Labelling| truth.judge.clone().filter(|judge| !judge.weights.is_empty());
    let weighs =
        |truth: &Labelling| weights(truth).is_some_and(|judge| truth.labelled().any(|node| judge.weights[node] > 0.0));
    match loss.into() {
        _ if truths.iter().all(|truth| weights(truth).is_none()) => Ok(None),
        NodeLoss::NodeWeighted if truths.iter().any(weighs) => Ok(None),
        NodeLoss::NodeWeighted => Err(OpenError::new(
            "task.loss=node-weighted: the node_weights of all labelled nodes are 0, so that no error costs anything",
        )),
        _ => {
            let name = serde_json::to_value(loss).unwrap_or_default();
            Ok(Some(format!(
                "node_weights have no effect on training with task.loss={}: task.loss=node-weighted goes by them",
                name.as_str().unwrap_or("?")
            )))
        }
    }
}

/// Returns the warning about edges that join nodes which an earlier one joins; `None` for 0.
pub(in crate::builtin) fn repeated(count: usize) -> Option<String> {
    let text = || format!("{count} edges join nodes that an earlier edge joins already: they are added up");
    (count > 0).then(text)
}

/// Returns the warning about examples (`noun`) that say nothing, as no node of theirs has a label.
pub(in crate::builtin) fn bare<L: TaskLabel>(truths: &[L], (noun, node): (&str, &str)) -> Option<String> {
    let is_bare = |truth: &&L| truth.numbers().is_some_and(|labels| labels.iter().all(|label| *label == UNLABELLED));
    let bare = truths.iter().filter(is_bare).count();
    let text = || format!("{bare} of {} {noun} have no labelled {node}: nothing is learned from them", truths.len());
    (bare > 0).then(text)
}
