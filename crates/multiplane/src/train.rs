//! From a [`RunSpec`] to a certified [`Model`]: opens the data, drives the solver, sums up.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use multiplane_core::clock::Stopwatch;
use multiplane_core::observe::Observer;
use multiplane_core::oracle::BoxedOracle;
use multiplane_core::regularizer::{Constraint, Regularizer};
use multiplane_core::run::{GapTarget, Losses, Outcome, Run};
use multiplane_tasks::data::{Format, Opaque};
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::problem::{Problem, Vocabulary};
use multiplane_tasks::tasks::TaskEntry;
use serde_json::Value;

use crate::checkpoint::{Checkpoint, CheckpointInfo};
use crate::checkpointer::Checkpointer;
use crate::error::Error;
use crate::model::{Model, ModelInfo};
use crate::prior;
use crate::spec::RunSpec;
use crate::summary::Summary;
use crate::warm::finish;

/// What a caller adds to a run; nothing here changes its result.
#[derive(Default)]
pub struct Hooks {
    /// Who watches.
    pub observers: Vec<Box<dyn Observer>>,
    /// Set it to stop the run.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// Set it to stop at once, without another call of the oracle: what the run has come to is what was evaluated
    /// last.
    pub abort: Option<Arc<AtomicBool>>,
    /// Whether task losses are measured at every evaluation.
    pub losses: bool,
    /// Writes checkpoints.
    pub checkpointer: Option<Checkpointer>,
    /// Where to go on from; it must be this run's.
    pub resume: Option<Checkpoint>,
}

/// A run ready to begin: specification checked, data read, task opened.
pub struct Session {
    pub(crate) spec: RunSpec,
    pub(crate) problem: Arc<dyn Problem>,
    pub(crate) test: Option<Arc<dyn Problem>>,
    pub(crate) regularizer: Regularizer,
    target: Option<GapTarget>,
    stopwatch: Stopwatch,
    warnings: Vec<String>,
}

/// Reads a data set and selects its folds.
pub fn read_data(path: &Path, format: Option<Format>, folds: Option<&[u32]>) -> Result<Dataset, Error> {
    let data = Dataset::read(path, format)?;
    match folds {
        Some(folds) => data.select_folds(folds).map_err(|reason| Error::input(format!("{}: {reason}", path.display()))),
        None => Ok(data),
    }
}

/// Reads what a task learns from: a task that reads nothing itself needs no data, and what it gets is not guessed at.
pub fn read_task_data(
    task: &TaskEntry,
    path: Option<&Path>,
    format: Option<Format>,
    folds: Option<&[u32]>,
) -> Result<Dataset, Error> {
    let opaque = task.formats == [Format::Opaque.name()];
    match path {
        Some(path) => read_data(path, format.or(opaque.then_some(Format::Opaque)), folds),
        None if opaque => Ok(Dataset::Opaque(Opaque::default())),
        None => Err(Error::input("no data given: --data PATH")),
    }
}

impl Session {
    /// Reads the data that `spec` names and opens the task on it.
    pub fn open(spec: RunSpec) -> Result<Session, Error> {
        let stopwatch = Stopwatch::start();
        let entry = spec.task_entry()?;
        let data = read_task_data(entry, spec.data.path.as_deref(), spec.format()?, spec.folds()?.as_deref())?;
        let test = spec.data.test.as_deref().map(|path| read_task_data(entry, Some(path), spec.format()?, None));
        let test = test.transpose()?;
        let mut session = Session::on(spec, data, test)?;
        session.stopwatch = stopwatch;
        Ok(session)
    }

    /// Opens the task on data that was read already.
    pub fn on(spec: RunSpec, data: Dataset, test: Option<Dataset>) -> Result<Session, Error> {
        let stopwatch = Stopwatch::start();
        let named = |error: Error, path: &Option<PathBuf>| match (error, path) {
            (Error::Input(reason), Some(path)) => Error::input(format!("{}: {reason}", path.display())),
            (error, _) => error,
        };
        let problem = open_task(&spec, data, None).map_err(|error| named(error, &spec.data.path))?;
        let test = test.map(|test| open_task(&spec, test, Some(problem.vocabulary()))).transpose();
        let test = test.map_err(|error| named(error, &spec.data.test))?;
        Session::over(spec, problem, test, stopwatch)
    }

    /// A run on a task that is not in the registry, such as one that lives in another language; the specification
    /// is [`RunSpec::for_task`]'s.
    pub fn on_problem(
        spec: RunSpec,
        problem: Arc<dyn Problem>,
        test: Option<Arc<dyn Problem>>,
    ) -> Result<Session, Error> {
        Session::over(spec, problem, test, Stopwatch::start())
    }

    fn over(
        mut spec: RunSpec,
        problem: Arc<dyn Problem>,
        test: Option<Arc<dyn Problem>>,
        stopwatch: Stopwatch,
    ) -> Result<Session, Error> {
        let mut warnings = problem.warnings().to_vec();
        for warning in test.iter().flat_map(|test| test.warnings()) {
            warnings.push(format!("test data: {warning}"));
        }
        let lambda = spec.lambda.value(problem.blocks());
        if !(lambda.is_finite() && lambda > 0.0 && (1.0 / lambda).is_finite()) {
            return Err(Error::input(format!(
                "lambda = {lambda} for {} examples: must be greater than 0",
                problem.blocks()
            )));
        }
        let target = spec.gap_target()?;
        let solver = spec.solver_entry()?;
        let other_stop = spec.stop.passes.is_some() || spec.stop.calls.is_some() || spec.stop.seconds.is_some();
        if !solver.has_dual && target.is_some() && other_stop {
            let name = solver.name;
            warnings.push(format!("solver `{name}` has no dual value: it cannot stop at a gap or certify one"));
        }
        if !solver.has_dual && !other_stop {
            let name = solver.name;
            return Err(Error::input(format!(
                "solver `{name}` has no dual value and so no gap to stop at: give --passes, --calls or --seconds"
            )));
        }
        let regularizer = prior::regularizer(&mut spec, &*problem, lambda)?;
        Ok(Session { spec, problem, test, regularizer, target, stopwatch, warnings })
    }

    /// Trains toward prior weights instead of 0 (`lambda/2 |w - prior|^2`), with constraints on single weights beside
    /// those that the task declares. The error says what does not fit.
    pub fn with_prior(mut self, prior: Vec<f64>, constraints: Vec<Constraint>) -> Result<Session, Error> {
        let (lambda, dim) = (self.lambda(), self.problem.dim());
        let regularizer = Regularizer::from(lambda).with_prior(prior).with_constraints(constraints);
        if let Some(fault) = regularizer.fault(dim) {
            return Err(Error::input(fault));
        }
        self.regularizer = regularizer.with_nonnegative(&self.problem.nonnegative(), dim);
        Ok(self)
    }

    /// The task on the training data.
    pub fn problem(&self) -> &dyn Problem {
        &*self.problem
    }

    /// What a user should know before the run.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Strength of the regulariser.
    pub fn lambda(&self) -> f64 {
        self.regularizer.lambda()
    }

    /// The gap to stop at.
    pub fn target(&self) -> Option<GapTarget> {
        self.target
    }

    /// The specification.
    pub fn spec(&self) -> &RunSpec {
        &self.spec
    }

    /// Trains to the end.
    pub fn run(&self, mut hooks: Hooks) -> Result<(Model, Summary), Error> {
        let (checkpointer, resume) = (hooks.checkpointer.take(), hooks.resume.take());
        let abort = hooks.abort.clone();
        let has_dual = self.spec.solver_entry()?.has_dual;
        let mut run = self.prepare(self.lambda(), self.target.filter(|_| has_dual), hooks)?;
        if let Some(checkpoint) = resume {
            self.check_data(&checkpoint.info)?;
            checkpoint.info.check_outer(None)?;
            run.restore(&checkpoint.state).map_err(|error| Error::input(format!("the checkpoint: {error}")))?;
        }
        let (outcome, checkpoints) = match checkpointer {
            Some(mut checkpointer) => {
                let (outcome, report) = checkpointer.drive(&mut run, &self.checkpoint_info())?;
                (outcome, Some(report))
            }
            None => (finish(&mut run, abort.as_deref())?, None),
        };
        let (model, summary) = self.conclude(&outcome, true)?;
        Ok((model, Summary { checkpoints, ..summary }))
    }

    /// The model and the figures of a run that is over; losses cost a prediction of every example.
    pub(crate) fn conclude(&self, outcome: &Outcome, losses: bool) -> Result<(Model, Summary), Error> {
        let losses = if losses { self.losses(&outcome.w)? } else { Losses::default() };
        let summary = self.summary(&self.spec.solver.name, outcome, losses);
        let info = ModelInfo::new(
            &*self.problem,
            self.spec.provenance(),
            self.lambda(),
            outcome.primal,
            outcome.dual,
            outcome.certified,
        );
        Ok((Model { w: self.problem.to_file_layout(&outcome.w), info }, summary))
    }

    /// The run as far as a checkpoint goes, for those who want to look at it.
    pub fn restored(&self, checkpoint: &Checkpoint) -> Result<Run<BoxedOracle>, Error> {
        self.check_data(&checkpoint.info)?;
        checkpoint.info.check_outer(None)?;
        let mut run = self.prepare(self.lambda(), None, Hooks::default())?;
        run.restore(&checkpoint.state).map_err(|error| Error::input(format!("the checkpoint: {error}")))?;
        Ok(run)
    }

    /// Refuses a checkpoint of a run on other data. For those who want to know before they touch an output.
    pub fn check_data(&self, info: &CheckpointInfo) -> Result<(), Error> {
        let fingerprint = |problem: &Arc<dyn Problem>| problem.fingerprint().to_string();
        let pairs = [
            ("training", &self.spec.data.path, Some(fingerprint(&self.problem)), Some(info.fingerprint.clone())),
            ("test", &self.spec.data.test, self.test.as_ref().map(fingerprint), info.test_fingerprint.clone()),
        ];
        for (kind, path, found, expected) in pairs {
            if found != expected {
                let path = path.as_ref().map_or(String::new(), |path| format!("{}: ", path.display()));
                let short = |print: Option<String>| print.map_or("none".into(), |print| format!("{:.12}...", print));
                let (found, expected) = (short(found), short(expected));
                return Err(Error::input(format!(
                    "{path}this is not the {kind} data of the checkpoint (fingerprint {found}, expected {expected})"
                )));
            }
        }
        Ok(())
    }

    pub(crate) fn checkpoint_info(&self) -> CheckpointInfo {
        let mut spec = self.spec.clone();
        for path in [&mut spec.data.path, &mut spec.data.test, &mut spec.regularizer.prior].into_iter().flatten() {
            *path = std::path::absolute(&*path).unwrap_or_else(|_| path.clone());
        }
        let test = self.test.as_ref().map(|test| test.fingerprint().to_string());
        let (n, d) = (self.problem.blocks(), self.problem.dim());
        CheckpointInfo::new(spec.to_tree(), self.problem.fingerprint().into(), test, n, d)
    }

    /// Mean task losses at `w` on the training data and, where there are any, on the test data.
    pub(crate) fn losses(&self, w: &[f64]) -> Result<Losses, Error> {
        Ok((self.loss_meter())(w)?)
    }

    /// The test data, if any.
    pub fn test(&self) -> Option<&dyn Problem> {
        self.test.as_deref()
    }

    /// Seconds since the session began to read its data.
    pub(crate) fn seconds(&self) -> f64 {
        self.stopwatch.seconds()
    }
}

fn open_task(spec: &RunSpec, data: Dataset, vocabulary: Option<&Vocabulary>) -> Result<Arc<dyn Problem>, Error> {
    let parameters = Value::Object(spec.task.params.clone());
    Ok((spec.task_entry()?.open)(parameters, data, vocabulary)?.into())
}
