//! Labelled rows as examples: what `binary`, `multiclass` and other tasks with one label per row read.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::builtin::kernelized::{KernelFacts, KernelSpec, KernelVocabulary};
use crate::builtin::pairwise::UNLABELLED;
use crate::builtin::reading::Reading;
use crate::builtin::scaling::ScaleSpec;
use crate::builtin::unused_columns::{KnownColumns, UsedColumns, is_zero};
use crate::builtin::vocabulary_match::{check_names, unseen_labels};
use crate::class_weights::ClassWeights;
use crate::data::{Classified, SparseRows, Strings};
use crate::dataset::Dataset;
use crate::kernel::{Kernel, KernelStore};
use crate::losses::{LossSpec, UNSEEN};
use crate::problem::{FeatureSpace, OpenError, TaskVocabulary, Vocabulary, check_dim};

/// Parameters of a task on rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(inline)]
pub struct RowSpec {
    /// Adds a feature that is always 1, after the others.
    pub bias: bool,
    /// What the columns of features are divided by, so that none outweighs the others: `max-abs`, `standard` or `none`. It
    /// is part of the model: data that the model is used on is divided in the same way.
    pub scale: ScaleSpec,
    /// What takes the place of inner products of rows: then the model is a sum over training rows. All solvers but
    /// `fw` and partial linearisation take it.
    pub kernel: KernelSpec,
    /// How rows of the kernel's matrix are kept in training.
    pub kernel_rows: KernelStore,
    /// How many rows a model may hold; `null` for as many as carry weight. Once training has ended, the weights are projected
    /// onto the span of so many rows, chosen one by one, each time the one that leaves the least. P and the gap are those of the
    /// model that is left.
    pub kernel_budget: Option<u32>,
    /// What a wrong answer costs; `hamming` is the 0-1 loss here. The oracle adds it to the scores, and evaluation
    /// reports its mean. A cost matrix is given by `task.loss=cost-matrix` and `task.loss.matrix=[[0, 1], [5, 0]]`.
    pub loss: LossSpec,
    /// Factors on the loss by true label: a list, in sorted order of the labels; by name as in
    /// `task.class_weights.cat=2`, 1 for those left out; or `balanced`, n / (labels * how often the label is true).
    /// Models hold the list.
    pub class_weights: Option<ClassWeights>,
}

/// The facts that a task on rows remembers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RowVocabulary {
    /// Names of the labels: whole numbers in ascending order, or other names in alphabetical order.
    pub labels: Vec<String>,
    /// Features of a row, a bias feature included.
    pub features: usize,
    /// Columns of the training data where w has weights only for those that some example has, whose numbers are the
    /// names of the features then; 0 where it has weights for all.
    #[serde(skip_serializing_if = "is_zero")]
    pub width: usize,
    /// Facts of the features: their names, what they were divided by, the rows of a kernel.
    #[serde(skip)]
    pub space: FeatureSpace,
    /// The kernel, its gamma a number, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<Kernel>,
}

impl TaskVocabulary for RowVocabulary {
    fn space(&mut self) -> Option<&mut FeatureSpace> {
        Some(&mut self.space)
    }
}

impl KernelVocabulary for RowVocabulary {
    fn of_kernel(&mut self) -> KernelFacts<'_> {
        KernelFacts { features: self.features, width: self.width, kernel: &mut self.kernel, space: &mut self.space }
    }
}

impl RowVocabulary {
    /// Returns the name of a label; `?` for one that training never saw.
    pub fn label(&self, label: u32) -> &str {
        self.labels.get(label as usize).map_or("?", String::as_str)
    }
}

/// Labelled rows made ready.
pub type LabelledRows = Reading<SparseRows, u32, RowVocabulary>;

/// How rows are read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowOptions {
    /// Adds a feature that is always 1.
    pub bias: bool,
    /// Gives every label weights of its own for each feature.
    pub weights_per_label: bool,
}

impl LabelledRows {
    /// Reads labels and rows of `data` for `task`. With a vocabulary (that of a model) labels that it lacks become
    /// [`UNSEEN`] and features that it lacks are dropped, each with one warning.
    ///
    /// # Errors
    ///
    /// The data are not labelled rows, or need more weights than there may be.
    pub fn read(
        task: &str,
        data: &Dataset,
        options: RowOptions,
        vocabulary: Option<&Vocabulary>,
    ) -> Result<Self, OpenError> {
        let Some(rows) = data.get::<Classified>() else {
            return Err(OpenError::new(format!("task `{task}` reads libsvm or csv, found {}", data.describe())));
        };
        let known_names = vocabulary.and_then(|vocabulary| vocabulary.dictionary.as_ref());
        check_names(known_names.map(Arc::as_ref), rows.features.as_deref())?;
        let (mut warnings, is_known) = (Vec::new(), vocabulary.is_some());
        let vocabulary = match vocabulary {
            Some(vocabulary) => known_vocabulary(vocabulary, options)?,
            None => learn(rows, options, &mut warnings)?,
        };
        // Names that are no numbers are of classes with names.
        let value = |(place, label): (usize, &String)| label.parse::<i64>().ok().map(|value| (value, place as u32));
        let mut values: Vec<(i64, u32)> = vocabulary.labels.iter().enumerate().filter_map(value).collect();
        values.sort_unstable();
        let of_name: Vec<u32> = {
            let mut index = Strings::new();
            vocabulary.labels.iter().for_each(|label| {
                index.intern(label);
            });
            rows.names.iter().map(|name| index.find(name).unwrap_or(UNSEEN)).collect()
        };
        let number = |label: &i64| match *label {
            Classified::NO_LABEL if is_known => UNLABELLED,
            label if !of_name.is_empty() => of_name[label as usize],
            label => values.binary_search_by_key(&label, |&(value, _)| value).map_or(UNSEEN, |place| values[place].1),
        };
        let labels: Vec<u32> = rows.labels.iter().map(number).collect();
        warnings.extend(unseen_labels(labels.iter().filter(|&&label| label == UNSEEN).count(), "example"));
        let columns = KnownColumns::new(
            vocabulary.width,
            vocabulary.space.dictionary.as_deref(),
            vocabulary.features,
            options.bias,
        )?;
        warnings.extend(columns.unseen(&rows.rows));
        let inputs = (0..rows.rows.len()).map(|i| columns.cut(&rows.rows, i..i + 1)).collect();
        Ok(Reading { inputs, labels, vocabulary, fingerprint: data.fingerprint(), warnings })
    }

    /// Adds the label that the data lacks, so that a problem of one label is still a binary one: label 1 stays
    /// the greater of the two.
    pub(super) fn complete_single_label(&mut self) {
        let only: i64 = self.vocabulary.labels[0].parse().unwrap_or(1);
        if only > 0 {
            self.vocabulary.labels.insert(0, (if only == 1 { -1 } else { only - 1 }).to_string());
            self.labels.iter_mut().filter(|label| **label == 0).for_each(|label| *label = 1);
        } else {
            self.vocabulary.labels.push((if only == -1 { 1 } else { only + 1 }).to_string());
        }
    }
}

/// The vocabulary of a model, held to what holds of one that was learned.
fn known_vocabulary(vocabulary: &Vocabulary, options: RowOptions) -> Result<RowVocabulary, OpenError> {
    let vocabulary: RowVocabulary = vocabulary.read()?;
    let labels = &vocabulary.labels;
    let values: Option<Vec<i64>> = labels.iter().map(|label| label.parse().ok()).collect();
    // By value; or by name, where the names of classes are texts that look like numbers.
    if !(values.is_some_and(|values| values.is_sorted_by(|a, b| a < b)) || is_ascending(labels) || unnumbered(labels)) {
        return Err(OpenError::new("the labels of the model are not in ascending order"));
    }
    let named = vocabulary.space.dictionary.as_ref().map(|names| names.len() + usize::from(options.bias));
    if named.is_some_and(|named| named != vocabulary.features) {
        return Err(OpenError::new("the names of the model's features are not as many as these"));
    }
    check_dim(vocabulary.features, if options.weights_per_label { labels.len() } else { labels.len().min(1) })?;
    Ok(vocabulary)
}

/// Returns if names ascend, none coming twice.
fn is_ascending(names: &[String]) -> bool {
    names.is_sorted_by(|a, b| a < b)
}

/// Returns if a label is no whole number: its order is that of the program that named the labels.
fn unnumbered(labels: &[String]) -> bool {
    labels.iter().any(|label| label.parse::<i64>().is_err())
}

/// The vocabulary of training data.
fn learn(rows: &Classified, options: RowOptions, warnings: &mut Vec<String>) -> Result<RowVocabulary, OpenError> {
    let mut labels = rows.labels.clone();
    labels.sort_unstable();
    labels.dedup();
    if labels.len() == 1 {
        let only = rows.name_of(labels[0]);
        warnings.push(format!("all examples have the label {only}: there is nothing to learn"));
    }
    let tables = if options.weights_per_label { labels.len() } else { 1 };
    let named = rows.features.clone().filter(|names| names.len() == rows.rows.columns());
    let used = if named.is_none() { UsedColumns::learn(&rows.rows, tables) } else { None };
    let features = used.as_ref().map_or(rows.rows.columns(), UsedColumns::len) + usize::from(options.bias);
    check_dim(features, tables)?;
    let names = labels.iter().map(|&label| rows.name_of(label)).collect();
    let width = used.as_ref().map_or(0, |_| rows.rows.columns());
    let space =
        FeatureSpace { dictionary: used.map(|used| Arc::new(used.names())).or(named), ..FeatureSpace::default() };
    Ok(RowVocabulary { labels: names, features, width, space, ..RowVocabulary::default() })
}
