//! Training: a specification as JSON text, data or a user's task, and somebody who watches.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use multiplane::observe::Observer;
use multiplane::{
    Checkpoint, Choice, EarlierRun, Error, Problem, Rescaling, RunOptions, RunSpec, Session, SlackProblem, StartPoint,
    WarmState, hold_out, influences,
};
use multiplane_core::plane::Plane;
use pyo3::prelude::*;
use serde_json::{Map, Value};

use crate::checkpoints::{CheckpointRequest, Checkpoints};
use crate::dataset::DatasetObject;
use crate::errors::{guarded, raised, tree_of, value_error};
use crate::interrupt::{Interrupt, interruptible};
use crate::model::ModelObject;
use crate::parts::Parts;
use crate::task::UserTask;
use crate::watch::{Recorder, Signals, Watcher};

/// What is trained on, or tested; both are of one kind.
#[derive(Clone)]
pub(crate) enum JobData {
    Data(multiplane::dataset::Dataset),
    Task(Arc<dyn Problem>, Part),
}

/// Makes a user's task for some of its examples, rescaled as the specification says.
pub(crate) type Part = Arc<dyn Fn(&[usize]) -> Result<Arc<dyn Problem>, Error> + Send + Sync>;

/// The parameters of a task, its name among them, in the tree of a run.
fn task_params(tree: &Map<String, Value>) -> Map<String, Value> {
    tree.get("task").and_then(Value::as_object).cloned().unwrap_or_default()
}

/// Rescales a user's task as the tree of a run has it. Its other parameters are its name and class alone.
fn rescaled(tree: &Map<String, Value>, problem: Arc<dyn Problem>) -> Result<Arc<dyn Problem>, Error> {
    let mut params = task_params(tree);
    let rescaling = Rescaling::take(&mut params).map_err(|error| error.under("task"))?;
    if let Some((name, value)) = params.iter().find(|(name, _)| !matches!(name.as_str(), "name" | "class")) {
        return Err(Error::input(format!(
            "task.{name} = {value}: a task of your own has the parameter task.rescaling alone; others are attributes of \
             its object"
        )));
    }
    Ok(match rescaling {
        Rescaling::Margin => problem,
        Rescaling::Slack => Arc::new(SlackProblem::new(problem)?),
    })
}

/// The tree of a run as JSON text, a Dataset or a UserTask to train on, another to test with, and a watcher. It is
/// called with the text of each record and, between them, with pass, calls (all of them) and seconds.
#[derive(FromPyObject)]
pub(crate) struct JobRequest<'py>(String, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>, Option<Py<PyAny>>);

/// A job: everything of it can go to another thread.
pub(crate) struct FitJob {
    pub(crate) tree: Map<String, Value>,
    pub(crate) source: JobData,
    test: Option<JobData>,
    watcher: Option<Py<PyAny>>,
    pub(crate) interrupt: Interrupt,
    history: Arc<Mutex<String>>,
    /// The task, if it declares bounds.
    bounds: Option<Arc<Parts>>,
}

impl FitJob {
    pub(crate) fn new(py: Python<'_>, JobRequest(spec, source, test, watcher): JobRequest<'_>) -> PyResult<FitJob> {
        let tree = tree_of(&spec)?;
        let interrupt = Interrupt::default();
        let read = |source: &Bound<'_, PyAny>| -> PyResult<JobData> {
            Ok(match source.cast::<UserTask>() {
                Ok(task) => {
                    let problem = task.get().problem(py, &interrupt)?;
                    let (task, interrupt, tree) = (task.clone().unbind(), interrupt.clone(), tree.clone());
                    let part = move |examples: &[usize]| {
                        let made = Python::attach(|py| task.get().of(py, examples).problem(py, &interrupt))
                            .map_err(|error| Error::failed(error.to_string()));
                        rescaled(&tree, made?)
                    };
                    JobData::Task(problem, Arc::new(part))
                }
                Err(_) => JobData::Data(source.cast::<DatasetObject>()?.get().data()?.clone()),
            })
        };
        let task = source.cast::<UserTask>().ok().map(|task| task.get().parts.clone());
        let bounds = task.filter(|parts| parts.has_bounds());
        let (source, test) = (read(&source)?, test.as_ref().map(read).transpose()?);
        Ok(FitJob { tree, source, test, watcher, interrupt, history: Arc::default(), bounds })
    }

    fn session(&self, told: &mut dyn FnMut(&str)) -> Result<Session, Error> {
        let (tree, test, interrupt) = (&self.tree, self.test.clone(), Some(self.interrupt.end.clone()));
        match self.source.clone() {
            JobData::Data(data) => {
                let test = test.and_then(|test| if let JobData::Data(test) = test { Some(test) } else { None });
                let spec = RunSpec::from_tree(tree)?;
                let (data, test) = match test {
                    Some(_) if spec.data.holdout.is_some() => {
                        return Err(Error::input("data.holdout: there are test data already, those given"));
                    }
                    Some(test) => (data, Some(test)),
                    None => hold_out(&spec, data)?,
                };
                Session::on_choosing(spec, data, test, interrupt, told)
            }
            JobData::Task(problem, part) => {
                let problem = rescaled(tree, problem)?;
                let mut params = task_params(tree);
                params.remove("name");
                let task = Choice { name: problem.task().into(), params };
                let test = test.and_then(|test| if let JobData::Task(test, _) = test { Some(test) } else { None });
                let spec = RunSpec::for_task(tree, task)?;
                if spec.data.holdout.is_some() {
                    return Err(Error::input("data.holdout: not for tasks of your own, whose test data are given"));
                }
                Session::on_problem_choosing(spec, problem, test, &*part, interrupt, told)
            }
        }
    }

    /// Returns who watches the run.
    fn watcher(&self) -> Option<Watcher> {
        let callable = Python::attach(|py| self.watcher.as_ref().map(|callable| callable.clone_ref(py)))?;
        let (callable, bounds, interrupt) = (Arc::new(callable), self.bounds.clone(), self.interrupt.clone());
        Some(Watcher { callable, bounds, interrupt, told: Instant::now() })
    }

    fn hooks(&self, on_calling_thread: bool) -> RunOptions {
        let mut observers: Vec<Box<dyn Observer>> =
            vec![Box::new(Recorder { history: self.history.clone(), bounds: self.bounds.clone() })];
        let interrupt = self.interrupt.clone();
        if let Some(watcher) = self.watcher() {
            observers.push(Box::new(watcher));
        }
        if on_calling_thread {
            observers.push(Box::new(Signals { interrupt: interrupt.clone(), looked: Instant::now() }));
        }
        RunOptions {
            observers,
            interrupt: Some(interrupt.end),
            abort: Some(interrupt.flag),
            losses: self.test.is_some() || !self.tree.get("data").is_none_or(|data| data["holdout"].is_null()),
            ..RunOptions::default()
        }
    }

    /// Runs `work` on a session: on the calling thread where the oracle is the user's, on another one else. With the
    /// exception that stopped it, if one did; one that a user's oracle raised is an error of the whole.
    pub(crate) fn run<T: Send>(
        self,
        py: Python<'_>,
        work: impl FnOnce(Session, RunOptions) -> Result<T, Error> + Send,
    ) -> PyResult<(T, Option<PyErr>, String)> {
        let (interrupt, history) = (self.interrupt.clone(), self.history.clone());
        let on_calling_thread = matches!(self.source, JobData::Task(..));
        let job = move || -> Result<T, Error> {
            let hooks = self.hooks(on_calling_thread);
            let watcher = self.watcher();
            let mut told = |at: &str| watcher.iter().for_each(|watcher| watcher.say("choosing", at.into()));
            let session = self.session(&mut told)?;
            work(session, hooks)
        };
        let result = match on_calling_thread {
            true => guarded(|| Ok(py.detach(job)))?,
            false => interruptible(py, &interrupt, job)?,
        };
        match (result, interrupt.take()) {
            (Ok(result), stopped) => {
                Ok((result, stopped, history.lock().unwrap_or_else(PoisonError::into_inner).clone()))
            }
            (Err(_), Some(stopped)) => Err(stopped),
            // What the library refuses of a user's task is a wrong value.
            (Err(Error::Failed(reason)), None) if on_calling_thread => Err(value_error(reason)),
            (Err(error), None) => Err(raised(error)),
        }
    }
}

/// A finished run: model, report and history.
#[pyclass(frozen, module = "multiplane._core")]
pub(crate) struct Fit {
    #[pyo3(get)]
    pub(crate) model: Py<ModelObject>,
    /// The report of `train --json`.
    #[pyo3(get)]
    pub(crate) summary: String,
    /// One JSON object per line and outer iteration.
    #[pyo3(get)]
    pub(crate) history: String,
    /// Warnings for the user.
    #[pyo3(get)]
    pub(crate) warnings: Vec<String>,
    /// Since when nothing has moved and why, where that is long.
    #[pyo3(get)]
    pub(crate) standstill: Option<String>,
    /// The warning about weights that are far from the optimum.
    #[pyo3(get)]
    pub(crate) doubt: Option<String>,
    /// The exception that ended it early, if one did; the model is what there was by then.
    #[pyo3(get)]
    pub(crate) interrupted: Option<Py<PyAny>>,
    /// sha256 of the training data.
    #[pyo3(get)]
    pub(crate) fingerprint: String,
    /// A start for the next run.
    pub(crate) warm: Mutex<Option<WarmState>>,
}

/// How parameters are set here.
fn set(name: &str, value: &str) -> String {
    let keyword = if name == "lambda" { "lam" } else { name.strip_prefix("task.").unwrap_or(name) };
    format!("{keyword}=\"{value}\"")
}

/// A change of truths: the example, and the linear and the constant part by which its planes change.
type TruthMove = (usize, Vec<f64>, f64);

/// A run on other data to begin at: a `Fit` that was kept, or the path of a checkpoint; which of its examples each
/// example is (`None`: they are known by content); and, where the examples are the same, which truths have changed.
#[derive(FromPyObject)]
pub(crate) struct ChangeRequest<'py>(Bound<'py, PyAny>, Option<Vec<Option<usize>>>, Option<Vec<TruthMove>>);

/// The start of a run on changed data, as it is asked for.
struct Change {
    earlier: EarlierRun,
    counterparts: Option<Vec<Option<usize>>>,
    moves: Option<HashMap<usize, Plane>>,
}

impl Change {
    fn start(self, session: &Session) -> Result<Option<StartPoint>, Error> {
        match self.moves {
            Some(moves) => session.start_at_truths(&self.earlier, moves),
            None => session.start_from(&self.earlier, self.counterparts).map(Some),
        }
    }
}

fn plane_of((example, linear, constant): TruthMove) -> (usize, Plane) {
    let mut plane = Plane::new();
    (0..).zip(linear).filter(|(_, value)| *value != 0.0).for_each(|(k, value)| plane.push(k, value));
    plane.set_circ(constant);
    (example, plane)
}

impl ChangeRequest<'_> {
    fn read(self) -> PyResult<Change> {
        let ChangeRequest(from, counterparts, moves) = self;
        let moves = moves.map(|moves| moves.into_iter().map(plane_of).collect());
        if let Ok(fit) = from.cast::<Fit>() {
            let warm = fit.get().warm.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let warm = warm.ok_or_else(|| value_error("the fit before was not kept"))?;
            return Ok(Change { earlier: warm.earlier().clone(), counterparts, moves });
        }
        let path: PathBuf = from.extract()?;
        let (checkpoint, generation, _) = Checkpoint::load_newest(&path).map_err(raised)?;
        let refuse = |error: Error| raised(Error::input(format!("{}: {error}", generation.display())));
        Ok(Change { earlier: EarlierRun::of(checkpoint).map_err(refuse)?, counterparts, moves })
    }
}

/// Trains a model. `start` is the `Fit` to continue; with `keep` the result can be continued later. `change` is the run
/// on other data to begin at, `names` say how labels are called that the core knows by number.
#[pyfunction]
pub(crate) fn train(
    py: Python<'_>,
    order: JobRequest<'_>,
    start: Option<&Fit>,
    keep: bool,
    checkpoints: CheckpointRequest,
    change: Option<ChangeRequest<'_>>,
    names: Option<Vec<String>>,
) -> PyResult<Fit> {
    let change = change.map(ChangeRequest::read).transpose()?;
    let mut job = FitJob::new(py, order)?;
    let checkpoints = Checkpoints::open(checkpoints).map_err(raised)?;
    checkpoints.restore_lambda(&mut job.tree);
    let watcher = job.watcher();
    let warm = start.and_then(|start| start.warm.lock().unwrap_or_else(PoisonError::into_inner).clone());
    let work = move |session: Session, mut hooks: RunOptions| {
        let session = checkpoints.going_on(session)?.calling_labels(names.unwrap_or_default());
        let mut warnings = session.warnings().to_vec();
        let advice = session.advice(set);
        match &watcher {
            Some(watcher) => advice.before().into_iter().for_each(|hint| watcher.say("hint", hint)),
            None => warnings.extend(advice.before()),
        }
        let refused = warm.as_ref().and_then(|start| session.check_start(start).err());
        if let Some(error) = &refused {
            warnings.push(format!("this fit starts anew: {error}"));
        }
        if let Some(change) = change {
            hooks.start = change.start(&session)?;
        }
        let told = checkpoints.hook(&session, None, &mut hooks)?;
        let (model, summary, state) = session.run_warm(hooks, warm.as_ref().filter(|_| refused.is_none()), keep)?;
        warnings.extend(advice.warnings(&summary));
        warnings.extend(advice.after(&summary));
        warnings.extend(told.of(summary.checkpoints.as_ref()));
        warnings.extend(session.mishaps().map(|told| format!("on the way {told}")));
        let doubt = advice.doubt(&summary);
        let standstill = advice.standstill(&summary);
        let summary = serde_json::to_string(&summary).map_err(|error| Error::failed(error.to_string()))?;
        Ok((model, summary, state, (warnings, standstill, doubt)))
    };
    let ((inner, summary, state, (warnings, standstill, doubt)), stopped, history) = job.run(py, work)?;
    let interrupted = stopped.map(|error| error.into_value(py).into_any());
    let fingerprint = inner.info.provenance.fingerprint.clone();
    Ok(Fit {
        model: Py::new(py, ModelObject::from(inner))?,
        fingerprint,
        summary,
        history,
        warnings,
        standstill,
        doubt,
        interrupted,
        warm: Mutex::new(state),
    })
}

/// Returns the influence of each training example on the mean hinge over the test data. `from` is the `Fit` of the
/// training data.
#[pyfunction]
pub(crate) fn influence(
    py: Python<'_>,
    order: JobRequest<'_>,
    from: Bound<'_, PyAny>,
    names: Option<Vec<String>>,
) -> PyResult<Vec<f64>> {
    let job = FitJob::new(py, order)?;
    let earlier = ChangeRequest(from, None, None).read()?.earlier;
    let work = move |session: Session, _: RunOptions| {
        influences(&session.calling_labels(names.unwrap_or_default()), &earlier, true)
    };
    Ok(job.run(py, work)?.0)
}
