//! What `binary` and `multiclass` share: turning labelled rows into examples.

use std::sync::Arc;

use multiplane_core::example::Examples;

use crate::data::SparseRows;
use crate::dataset::Dataset;
use crate::losses::UNSEEN;
use crate::problem::{Builtin, OpenError, Opened, Problem, Vocabulary, check_dim};

/// Labelled rows made ready.
pub(super) struct Opening {
    pub(super) inputs: Vec<SparseRows>,
    pub(super) labels: Vec<u32>,
    pub(super) vocabulary: Vocabulary,
    pub(super) fingerprint: String,
    pub(super) warnings: Vec<String>,
}

impl Opening {
    /// The problem of a task on these rows.
    pub(super) fn into_problem<T>(self, name: &'static str, task: T) -> Result<Box<dyn Problem>, OpenError>
    where
        T: Builtin<Input = SparseRows, Label = u32> + Send + Sync + 'static,
        T::Scratch: Send,
    {
        let examples = Arc::new(Examples { inputs: self.inputs, labels: self.labels });
        Ok(Box::new(Opened::new(name, task, examples, self.vocabulary, self.fingerprint, self.warnings)?))
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

/// Reads labels and rows of `data` for `task`. With a vocabulary (that of a model) labels that it lacks become
/// [`UNSEEN`] and features that it lacks are dropped, each with one warning.
pub(super) fn open(
    task: &str,
    data: Dataset,
    bias: bool,
    vocabulary: Option<&Vocabulary>,
) -> Result<Opening, OpenError> {
    let fingerprint = data.fingerprint();
    let Dataset::Classified(data) = data else {
        return Err(OpenError::new(format!("task `{task}` reads libsvm or csv, found {}", data.describe())));
    };
    let mut warnings = Vec::new();
    let vocabulary = match vocabulary {
        Some(vocabulary) => vocabulary.clone(),
        None => {
            let mut labels = data.labels.clone();
            labels.sort_unstable();
            labels.dedup();
            if labels.len() == 1 {
                warnings.push(format!("all examples have the label {}: there is nothing to learn", labels[0]));
            }
            let labels = labels.iter().map(i64::to_string).collect::<Vec<_>>();
            let features = data.rows.columns() + usize::from(bias);
            check_dim(features, if task == "binary" { 1 } else { labels.len() })?;
            Vocabulary::new(labels, features)
        }
    };
    let known = vocabulary.features - usize::from(bias).min(vocabulary.features);
    let names: Vec<i64> = vocabulary.labels.iter().filter_map(|label| label.parse().ok()).collect();
    let labels: Vec<u32> =
        data.labels.iter().map(|label| names.binary_search(label).map_or(UNSEEN, |position| position as u32)).collect();
    let unseen = labels.iter().filter(|&&label| label == UNSEEN).count();
    if unseen > 0 {
        let noun = if unseen == 1 { "example has" } else { "examples have" };
        warnings.push(format!("{unseen} {noun} a label that training never saw: no answer can be right there"));
    }
    if data.rows.columns() > known {
        let extra = data.rows.columns() - known;
        warnings.push(format!(
            "features {} to {} ({extra} in all) were never seen in training: ignored",
            known + 1,
            known + extra
        ));
    }
    let inputs = (0..data.rows.len()).map(|i| single_row(&data.rows, i, known, bias)).collect();
    Ok(Opening { inputs, labels, vocabulary, fingerprint, warnings })
}

/// Row `i` alone, cut to `known` features, with the bias feature where wanted.
fn single_row(rows: &SparseRows, i: usize, known: usize, bias: bool) -> SparseRows {
    let (mut indices, mut values): (Vec<u32>, Vec<f64>) =
        rows.row(i).iter().filter(|&(index, _)| (index as usize) < known).unzip();
    if bias {
        indices.push(known as u32);
        values.push(1.0);
    }
    let mut row = SparseRows::new(0);
    row.push(&indices, &values);
    row
}
