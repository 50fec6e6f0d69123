//! How the task is opened: images read as examples.

use std::sync::Arc;

use multiplane_core::example::Examples;
use multiplane_core::parameter::require;
use multiplane_infer::boxes::{BinKernel, cells};

use super::boxed::Boxed;
use super::spec::{BoxSearch, BoxSpec, HistogramKernel, Normalise};
use super::task::{BoxTask, BoxVocabulary, tables};
use super::windows;
use crate::builtin::reading::{Reading, other_features};
use crate::data::boxes::{self, BoxImage, Boxes};
use crate::dataset::Dataset;
use crate::entry::{TaskEntry, TaskSpec};
use crate::problem::tables::WeightTable;
use crate::problem::{OpenError, Problem, Vocabulary, check_dim};

/// Images made ready for the task.
type BoxReading = Reading<Arc<BoxImage>, Boxed, BoxVocabulary>;

/// The task as users name it.
pub const ENTRY: TaskEntry = TaskEntry::new::<BoxSpec>("box")
    .summary("a box around an object in a map of visual words")
    .reads(&[&boxes::FORMAT])
    .layout("[cell][word], with task.bin_kernel [cell][word][number]")
    .bounded()
    .unit_loss()
    .lists()
    .oracle("branch and bound or a sweep over all boxes of a grid, or all windows of some sizes");

impl TaskSpec for BoxSpec {
    fn open(&self, data: Dataset, vocabulary: Option<&Vocabulary>) -> Result<Box<dyn Problem>, OpenError> {
        let (reading, task) = read(self, &data, vocabulary)?;
        reading.into_problem(ENTRY.name, task)
    }

    fn weight_tables(&self, vocabulary: &Vocabulary) -> Result<Vec<WeightTable>, OpenError> {
        Ok(tables(self, &vocabulary.read()?))
    }
}

/// Returns the task on images with its examples: for programs that ask the oracle themselves.
///
/// # Errors
///
/// Those of opening the task: parameters and data do not fit together.
pub fn examples(spec: &BoxSpec, data: &Dataset) -> Result<(BoxTask, Examples<Arc<BoxImage>, Boxed>), OpenError> {
    let (reading, task) = read(spec, data, None)?;
    Ok((task, Examples::new(reading.inputs, reading.labels)))
}

/// Reads images, with the vocabulary of a model if one is given.
fn read(spec: &BoxSpec, data: &Dataset, model: Option<&Vocabulary>) -> Result<(BoxReading, BoxTask), OpenError> {
    let normalise = format!("{:?}", spec.normalise).to_lowercase();
    require((1..=4).contains(&spec.levels), "levels", spec.levels, "must be 1 to 4")?;
    require(spec.stride > 0, "stride", spec.stride, "must be at least 1")?;
    require(spec.windows > 0, "windows", spec.windows, "must be at least 1")?;
    require((0.0..=1.0).contains(&spec.apart), "apart", spec.apart, "must be 0 to 1")?;
    let is_linear = spec.bin_kernel == HistogramKernel::Linear;
    require(
        is_linear || spec.normalise == Normalise::None,
        "normalise",
        normalise,
        "must be none with task.bin_kernel",
    )?;
    let Some(found) = data.get::<Boxes>() else {
        let found = data.describe();
        return Err(OpenError::new(format!("task `{}` reads maps of words with boxes, found {found}", ENTRY.name)));
    };
    let inputs = found.images().to_vec();
    let labels: Vec<Boxed> = inputs.iter().map(|image| Boxed::new(image.boxes.clone())).collect();
    let vocabulary = match model {
        Some(model) => model.read::<BoxVocabulary>()?,
        None => {
            let words = if spec.words.is_empty() { found.word_counts().to_vec() } else { spec.words.clone() };
            let windows = match spec.search {
                BoxSearch::Windows => {
                    let weighted = labels.iter().enumerate().map(|(k, truth)| (truth, data.weight(k)));
                    let boxes =
                        weighted.flat_map(|(truth, weight)| truth.boxes().iter().map(move |rect| (rect, weight)));
                    windows::sizes(boxes, spec.windows)
                }
                BoxSearch::BranchAndBound => Vec::new(),
            };
            BoxVocabulary { words, windows, features_id: found.features_id().map(str::to_string) }
        }
    };
    if found.word_counts() != vocabulary.words {
        let (found, expected) = (found.word_counts(), &vocabulary.words);
        let whose = if model.is_some() { "the model has" } else { "task.words is" };
        return Err(OpenError::new(format!("found vocabularies of {found:?} words, but {whose} {expected:?}")));
    }
    check_dim(vocabulary.words.iter().sum(), cells(spec.levels) * BinKernel::from(spec.bin_kernel).numbers())?;
    if model.is_none() {
        if let Some(image) = labels.iter().position(|truth| truth.boxes().is_empty()).filter(|_| !spec.none) {
            return Err(OpenError::new(format!(
                "image {image} has no box: leave it out, or allow \"no box\" as an answer (task.none)"
            )));
        }
        if spec.search == BoxSearch::Windows && vocabulary.windows.is_empty() {
            return Err(OpenError::new("no image has a box: there are no sizes of windows (task.search=windows)"));
        }
    }
    let other = other_features("the words", found.features_id(), vocabulary.features_id.as_deref());
    let warnings = other.into_iter().collect();
    let task = BoxTask::new(spec, vocabulary.clone());
    let fingerprint = data.fingerprint();
    Ok((Reading { inputs, labels, vocabulary, fingerprint, warnings }, task))
}
