//! How the task is opened: images read as examples.

use std::sync::Arc;

use multiplane_core::example::Examples;
use multiplane_core::parameter::require;
use multiplane_infer::boxes::{BinKernel, Rect, cells, windows};
use serde::Serialize;

use super::boxed::Boxed;
use super::spec::{BoxSearch, BoxSpec, HistogramKernel, Normalise};
use super::task::{BoxTask, BoxVocabulary, tables, tables_of_rows};
use super::window_rows::{WindowRows, WindowedImage};
use super::window_task::WindowTask;
use super::windows::sizes;
use crate::builtin::kernelized;
use crate::builtin::reading::{Reading, other_features};
use crate::data::boxes::{self, BoxImage, Boxes};
use crate::dataset::Dataset;
use crate::entry::{TaskEntry, TaskSpec};
use crate::kernel::Kernel;
use crate::problem::tables::WeightTable;
use crate::problem::{OpenError, Problem, Vocabulary, check_dim};

/// The most kernel values that are kept between windows of the same image: 4 GB.
const MOST_AMONG: usize = 500_000_000;

/// Images made ready for the task.
type BoxReading = Reading<Arc<BoxImage>, Boxed, BoxVocabulary>;

/// The task as users name it.
pub const ENTRY: TaskEntry = TaskEntry::new::<BoxSpec>("box")
    .summary("a box around an object in a map of visual words")
    .reads(&[&boxes::FORMAT])
    .layout("[cell][word], with task.bin_kernel [cell][word][number], with task.kernel [row]")
    .bounded()
    .unit_loss()
    .lists()
    .oracle("branch and bound or a sweep over all boxes of a grid, or all windows of some sizes");

impl TaskSpec for BoxSpec {
    fn open(&self, data: Dataset, vocabulary: Option<&Vocabulary>) -> Result<Box<dyn Problem>, OpenError> {
        let (reading, task) = read(self, &data, vocabulary)?;
        match self.kernel.kernel() {
            None => reading.into_problem(ENTRY.name, task),
            Some(kernel) => self.open_windows(kernel, reading, task, vocabulary.is_some()),
        }
    }

    fn weight_tables(&self, vocabulary: &Vocabulary) -> Result<Vec<WeightTable>, OpenError> {
        let known: BoxVocabulary = vocabulary.read()?;
        Ok(match &known.space.support {
            Some(rows) => tables_of_rows(self, rows.len()),
            None => tables(self, &known),
        })
    }
}

impl BoxSpec {
    /// Opens the task with windows as rows of a kernel.
    fn open_windows(
        &self,
        kernel: Kernel,
        reading: BoxReading,
        boxes: BoxTask,
        is_known: bool,
    ) -> Result<Box<dyn Problem>, OpenError> {
        let Reading { inputs, labels, mut vocabulary, fingerprint, warnings } = reading;
        let (mut images, mut first, mut among) = (Vec::with_capacity(inputs.len()), 0, 0);
        for image in inputs {
            let windows = windows(&image.map, &vocabulary.windows, self.stride);
            let rects: Vec<Rect> = image.boxes.iter().copied().chain(windows).collect();
            images.push(Arc::new(WindowedImage { image, rects, first }));
            let own = images[images.len() - 1].rects.len();
            (first, among) = (first + own, among + own * own);
            if among > MOST_AMONG && !is_known {
                let count = images.len();
                return Err(OpenError::new(format!(
                    "task.kernel: found {first} windows in the first {count} images, too many to compare those of each \
                     image with one another: raise task.stride, or lower task.windows"
                )));
            }
        }
        let words = vocabulary.all_words();
        let rows = WindowRows::new(images.clone(), self.levels, words, self.normalise == Normalise::L2);
        let kernel = match vocabulary.kernel {
            Some(kernel) => kernel,
            None => kernel.resolved(&rows.of_boxes()).map_err(kernelized::fault)?,
        };
        vocabulary.kernel = Some(kernel);
        let task = WindowTask { boxes, rows: first };
        let examples = rows.examples();
        let labelled = images.iter().map(|image| image.image.boxes.len()).max().unwrap_or(0).max(1) + 1;
        let reading = Reading { inputs: images, labels, vocabulary, fingerprint, warnings };
        let options = (kernel, self.kernel_rows, self.kernel_budget);
        kernelized::open_made(ENTRY.name, reading, (Arc::new(rows), examples, labelled), options, is_known, task)
    }

    /// Checks the parameters that a kernel restricts.
    fn check_kernel(&self) -> Result<(), OpenError> {
        let kernel = self.kernel.kernel();
        kernelized::check_budget(self.kernel_budget, kernel)?;
        self.kernel_rows.validate(kernel).map_err(|error| error.under("kernel_rows"))?;
        let Some(kernel) = kernel else { return Ok(()) };
        let rule = "must be rbf, polynomial or linear; task.bin_kernel has intersection and chi2";
        let takes_products = matches!(kernel, Kernel::Linear | Kernel::Rbf(_) | Kernel::Polynomial(_));
        require(takes_products, "kernel.name", kernel.name(), rule)?;
        let is_linear = self.bin_kernel == HistogramKernel::Linear;
        require(is_linear, "bin_kernel", name(self.bin_kernel), "must be linear with a kernel of windows")?;
        let is_windows = self.search == BoxSearch::Windows;
        require(is_windows, "search", name(self.search), "must be windows with a kernel of windows")?;
        let has_length = matches!(self.normalise, Normalise::L1 | Normalise::L2);
        require(has_length, "normalise", name(self.normalise), "must be l1 or l2 with a kernel of windows")?;
        Ok(())
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

/// Returns a value as users write it.
fn name(value: impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Reads images, with the vocabulary of a model if one is given.
fn read(spec: &BoxSpec, data: &Dataset, model: Option<&Vocabulary>) -> Result<(BoxReading, BoxTask), OpenError> {
    require((1..=4).contains(&spec.levels), "levels", spec.levels, "must be 1 to 4")?;
    require(spec.stride > 0, "stride", spec.stride, "must be at least 1")?;
    require(spec.windows > 0, "windows", spec.windows, "must be at least 1")?;
    require((0.0..=1.0).contains(&spec.apart), "apart", spec.apart, "must be 0 to 1")?;
    spec.check_kernel()?;
    let is_linear = spec.bin_kernel == HistogramKernel::Linear;
    require(
        is_linear || spec.normalise == Normalise::None,
        "normalise",
        name(spec.normalise),
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
                    sizes(boxes, spec.windows)
                }
                BoxSearch::BranchAndBound => Vec::new(),
            };
            let features_id = found.features_id().map(str::to_string);
            BoxVocabulary { words, windows, features_id, ..BoxVocabulary::default() }
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
