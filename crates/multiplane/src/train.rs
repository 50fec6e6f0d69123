//! From a [`RunSpec`] to a certified [`Model`]: opens the data, drives the solver, sums up.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use multiplane_core::clock::{ClockKind, Stopwatch};
use multiplane_core::executor::{Executor, Threads};
use multiplane_core::observe::Observer;
use multiplane_core::oracle::{BoxedOracle, Delayed};
use multiplane_core::regularizer::{Regularizer, Sign};
use multiplane_core::run::{GapTarget, LossMeter, Losses, Outcome, Run, Stop, StopReason};
use multiplane_core::solvers::BoxedSolver;
use multiplane_tasks::data::{Format, Opaque};
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::problem::{Problem, Vocabulary};
use multiplane_tasks::tasks::TaskEntry;
use serde::Serialize;
use serde_json::Value;

use crate::checkpoint::{Checkpoint, CheckpointInfo};
use crate::checkpointer::{CheckpointReport, Checkpointer};
use crate::error::Error;
use crate::model::{Model, ModelInfo};
use crate::spec::RunSpec;

/// The final report of a run; the names are those of `train --json`.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Name of the task.
    pub task: String,
    /// Name of the solver.
    pub solver: String,
    /// Training examples.
    pub n: usize,
    /// Weights.
    pub d: usize,
    /// Strength of the regulariser.
    pub lambda: f64,
    /// P at the weights of the model.
    pub primal: f64,
    /// The best dual value of any feasible point.
    pub dual: Option<f64>,
    /// `primal - dual`.
    pub gap: Option<f64>,
    /// Whether the gap is proven.
    pub certified: bool,
    /// Training calls of the oracle.
    pub oracle_calls: u64,
    /// Calls that evaluated bounds.
    pub evaluation_calls: u64,
    /// Steps on cached planes.
    pub cached_steps: u64,
    /// Oracle calls / n.
    pub passes: f64,
    /// Outer iterations.
    pub iterations: u64,
    /// Time on the training clock.
    pub train_seconds: f64,
    /// Of these, inside the oracle.
    pub oracle_seconds: f64,
    /// Time from reading the data to the end; under the work clock, work.
    pub wall_seconds: f64,
    /// Why the run ended.
    pub stop_reason: StopReason,
    /// Mean task loss on the training set.
    pub train_loss: Option<f64>,
    /// Mean task loss on the test set.
    pub test_loss: Option<f64>,
    /// Seed of all chance.
    pub seed: u64,
    /// Threads that training passes at one w, evaluation and prediction were divided among.
    pub threads: usize,
    /// The clock.
    pub clock: ClockKind,
    /// Planes kept, mean per example.
    pub planes: Option<f64>,
    /// Where the model was saved.
    pub model: Option<String>,
    /// Version of the program.
    pub version: &'static str,
    /// What the checkpoints came to, where there were to be any.
    #[serde(skip)]
    pub checkpoints: Option<CheckpointReport>,
}

/// What a caller adds to a run; nothing here changes its result.
#[derive(Default)]
pub struct Hooks {
    /// Who watches.
    pub observers: Vec<Box<dyn Observer>>,
    /// Set it to stop the run.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// Whether task losses are measured at every evaluation.
    pub losses: bool,
    /// Writes checkpoints.
    pub checkpointer: Option<Checkpointer>,
    /// Where to go on from; it must be this run's.
    pub resume: Option<Checkpoint>,
}

/// Those of training and of evaluation.
type Executors = (Box<dyn Executor>, Box<dyn Executor>);

/// A run ready to begin: specification checked, data read, task opened.
pub struct Session {
    spec: RunSpec,
    problem: Arc<dyn Problem>,
    test: Option<Arc<dyn Problem>>,
    regularizer: Regularizer,
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
        spec: RunSpec,
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
        let regularizer = Regularizer::from(lambda).with_nonnegative(&problem.nonnegative(), problem.dim());
        Ok(Session { spec, problem, test, regularizer, target, stopwatch, warnings })
    }

    /// Trains toward prior weights instead of 0 (`lambda/2 |w - prior|^2`), with constraints on single weights beside
    /// those that the task declares. The error says what does not fit.
    pub fn with_prior(mut self, prior: Vec<f64>, signs: Vec<Sign>) -> Result<Session, Error> {
        let (lambda, dim) = (self.lambda(), self.problem.dim());
        let regularizer = Regularizer::from(lambda).with_prior(prior).with_signs(signs);
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
        let has_dual = self.spec.solver_entry()?.has_dual;
        let mut run = self.prepare(self.lambda(), self.target.filter(|_| has_dual), hooks)?;
        if let Some(checkpoint) = resume {
            self.check_data(&checkpoint.info)?;
            run.restore(&checkpoint.state).map_err(|error| Error::input(format!("the checkpoint: {error}")))?;
        }
        let (outcome, checkpoints) = match checkpointer {
            Some(mut checkpointer) => {
                let (outcome, report) = checkpointer.drive(&mut run, &self.checkpoint_info())?;
                (outcome, Some(report))
            }
            None => (run.to_end()?, None),
        };
        let summary = Summary { checkpoints, ..self.summary(&self.spec.solver.name, &outcome)? };
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

    fn checkpoint_info(&self) -> CheckpointInfo {
        let mut spec = self.spec.clone();
        for path in [&mut spec.data.path, &mut spec.data.test].into_iter().flatten() {
            *path = std::path::absolute(&*path).unwrap_or_else(|_| path.clone());
        }
        let test = self.test.as_ref().map(|test| test.fingerprint().to_string());
        let (n, d) = (self.problem.blocks(), self.problem.dim());
        CheckpointInfo::new(spec.to_tree(), self.problem.fingerprint().into(), test, n, d)
    }

    /// A run at `lambda` that stops at `gap` and at the other stops of the specification.
    pub(crate) fn prepare(&self, lambda: f64, gap: Option<GapTarget>, hooks: Hooks) -> Result<Run<BoxedOracle>, Error> {
        let stop = Stop {
            gap,
            passes: self.spec.stop.passes,
            calls: self.spec.stop.calls,
            seconds: self.spec.stop.seconds,
            interrupt: hooks.interrupt,
        };
        let judge = self.problem.oracle()?;
        let regularizer = self.regularizer.with_lambda(lambda);
        let mut run = Run::new(self.training_oracle(0)?, judge, self.solver(lambda)?, regularizer, stop)
            .with_seed(self.spec.seed)
            .with_clock(self.spec.clock);
        if let Some((training, judging)) = self.executors()? {
            run = run.with_executors(training, judging);
        }
        for observer in hooks.observers {
            run = run.with_observer(observer);
        }
        if hooks.losses {
            run = run.with_losses(self.loss_meter());
        }
        Ok(run)
    }

    /// The solver of the specification at `lambda`, not begun.
    pub(crate) fn solver(&self, lambda: f64) -> Result<BoxedSolver, Error> {
        let parameters = Value::Object(self.spec.solver.params.clone());
        let (blocks, dim) = (self.problem.blocks(), self.problem.dim());
        let regularizer = self.regularizer.with_lambda(lambda);
        (self.spec.solver_entry()?.build)(parameters, blocks, dim, regularizer).map_err(Error::Input)
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

    fn training_oracle(&self, slot: usize) -> Result<BoxedOracle, Error> {
        let oracle = self.problem.oracle_of(slot)?;
        let seconds = self.spec.oracle.delay_us * 1e-6;
        if seconds == 0.0 {
            return Ok(oracle);
        }
        Ok(Box::new(Delayed::new(oracle, seconds, self.spec.clock == ClockKind::Wall)))
    }

    /// An oracle for each thread.
    fn crew(&self, oracle: impl Fn(usize) -> Result<BoxedOracle, Error>) -> Result<Threads<BoxedOracle>, Error> {
        let threads = self.spec.threads.min(self.problem.blocks());
        Ok(Threads::new((0..threads).map(oracle).collect::<Result<_, _>>()?))
    }

    /// Who answers many questions at one w in training and in evaluation; `None` where one oracle does.
    fn executors(&self) -> Result<Option<Executors>, Error> {
        let threads = self.spec.threads;
        let judging = self.problem.executor(threads)?;
        if judging.is_none() && threads < 2 {
            return Ok(None);
        }
        let judging = match judging {
            Some(judging) => judging,
            None => Box::new(self.crew(|slot| Ok(self.problem.oracle_of(slot)?))?),
        };
        // A delay is one of single calls.
        let own = if self.spec.oracle.delay_us == 0.0 { self.problem.executor(threads)? } else { None };
        let training = match own {
            Some(training) => training,
            None => Box::new(self.crew(|slot| self.training_oracle(slot))?),
        };
        Ok(Some((training, judging)))
    }

    fn loss_meter(&self) -> LossMeter {
        let (problem, test, threads) = (self.problem.clone(), self.test.clone(), self.spec.threads);
        Box::new(move |w| {
            let train = problem.evaluate(w, threads)?;
            let test = test.as_ref().map(|test| test.evaluate(w, threads)).transpose()?;
            Ok(Losses { train: Some(train.loss), test: test.map(|test| test.loss) })
        })
    }

    fn summary(&self, solver: &str, outcome: &Outcome) -> Result<Summary, Error> {
        let threads = self.spec.threads;
        let train = self.problem.evaluate(&outcome.w, threads)?;
        let test = self.test.as_ref().map(|test| test.evaluate(&outcome.w, threads)).transpose()?;
        let wall_seconds = match self.spec.clock {
            ClockKind::Wall => self.stopwatch.seconds(),
            ClockKind::Work => outcome.train_seconds,
        };
        Ok(Summary {
            task: self.problem.task().into(),
            solver: solver.into(),
            n: self.problem.blocks(),
            d: self.problem.dim(),
            lambda: self.lambda(),
            primal: outcome.primal,
            dual: outcome.dual,
            gap: outcome.gap,
            certified: outcome.certified,
            oracle_calls: outcome.counts.oracle_calls,
            evaluation_calls: outcome.evaluation_calls,
            cached_steps: outcome.counts.cached_steps,
            passes: outcome.counts.oracle_calls as f64 / self.problem.blocks() as f64,
            iterations: outcome.progress.iterations,
            train_seconds: outcome.train_seconds,
            oracle_seconds: outcome.counts.oracle_seconds,
            wall_seconds,
            stop_reason: outcome.stop_reason,
            train_loss: Some(train.loss),
            test_loss: test.map(|test| test.loss),
            seed: self.spec.seed,
            threads,
            clock: self.spec.clock,
            planes: outcome.progress.planes,
            model: None,
            version: env!("CARGO_PKG_VERSION"),
            checkpoints: None,
        })
    }
}

fn open_task(spec: &RunSpec, data: Dataset, vocabulary: Option<&Vocabulary>) -> Result<Arc<dyn Problem>, Error> {
    let parameters = Value::Object(spec.task.params.clone());
    Ok((spec.task_entry()?.open)(parameters, data, vocabulary)?.into())
}
