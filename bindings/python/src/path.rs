//! Paths and grids, cross-validated where that is asked for, with checkpoints.

use multiplane::{
    CrossValidation, Error, FoldPlan, GridPoints, GridSpec, Outer, OuterOptions, PathEnd, RunOptions, Session,
    assign_folds, cross_validate, cross_validate_problem,
};
use pyo3::prelude::*;

use crate::checkpoints::{CheckpointRequest, Checkpoints};
use crate::errors::raised;
use crate::interrupt::Interrupt;
use crate::model::PathModelObject;
use crate::train::{FitJob, JobData, JobRequest};

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

/// Cross-validates a path or grid, on these lambdas.
fn validate(
    divided: &JobData,
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
    let plan = FoldPlan { folds, outer: &outer, lambdas, interrupt: Some(interrupt.end.clone()) };
    match divided {
        JobData::Data(data) => cross_validate(session.spec(), data, &plan),
        JobData::Task(_, part) => cross_validate_problem(session.spec(), &**part, &plan),
    }
}

/// A path, its report as JSON text, warnings, and what interrupted it, as far as it had come then.
type Followed = (PathModelObject, String, Vec<String>, Option<Py<PyAny>>);

/// Follows the regularisation path, or trains at the points of a grid, as the sections `path` and `grid` of the tree
/// say; `cv` says how to cross-validate it.
#[pyfunction]
pub(crate) fn path(
    py: Python<'_>,
    order: JobRequest<'_>,
    cv: Option<FoldsArgument>,
    checkpoints: CheckpointRequest,
) -> PyResult<Followed> {
    let mut job = FitJob::new(py, order)?;
    let options = OuterOptions::take(&mut job.tree).map_err(raised)?;
    let checkpoints = Checkpoints::open(checkpoints).map_err(raised)?;
    let (interrupt, divided) = (job.interrupt.clone(), job.source.clone());
    let work = move |session: Session, hooks: RunOptions| {
        let mut hooks = RunOptions { abort: None, ..hooks };
        let outer = options.outer(session.spec().stop.gap, session.problem().facts().total_weight)?;
        let folds = cv.map(|cv| cv.of(&session)).transpose()?;
        let told = checkpoints.hook(&session, Some(&outer), &mut hooks)?;
        let (mut model, mut summary) = match &outer {
            Outer::Path(path) => session.path(path, hooks)?,
            Outer::Grid(grid) => session.grid(grid, hooks)?,
        };
        let mut told = told.of(summary.checkpoints.as_ref());
        match folds {
            Some(folds) if summary.stop_reason == PathEnd::LambdaMin => {
                match validate(&divided, &session, &folds, &outer, &model.lambdas, &interrupt) {
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
