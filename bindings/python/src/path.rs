//! Paths and grids, cross-validated where that is asked for, with checkpoints.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use multiplane::{
    Checkpoint, Checkpointer, CrossValidation, Error, GridPoints, GridSpec, Outer, OuterOptions, Outputs, PathEnd,
    RunOptions, Session, assign_folds, cross_validate, cross_validate_problem,
};
use pyo3::prelude::*;

use crate::errors::raised;
use crate::interrupt::Interrupt;
use crate::model::PathModelObject;
use crate::train::{FitJob, JobData, JobRequest, Part};

/// How the examples are divided: into so many folds, or as these numbers say.
#[derive(FromPyObject)]
pub(crate) enum FoldsArgument {
    Count(usize),
    OfExample(Vec<u32>),
}

impl FoldsArgument {
    /// The fold of every example.
    fn of(self, session: &Session) -> Result<Vec<u32>, Error> {
        let n = session.problem().blocks();
        if session.has_given_kernel() {
            return Err(Error::input(
                "cv: the columns of a precomputed kernel belong to rows, which folds take apart; GridSearchCV divides both",
            ));
        }
        match self {
            FoldsArgument::Count(count) => assign_folds(n, count, session.spec().seed),
            FoldsArgument::OfExample(folds) if folds.len() == n => Ok(folds),
            FoldsArgument::OfExample(folds) => {
                Err(Error::input(format!("cv: {} folds given for {n} examples", folds.len())))
            }
        }
    }
}

/// What can be divided into folds.
enum Divided {
    Data(multiplane::dataset::Dataset),
    Task(Part),
}

impl Divided {
    fn validate(
        &self,
        session: &Session,
        folds: &[u32],
        outer: &Outer,
        lambdas: &[f64],
        interrupt: &Interrupt,
    ) -> Result<CrossValidation, Error> {
        let outer = match outer {
            Outer::Path(path) => Outer::Path(*path),
            Outer::Grid(grid) => Outer::Grid(GridSpec { points: GridPoints::List(lambdas.to_vec()), ..grid.clone() }),
        };
        let (spec, flag) = (session.spec(), Some(interrupt.flag.clone()));
        match self {
            Divided::Data(data) => cross_validate(spec, data, folds, &outer, lambdas, flag),
            Divided::Task(part) => cross_validate_problem(spec, &**part, folds, &outer, lambdas, flag),
        }
    }
}

/// Where checkpoints go, and where the path goes on from.
struct Checkpoints {
    path: Option<PathBuf>,
    every: Option<f64>,
    resume: Option<PathBuf>,
}

impl Checkpoints {
    /// Adds them to the hooks of a run; `told` hears of what it survives.
    fn hook(
        self,
        session: &Session,
        outer: &Outer,
        hooks: &mut RunOptions,
        told: &Arc<Mutex<Vec<String>>>,
    ) -> Result<(), Error> {
        let (mut generation, mut newest) = (None, None);
        if let Some(path) = &self.resume {
            let (checkpoint, from, unsound) = Checkpoint::load_newest(path)?;
            session.check_resumes(&checkpoint)?;
            checkpoint.info.check_outer(Some(outer))?;
            newest = unsound.map(|reason| format!("{reason}; the path goes on from {}", from.display()));
            (hooks.resume, generation) = (Some(checkpoint), Some(from));
        }
        if let Some(path) = self.path.or(self.resume) {
            let (every, told) = (self.every, told.clone());
            let outputs = move || Outputs { checkpoint_every: every, ..Outputs::default() };
            let warn = move |text: &str| told.lock().unwrap_or_else(PoisonError::into_inner).push(text.into());
            let mut checkpointer = Checkpointer::open(&path, every, Box::new(outputs), Box::new(warn))?;
            generation.iter().for_each(|from: &PathBuf| checkpointer.resumed_from(Path::new(from)));
            hooks.checkpointer = Some(checkpointer);
        }
        told.lock().unwrap_or_else(PoisonError::into_inner).extend(newest);
        Ok(())
    }
}

/// A path, its report as JSON text, warnings, and what interrupted it, as far as it had come then.
type Followed = (PathModelObject, String, Vec<String>, Option<Py<PyAny>>);

/// Follows the regularisation path, or trains at the points of a grid, as the sections `path` and `grid` of the tree
/// say; `cv` says how to cross-validate it, the other arguments where checkpoints go, every so many seconds, and which one to go
/// on from.
#[pyfunction]
#[pyo3(signature = (order, *, cv=None, checkpoint=None, checkpoint_every=None, resume=None))]
pub(crate) fn path(
    py: Python<'_>,
    order: JobRequest<'_>,
    cv: Option<FoldsArgument>,
    checkpoint: Option<PathBuf>,
    checkpoint_every: Option<f64>,
    resume: Option<PathBuf>,
) -> PyResult<Followed> {
    let mut job = FitJob::new(py, order)?;
    let options = OuterOptions::take(&mut job.tree).map_err(raised)?;
    let checkpoints = Checkpoints { path: checkpoint, every: checkpoint_every, resume };
    let interrupt = job.interrupt.clone();
    let divided = match &job.source {
        JobData::Data(data) => Divided::Data(data.clone()),
        JobData::Task(_, part) => Divided::Task(part.clone()),
    };
    let work = move |session: Session, hooks: RunOptions| {
        let mut hooks = RunOptions { abort: None, ..hooks };
        let outer = options.outer(session.spec().stop.gap, session.problem().facts().total_weight)?;
        let folds = cv.map(|cv| cv.of(&session)).transpose()?;
        let told = Arc::default();
        checkpoints.hook(&session, &outer, &mut hooks, &told)?;
        let (mut model, mut summary) = match &outer {
            Outer::Path(path) => session.path(path, hooks)?,
            Outer::Grid(grid) => session.grid(grid, hooks)?,
        };
        let mut told = std::mem::take(&mut *told.lock().unwrap_or_else(PoisonError::into_inner));
        told.extend(summary.checkpoints.as_ref().and_then(|report| report.failure.clone()));
        match folds {
            Some(folds) if summary.stop_reason == PathEnd::LambdaMin => {
                match divided.validate(&session, &folds, &outer, &model.lambdas, &interrupt) {
                    Ok(found) => {
                        model.info.chosen = Some(found.best_lambda);
                        summary.cross_validation = Some(found);
                    }
                    // What was trained is not lost.
                    Err(_) if interrupt.is_set() => summary.stop_reason = PathEnd::Interrupt,
                    Err(error) => told.push(format!("the path is complete, but not its cross-validation: {error}")),
                }
            }
            Some(_) => told.push("the path is not complete: it was not cross-validated".into()),
            None => {}
        }
        let summary = serde_json::to_string(&summary).map_err(|error| Error::failed(error.to_string()))?;
        Ok((model, summary, told))
    };
    let ((inner, summary, told), stopped, _) = job.run(py, work)?;
    Ok((PathModelObject { inner }, summary, told, stopped.map(|error| error.into_value(py).into_any())))
}
