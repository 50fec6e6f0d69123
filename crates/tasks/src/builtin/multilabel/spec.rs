//! Parameters of sets of labels, what a model remembers, and how the task is opened.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::chow_liu;
use super::costs::SetCosts;
use super::graph::LabelGraph;
use super::layout::{Multilabel, tables};
use crate::builtin::reading::Reading;
use crate::builtin::scaling::ScaleSpec;
use crate::builtin::unused_columns::{KnownColumns, UsedColumns, is_zero};
use crate::builtin::vocabulary_match::{check_names, unseen_labels};
use crate::data::{LabelSets, multilabel};
use crate::dataset::Dataset;
use crate::entry::{TaskEntry, TaskSpec};
use crate::losses::{LossSpec, UNSEEN};
use crate::problem::tables::{Axis, WeightTable, with_bias};
use crate::problem::{FeatureSpace, MAX_DIM, OpenError, Problem, TaskVocabulary, Vocabulary, check_dim};

/// The task as users name it.
pub const ENTRY: TaskEntry = TaskEntry::new::<MultilabelSpec>("multilabel")
    .summary("any number of labels per row, with weights for pairs of labels")
    .reads(&[&multilabel::FORMAT])
    .layout("unary[label][feature], pair[j<k][4]")
    .bounded()
    .oracle("enumeration, messages on trees, cuts, or TRW-S with a bound for many labels")
    .lists_several()
    .sums();

/// Parameters of the task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MultilabelSpec {
    /// Adds a feature that is always 1, after the others.
    pub bias: bool,
    /// What the columns of features are divided by, so that none outweighs the others: `max-abs`, `standard` or `none`. It
    /// is part of the model: data that the model is used on is divided in the same way.
    pub scale: ScaleSpec,
    /// Which pairs of labels have weights of their own: `full`, `none`, `tree`, or `edges`, which are given by
    /// `task.pairwise=edges` and `task.pairwise.edges=[[0, 1], [1, 4]]`.
    pub pairwise: PairwiseSpec,
    /// What a wrong set costs: a sum over the labels. The oracle adds it to the scores, and evaluation reports its mean.
    /// Misses that cost five times as much as false alarms are `task.loss=cost-matrix` and
    /// `task.loss.matrix=[[0, 1], [5, 0]]`.
    pub loss: LossSpec,
    /// Factors on the loss by label, in sorted order of the labels.
    pub label_weights: Option<Vec<f64>>,
}

/// Which pairs of labels have weights.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum PairwiseSpec {
    /// All. Answers are exact up to 16 labels, and where no pair repels; else bounded.
    #[default]
    Full,
    /// None: every label for itself.
    None,
    /// The tree of most mutual information in the training data (Chow and Liu); answers are exact.
    Tree,
    /// Those given. Answers are exact where they make no cycle, and as with `full` where they do.
    Edges {
        /// Pairs of labels by their places in sorted order, from 0.
        edges: Vec<[u32; 2]>,
    },
}

/// Most pairs of labels with weights: a search holds about 1 KiB for each.
const MOST_PAIRS: usize = 1 << 20;

/// What a model remembers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MultilabelVocabulary {
    /// Names of the labels, in ascending order: as whole numbers where all are such, else as text.
    pub labels: Vec<String>,
    /// Features of a row, a bias feature included.
    pub features: usize,
    /// The other class, if the only label is one of two classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
    /// The tree over the labels, where training chose one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tree: Vec<[u32; 2]>,
    /// Columns of the training data where w has weights only for those that some example has, whose numbers are the names
    /// of the features then; 0 where it has weights for all.
    #[serde(skip_serializing_if = "is_zero")]
    pub width: usize,
    /// Facts of the features: their names, what they were divided by, the rows of a kernel.
    #[serde(skip)]
    pub space: FeatureSpace,
}

impl TaskVocabulary for MultilabelVocabulary {
    fn space(&mut self) -> Option<&mut FeatureSpace> {
        Some(&mut self.space)
    }
}

impl TaskSpec for MultilabelSpec {
    fn open(&self, data: Dataset, vocabulary: Option<&Vocabulary>) -> Result<Box<dyn Problem>, OpenError> {
        open(self, ENTRY.name, &data, vocabulary)
    }

    fn weight_tables(&self, vocabulary: &Vocabulary) -> Result<Vec<WeightTable>, OpenError> {
        let known: MultilabelVocabulary = vocabulary.read()?;
        check_dim(known.features, known.labels.len())?;
        let graph = graph(&self.pairwise, &known)?;
        let pairs = Axis::label_pairs("pair", graph.edges());
        Ok(with_bias(tables(known.labels.len(), known.features, pairs), self.bias))
    }
}

/// Opens sets of labels as a problem of the task of this name; see [`TaskSpec::open`]. With a vocabulary (that of a
/// model) labels that it lacks count as errors, features that it lacks are dropped, each with one warning.
///
/// # Errors
///
/// The data are not sets of labels or name no label, parameters do not fit the labels, or there would be too many
/// weights.
pub fn open(
    spec: &MultilabelSpec,
    task: &'static str,
    data: &Dataset,
    vocabulary: Option<&Vocabulary>,
) -> Result<Box<dyn Problem>, OpenError> {
    let Some(sets) = data.get::<LabelSets>() else {
        return Err(OpenError::new(format!("task `{task}` reads multilabel, found {}", data.describe())));
    };
    let vocabulary_given = vocabulary;
    let known_names = vocabulary.and_then(|vocabulary| vocabulary.dictionary.as_deref());
    check_names(known_names, sets.features.as_deref())?;
    let mut vocabulary: MultilabelVocabulary = match vocabulary {
        Some(vocabulary) => vocabulary.read()?,
        None => learn(sets, spec.bias)?,
    };
    check_dim(vocabulary.features, vocabulary.labels.len())?;
    let labels = vocabulary.labels.len();
    let (known, unseen) = numbered(sets, &vocabulary.labels);
    if vocabulary_given.is_none() && spec.pairwise == PairwiseSpec::Tree {
        vocabulary.tree = chow_liu::tree(labels, &known);
    }
    let graph = graph(&spec.pairwise, &vocabulary)?;
    let costs = SetCosts::new(&spec.loss, spec.label_weights.as_deref(), labels)?;
    let truth = |(set, &unseen): (&Vec<u32>, &usize)| {
        let mut truth = vec![0; labels];
        set.iter().for_each(|&label| truth[label as usize] = 1);
        truth.resize(labels + unseen, UNSEEN);
        truth
    };
    let examples = unseen.iter().filter(|unseen| **unseen > 0).count();
    let features = vocabulary.features;
    let columns = KnownColumns::new(vocabulary.width, vocabulary.space.dictionary.as_deref(), features, spec.bias)?;
    let warnings = [unseen_labels(examples, "example"), columns.unseen(&sets.rows)];
    let reading = Reading {
        inputs: (0..sets.rows.len()).map(|i| columns.cut(&sets.rows, i..i + 1)).collect(),
        labels: known.iter().zip(&unseen).map(truth).collect(),
        vocabulary,
        fingerprint: data.fingerprint(),
        warnings: warnings.into_iter().flatten().collect(),
    };
    let reading = reading.scaled(spec.scale, vocabulary_given)?;
    reading.into_problem(task, Multilabel::new(features, graph, costs))
}

/// The vocabulary of training data.
fn learn(sets: &LabelSets, bias: bool) -> Result<MultilabelVocabulary, OpenError> {
    let labels: Vec<String> = sets.sorted_names().into_iter().map(|label| sets.names.get(label).to_owned()).collect();
    if labels.is_empty() {
        return Err(OpenError::new("no row has a label: there is nothing to learn"));
    }
    let named = sets.features.clone().filter(|names| names.len() == sets.rows.columns());
    let used = if named.is_none() { UsedColumns::learn(&sets.rows, labels.len()) } else { None };
    let features = used.as_ref().map_or(sets.rows.columns(), UsedColumns::len) + usize::from(bias);
    let width = used.as_ref().map_or(0, |_| sets.rows.columns());
    let space =
        FeatureSpace { dictionary: used.map(|used| Arc::new(used.names())).or(named), ..FeatureSpace::default() };
    Ok(MultilabelVocabulary { labels, features, width, space, ..MultilabelVocabulary::default() })
}

/// The labels of every row by their places among `labels`, and how many others it has.
fn numbered(sets: &LabelSets, labels: &[String]) -> (Vec<Vec<u32>>, Vec<usize>) {
    let mut places = vec![None; sets.names.len()];
    for (place, name) in labels.iter().enumerate() {
        if let Some(number) = sets.names.find(name) {
            places[number as usize] = Some(place as u32);
        }
    }
    let known = |set: &Vec<u32>| set.iter().filter_map(|&label| places[label as usize]).collect::<Vec<u32>>();
    let known: Vec<Vec<u32>> = sets.sets.iter().map(known).collect();
    let unseen = sets.sets.iter().zip(&known).map(|(set, known)| set.len() - known.len()).collect();
    (known, unseen)
}

/// The pairs that have weights.
fn graph(pairwise: &PairwiseSpec, vocabulary: &MultilabelVocabulary) -> Result<LabelGraph, OpenError> {
    let labels = vocabulary.labels.len();
    let few = |pairs: usize| match pairs <= MOST_PAIRS {
        true => Ok(()),
        false => Err(OpenError::new(format!(
            "{labels} labels have {pairs} pairs with weights, expected at most {MOST_PAIRS}: use task.pairwise=tree or \
             none"
        ))),
    };
    let edges: &[[u32; 2]] = match pairwise {
        PairwiseSpec::Full => {
            let weights = labels.saturating_mul(vocabulary.features + 2 * labels.saturating_sub(1));
            if weights > MAX_DIM {
                return Err(OpenError::new(format!(
                    "{labels} labels and all their pairs need {weights} weights, expected at most {MAX_DIM}: use \
                     task.pairwise=tree"
                )));
            }
            few(labels * labels.saturating_sub(1) / 2)?;
            return Ok(LabelGraph::full(labels));
        }
        PairwiseSpec::None => &[],
        PairwiseSpec::Tree => &vocabulary.tree,
        PairwiseSpec::Edges { edges } => edges,
    };
    few(edges.len())?;
    if let Some([j, k]) = edges.iter().find(|[j, k]| j == k || (*j).max(*k) as usize >= labels) {
        return Err(OpenError::new(format!(
            "task.pairwise.edges has [{j}, {k}]: must be two different labels, from 0 to {}",
            labels.saturating_sub(1)
        )));
    }
    Ok(LabelGraph::new(labels, edges.iter().copied()))
}
