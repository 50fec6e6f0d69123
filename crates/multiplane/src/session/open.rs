//! A run ready to begin: the data of a [`RunSpec`] read, its task opened.

use std::sync::Arc;

use multiplane_core::clock::{ClockKind, Stopwatch};
use multiplane_core::executor::PoolStats;
use multiplane_core::observe::RunCost;
use multiplane_core::oracle::AnswerAudit;
use multiplane_core::regularizer::{Constraint, Regularizer};
use multiplane_core::run::GapTarget;
use multiplane_core::state::encode;
use multiplane_infer::file::quote;
use multiplane_solvers::{BuildError, refusal};
use multiplane_tasks::data::Classified;
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::problem::{AnswerSample, Problem, Vocabulary};

use super::checkpointer::CheckpointOrigin;
use super::data::{is_given, read_task_data};
use super::held_out::read_divided;
use super::members::ExampleKeys;
use super::task::{list_class_weights, open_task};
use super::{prior, requirements};
use crate::error::Error;
use crate::file::{Checkpoint, CheckpointInfo, LambdaChoice, Provenance, check_fits};
use crate::spec::{Lambda, RunSpec, StopSpec};

/// A run ready to begin: specification checked, data read, task opened.
///
/// [`open`](Self::open) reads the data that the specification names, [`on`](Self::on) takes a data set and
/// [`on_problem`](Self::on_problem) a task of one's own; `open_choosing` and `on_choosing` choose lambda first.
/// [`run`](Self::run) trains, [`path`](Self::path) and [`grid`](Self::grid) follow lambda.
pub struct Session {
    pub(crate) spec: RunSpec,
    pub(crate) problem: Arc<dyn Problem>,
    /// The audit of answers, if the task is none of the registry and nobody else audits them.
    pub(crate) audit: Option<AnswerAudit>,
    pub(crate) test: Option<Arc<dyn Problem>>,
    pub(crate) regularizer: Regularizer,
    /// The failures of the workers of its runs.
    pub(crate) pool_stats: Arc<PoolStats>,
    /// How lambda was chosen, where it was.
    pub(crate) choice: Option<LambdaChoice>,
    /// By what its examples are known in other data.
    pub(super) keys: ExampleKeys,
    stopwatch: Stopwatch,
    warnings: Vec<String>,
}

impl Session {
    /// Reads the data that `spec` names and opens the task on it.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where the data cannot be read or does not fit the specification.
    pub fn open(spec: RunSpec) -> Result<Session, Error> {
        let (data, test, stopwatch) = read_run_data(&spec)?;
        Ok(Session::on(spec, data, test)?.since(stopwatch))
    }

    /// Opens the task on data that was read already.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where the data does not fit the specification.
    pub fn on(spec: RunSpec, data: Dataset, test: Option<Dataset>) -> Result<Session, Error> {
        let stopwatch = Stopwatch::start();
        let keys = ExampleKeys::of(&data);
        Ok(Session { keys, ..Session::on_known(spec, data, test, None)? }.since(stopwatch))
    }

    /// As [`on`](Session::on), with the labels and features of other data, where a vocabulary of these is given. The
    /// examples are not known in other data.
    pub(crate) fn on_known(
        mut spec: RunSpec,
        data: Dataset,
        test: Option<Dataset>,
        vocabulary: Option<&Vocabulary>,
    ) -> Result<Session, Error> {
        let stopwatch = Stopwatch::start();
        list_class_weights(&mut spec, &data, vocabulary)?;
        let problem = open_task(&spec, data, vocabulary, spec.data.path.as_deref())?;
        let open = |test| open_task(&spec, test, Some(problem.vocabulary()), spec.data.test.as_deref());
        let test = test.map(open).transpose()?;
        Session::over(spec, problem, test, stopwatch)
    }

    /// Returns a session on the same data with other truths and stops.
    pub(super) fn on_truths(&self, problem: Arc<dyn Problem>, stop: StopSpec) -> Session {
        Session {
            spec: RunSpec { stop, ..self.spec.clone() },
            problem,
            audit: None,
            test: self.test.clone(),
            regularizer: self.regularizer.clone(),
            pool_stats: self.pool_stats.clone(),
            choice: self.choice.clone(),
            keys: self.keys.clone(),
            stopwatch: self.stopwatch,
            warnings: Vec::new(),
        }
    }

    /// Remembers how its lambda was chosen.
    pub(crate) fn with_choice(mut self, choice: Option<LambdaChoice>) -> Session {
        if choice.as_ref().is_some_and(|choice| choice.is_plateau) {
            self.warnings.push("lambda = cv: nothing did better than to predict one label for everything".into());
        }
        if let Some(LambdaChoice { lambda, first_fold, .. }) = choice.as_ref().filter(|choice| choice.cut_short) {
            let place = match (first_fold.first(), first_fold.last()) {
                (_, Some(last)) if last.lambda == *lambda => ", and the smallest did best",
                (Some(first), _) if first.lambda == *lambda => ", and the largest did best",
                _ => "",
            };
            let tried = first_fold.len();
            self.warnings
                .push(format!("lambda = cv: the limit cut the choice short: {tried} values were tried{place}"));
        }
        Session { choice, ..self }
    }

    /// Counts the time since before.
    pub(crate) fn since(self, stopwatch: Stopwatch) -> Session {
        Session { stopwatch, ..self }
    }

    /// Prepares a run on a task that is not in the registry, such as one that lives in another language; the
    /// specification is [`RunSpec::for_task`]'s. Answers that are declared exact, or bounded, are held against each
    /// other and against the predictions at the end; a contradiction is an error of the run.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where the specification does not fit the task.
    pub fn on_problem(
        spec: RunSpec,
        problem: Arc<dyn Problem>,
        test: Option<Arc<dyn Problem>>,
    ) -> Result<Session, Error> {
        let session = Session::over(spec, problem, test, Stopwatch::start())?;
        let audit = (!session.problem.facts().is_audited).then(|| AnswerAudit::new(session.problem.blocks()));
        Ok(Session { audit, ..session })
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
        warnings.extend(weightless(&*problem));
        let unlabelled = test.iter().find_map(|test| unlabelled_warning(&**test));
        warnings.extend(unlabelled.map(|warning| format!("test data: {warning}")));
        let lambda = lambda_of(&spec, &*problem)?;
        if !(lambda.is_finite() && lambda > 0.0 && (1.0 / lambda).is_finite()) {
            return Err(Error::input(format!(
                "lambda = {lambda:e} for {} examples: must be greater than 0, and 1/lambda finite",
                problem.blocks()
            )));
        }
        if !spec.solver.entry.minimises && problem.facts().is_weighted {
            let name = spec.solver.entry.name;
            return Err(Error::input(format!(
                "solver `{name}` draws all examples alike: it takes no weights of examples"
            )));
        }
        let solver = spec.solver.entry;
        let (name, other_stop) = (solver.name, spec.stop.has_budget());
        if !solver.has_dual && spec.stop.gap.is_some() && other_stop {
            warnings.push(format!("solver `{name}` has no dual value: it cannot stop at a gap or certify one"));
        }
        if !solver.has_dual && !other_stop {
            return Err(Error::input(format!(
                "solver `{name}` has no dual value and so no gap to stop at: give stop.passes, stop.calls or stop.seconds"
            )));
        }
        warnings.extend(spec.lambda.unused_by(solver));
        warnings.extend(spec.solver.config.notes(problem.blocks(), spec.stop.passes));
        requirements::check(&spec.solver, &*problem)?;
        requirements::check_memory(&spec.solver, &*problem)?;
        check_fits(&Provenance::new(&*problem, spec.to_tree()))?;
        let regularizer = prior::regularizer(&mut spec, &*problem, lambda, &mut warnings)?;
        if regularizer.metric().has_kernel() && !spec.solver.config.takes_kernels() {
            return Err(Error::input(refusal(&BuildError::kernel(spec.solver.entry))));
        }
        let pool_stats = problem.oracles().pool_stats();
        Ok(Session {
            spec,
            problem,
            audit: None,
            test,
            regularizer,
            pool_stats,
            choice: None,
            keys: ExampleKeys::default(),
            stopwatch,
            warnings,
        })
    }

    /// Trains toward prior weights instead of 0 (`lambda/2 |w - prior|^2`), with constraints on single weights beside
    /// those that the task declares.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] with what does not fit.
    pub fn with_prior(mut self, prior: Vec<f64>, constraints: Vec<Constraint>) -> Result<Session, Error> {
        if self.regularizer.metric().has_kernel() {
            return Err(Error::input(
                "prior and frozen weights: not with a kernel, whose weights are coefficients of rows",
            ));
        }
        let regularizer = Regularizer::from(self.lambda()).with_prior(prior).with_constraints(constraints);
        self.regularizer = prior::with_task(regularizer, &*self.problem)?;
        Ok(self)
    }

    /// Points of training in the layout of files, one after the other, as a file holds them, and what it says of them.
    pub(crate) fn rows_of(&self, points: Vec<f64>) -> (Vec<f64>, Provenance) {
        let (w, vocabulary) = self.problem.compact(points);
        (w, Provenance { vocabulary, ..self.provenance() })
    }

    /// Returns true if rows of data are rows of a kernel matrix (`task.kernel=precomputed`): they cannot be divided.
    pub fn has_given_kernel(&self) -> bool {
        is_given(&self.spec)
    }

    /// Returns the provenance of this run's weights for files.
    pub(crate) fn provenance(&self) -> Provenance {
        Provenance::new(&*self.problem, self.spec.provenance())
    }

    /// The task on the training data.
    pub fn problem(&self) -> &dyn Problem {
        &*self.problem
    }

    /// Returns the warnings for a user before the run.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Strength of the regulariser.
    pub fn lambda(&self) -> f64 {
        self.regularizer.lambda()
    }

    /// Returns the gap to stop at; `None` where none is given, or the solver has no dual.
    pub fn target(&self) -> Option<GapTarget> {
        self.spec.stop.gap.filter(|_| self.spec.solver.entry.has_dual)
    }

    /// The specification.
    pub fn spec(&self) -> &RunSpec {
        &self.spec
    }

    /// Goes on from a checkpoint: what a choice of lambda took of a limit is not there for the run. To be called before
    /// an output is touched.
    ///
    /// # Errors
    ///
    /// Those of [`check_resumes`](Session::check_resumes).
    pub fn going_on_from(mut self, checkpoint: &Checkpoint) -> Result<Session, Error> {
        self.check_resumes(checkpoint)?;
        let choice = checkpoint.info.choice.clone();
        choice.iter().for_each(|choice| choice.limit(&mut self.spec.stop));
        Ok(self.with_choice(choice))
    }

    /// Refuses a checkpoint of another run: of another specification, on other data, or with an oracle that answers
    /// otherwise. To be called before an output is touched.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] with what differs.
    pub fn check_resumes(&self, checkpoint: &Checkpoint) -> Result<(), Error> {
        self.check_data(&checkpoint.info)?;
        self.spec.check_continues(&self.spec.of_same_task(&checkpoint.info.spec)?)?;
        let sample =
            if checkpoint.sample.is_empty() { None } else { Some(AnswerSample::from_bytes(&checkpoint.sample)) };
        let check = |sample: AnswerSample| self.problem.oracles().check_sample(&sample);
        sample.transpose().and_then(|sample| sample.map_or(Ok(()), check)).map_err(|reason| {
            Error::input(format!("this is not the oracle that the checkpoint's run was trained with: {reason}"))
        })
    }

    fn check_data(&self, info: &CheckpointInfo) -> Result<(), Error> {
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

    /// Returns the facts that checkpoints of this run hold.
    pub(crate) fn checkpoint_info(&self) -> CheckpointInfo {
        let mut spec = self.spec.clone();
        for path in [&mut spec.data.path, &mut spec.data.test, &mut spec.data.weights, &mut spec.regularizer.prior]
            .into_iter()
            .flatten()
        {
            *path = std::path::absolute(&*path).unwrap_or_else(|_| path.clone());
        }
        let test = self.test.as_ref().map(|test| test.fingerprint().to_string());
        let (n, d) = (self.problem.blocks(), self.problem.dim());
        let choice = self.choice.clone();
        let taken = choice.as_ref().map_or(0, |choice| choice.calls);
        spec.stop.calls = spec.stop.calls.map(|calls| calls.saturating_add(taken)); // as it was asked for
        let info = CheckpointInfo::new(spec.to_tree(), self.problem.fingerprint().into(), test, n, d);
        CheckpointInfo { choice, ..info }
    }

    /// Returns the origin of checkpoints of this run.
    pub(crate) fn origin(&self) -> Result<CheckpointOrigin, Error> {
        let mut members = Vec::new();
        if self.knows_examples() {
            encode(&self.members()?, &mut members).map_err(|error| Error::failed(error.to_string()))?;
        }
        Ok(CheckpointOrigin { info: self.checkpoint_info(), problem: self.problem.clone(), members })
    }

    /// The test data, if any.
    pub fn test(&self) -> Option<&dyn Problem> {
        self.test.as_deref()
    }

    /// Returns the seconds since the session began to read its data; under the work clock those of its run.
    pub(crate) fn wall_seconds(&self, cost: &RunCost) -> f64 {
        match self.spec.clock {
            ClockKind::Wall => self.stopwatch.seconds(),
            ClockKind::Work => cost.all_seconds(),
        }
    }
}

/// Returns what to say of the examples that evaluation leaves out, as nothing is known of their truth.
pub fn unlabelled_warning(problem: &dyn Problem) -> Option<String> {
    let (unlabelled, all) = (problem.predictor().unlabelled(), problem.blocks());
    match unlabelled {
        0 => None,
        _ if unlabelled == all => {
            Some(format!("none of the {all} examples has a known label: nothing can be measured"))
        }
        _ => Some(format!("{unlabelled} of {all} examples have no known label: they are left out of all means")),
    }
}

/// The training and test data that a specification names, and the time since the reading began.
///
/// # Errors
///
/// [`Error::Input`] where the data cannot be read, or not be divided as the specification says.
pub fn read_run_data(spec: &RunSpec) -> Result<(Dataset, Option<Dataset>, Stopwatch), Error> {
    let stopwatch = Stopwatch::start();
    let entry = spec.task_entry()?;
    let hint = |error| with_serial_hint(spec, error);
    let mut rules = spec.data.rules();
    let (data, held_out) = read_divided(spec, &rules).map_err(hint)?;
    rules.weights = None; // test data have none
    if let Some(rows) = data.get::<Classified>() {
        rules.names = rows.features.clone(); // columns go by their names,
        rules.features = Some(rows.rows.columns()); // or tables are as wide
    }
    let read = |path| read_task_data(entry, Some(path), spec.data.format, None, &rules).map_err(hint);
    let test = spec.data.test.as_deref().map(read).transpose()?;
    Ok((data, test.or(held_out), stopwatch))
}

/// Warns of a label that weights of examples leave without any: it may be predicted, but no example speaks for it.
fn weightless(problem: &dyn Problem) -> Option<String> {
    let sums = problem.predictor().label_weights().filter(|_| problem.facts().is_weighted)?;
    let label = problem.vocabulary().labels.get(sums.iter().position(|&sum| sum == 0.0)?)?;
    Some(format!("no example of weight above 0 has the label {}: it stays a label, but none teaches it", quote(label)))
}

/// Lambda as a number.
fn lambda_of(spec: &RunSpec, problem: &dyn Problem) -> Result<f64, Error> {
    let n = problem.blocks();
    match (spec.lambda.value(problem.facts().total_weight), spec.lambda) {
        (Some(lambda), _) => Ok(lambda),
        (None, Lambda::Scale) if problem.facts().is_weighted => {
            Err(Error::input("lambda = scale: not with weights of examples; expected a number, 1/n or cv"))
        }
        (None, Lambda::Scale) => match problem.layout().feature_sizes() {
            Some(sizes) => Ok(sizes.mean_square / n as f64),
            None => Err(Error::input(format!(
                "lambda = scale: features of task `{}` have no size here; expected a number, 1/n or cv",
                problem.task()
            ))),
        },
        (None, _) => Err(Error::input(
            "lambda = cv: not here: examples of this task cannot be divided, or nothing is trained at a single lambda; give a number",
        )),
    }
}

/// Explains the index 0 of files that LIBSVM reads as precomputed kernels.
fn with_serial_hint(spec: &RunSpec, error: Error) -> Error {
    let is_given = is_given(spec);
    match error {
        Error::Input(reason) if is_given && reason.ends_with("found index 0, expected indices from 1") => {
            Error::Input(format!("{reason}: leave out the column 0:serial that LIBSVM has before precomputed values"))
        }
        other => other,
    }
}
