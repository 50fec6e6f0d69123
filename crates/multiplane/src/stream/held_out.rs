//! Looks at test data while a stream is learned: the loss there, the best weights so far, and when patience ends.

use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::problem::Problem;

use crate::error::Error;
use crate::file::Model;
use crate::session::unlabelled_warning;

/// Test data of a stream.
pub(super) struct HeldOut {
    data: Dataset,
    /// As it was opened last, and the features that w had then.
    opened: Option<(usize, Box<dyn Problem>)>,
    threads: usize,
    patience: Option<u64>,
    /// The model of lowest loss, where patience is to choose it.
    best: Option<(f64, Model)>,
    /// Looks since then.
    worse: u64,
}

impl HeldOut {
    pub(super) fn new(data: Dataset, threads: usize, patience: Option<u64>) -> Self {
        HeldOut { data, opened: None, threads: threads.max(1), patience, best: None, worse: 0 }
    }

    /// Measures a model's loss; ties go to the earlier one.
    pub(super) fn look(&mut self, model: Model) -> Result<Option<f64>, Error> {
        let features = model.info.provenance.vocabulary.features;
        if self.opened.as_ref().is_none_or(|(known, _)| *known != features) {
            self.opened = Some((features, model.open(self.data.clone())?));
        }
        let Some((_, problem)) = &self.opened else { return Ok(None) };
        let loss = problem.predictor().evaluate(&problem.from_file_layout(&model.w), self.threads)?.loss;
        if let (Some(loss), true) = (loss, self.patience.is_some()) {
            if self.best.as_ref().is_none_or(|(best, _)| loss < *best) {
                (self.best, self.worse) = (Some((loss, model)), 0);
            } else {
                self.worse += 1;
            }
        }
        Ok(loss)
    }

    /// Returns what is to be said of the test data to who is given this model: labels and features that it does not know.
    ///
    /// # Errors
    ///
    /// Test data that do not fit.
    pub(super) fn warnings(&self, model: &Model) -> Result<Vec<String>, Error> {
        let features = model.info.provenance.vocabulary.features;
        let again;
        let problem = match &self.opened {
            Some((known, problem)) if *known == features => problem,
            _ => {
                again = model.open(self.data.clone())?;
                &again
            }
        };
        let warnings = problem.warnings().iter().cloned().chain(unlabelled_warning(&**problem));
        Ok(warnings.map(|warning| format!("test data: {warning}")).collect())
    }

    /// Whether patience has ended.
    pub(super) fn is_over(&self) -> bool {
        self.patience.is_some_and(|patience| self.worse >= patience)
    }

    /// The model of lowest loss with that loss, where patience chooses.
    pub(super) fn best(&mut self) -> Option<(f64, Model)> {
        self.best.take()
    }
}
