//! `RunSpec`: everything that defines a training run, as one tree. A file, dotted overrides and flags all end here.

use std::path::PathBuf;

use multiplane_core::clock::ClockKind;
use multiplane_core::divide::MAX_THREADS;
use multiplane_core::parameter::{self, ParameterError, require};
use multiplane_core::run::{Evaluate, StopReason};
use multiplane_tasks::data::conllu;
use multiplane_tasks::entry::TaskEntry;
use multiplane_tasks::registry as tasks;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::choice::{Choice, DEFAULT_SOLVER, SolverChoice, find_task};
use super::data::DataSpec;
use super::lambda::Lambda;
use super::params::{Param, ParamKind, overlay, params_of};
use super::stop::StopSpec;
use super::text;
use crate::error::Error;

/// A training run.
#[derive(Clone, Debug)]
pub struct RunSpec {
    /// The source of the examples.
    pub data: DataSpec,
    /// The task.
    pub task: Choice,
    /// Wrappers around its oracle.
    pub oracle: OracleSpec,
    /// The solver.
    pub solver: SolverChoice,
    /// Strength of the regulariser.
    pub lambda: Lambda,
    /// Prior weights and frozen weights.
    pub regularizer: RegularizerSpec,
    /// When to stop.
    pub stop: StopSpec,
    /// Seed of all chance.
    pub seed: u64,
    /// Threads for passes at one w, evaluation and prediction; 0: all cores where that pays. No bit of the result
    /// depends on it.
    pub threads: usize,
    /// Which clock measures training.
    pub clock: ClockKind,
    /// When bounds are evaluated.
    pub evaluate: Evaluate,
}

/// The parameters of a run but for those of its task and its solver, which registries know.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct RunFields {
    /// Where the examples come from.
    data: DataSpec,
    /// Wrappers around the oracle.
    oracle: OracleSpec,
    /// Strength of the regulariser: a number, `1/n`, `c:X` for C = X (lambda = 1/(C n)), `cv`, `cv:K` or `cv:folds`
    /// (chosen by cross-validation), or `scale` (the mean of x.x over n).
    lambda: Lambda,
    /// Prior weights and frozen weights.
    regularizer: RegularizerSpec,
    /// When to stop.
    stop: StopSpec,
    /// Seed of all chance.
    seed: u64,
    /// Threads for passes at one w, evaluation and prediction; 0: all cores where calls are slow enough for that to
    /// pay. No bit of the result depends on it.
    threads: usize,
    /// Which clock measures training.
    clock: ClockKind,
    /// When bounds are evaluated: `auto` or `pass`.
    evaluate: Evaluate,
    /// A task, kept for its registry.
    task: Value,
    /// A solver, kept for its registry.
    solver: Value,
}

impl RunFields {
    fn read(tree: &Map<String, Value>) -> Result<RunFields, Error> {
        let mut base = Map::new();
        overlay(&mut base, &Value::Object(tree.clone()), &params_of::<RunFields>(), "").map_err(Error::Input)?;
        let fields: RunFields = parameter::read(&Value::Object(base))?;
        fields.oracle.validate().map_err(|error| error.under("oracle"))?;
        fields.stop.validate().map_err(|error| error.under("stop"))?;
        fields.data.validate()?;
        check_threads(fields.threads)?;
        Ok(fields)
    }
}

impl RunSpec {
    /// Reads a tree: `task` is required, everything else has a default.
    ///
    /// # Errors
    ///
    /// An unknown name, or a parameter with its value and the rule that it breaks.
    pub fn from_tree(tree: &Map<String, Value>) -> Result<RunSpec, Error> {
        match tree.get("task") {
            Some(task) => RunSpec::for_task(tree, Choice::task(task)?),
            None => {
                let known = tasks::TASKS.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ");
                Err(Error::input(format!("no task given: expected one of {known}")))
            }
        }
    }

    /// As [`from_tree`](RunSpec::from_tree), for a task that need not be in the registry.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn for_task(tree: &Map<String, Value>, task: Choice) -> Result<RunSpec, Error> {
        let RunFields { data, oracle, lambda, regularizer, stop, seed, threads, clock, evaluate, solver, .. } =
            RunFields::read(tree).map_err(|error| misplaced(tree, &task).unwrap_or(error))?;
        let solver = SolverChoice::parse(&solver)?;
        let stop = stop.or_usual(solver.entry);
        Ok(RunSpec { data, task, oracle, solver, lambda, regularizer, stop, seed, threads, clock, evaluate })
    }

    /// Reads the tree of another run of this task, which need not be in the registry.
    ///
    /// # Errors
    ///
    /// As [`from_tree`](RunSpec::from_tree).
    pub fn of_same_task(&self, tree: &Value) -> Result<RunSpec, Error> {
        let tree = tree.as_object().cloned().unwrap_or_default();
        if find_task(&self.task.name).is_ok() {
            return RunSpec::from_tree(&tree);
        }
        let mut params = tree.get("task").and_then(Value::as_object).cloned().unwrap_or_default();
        let name = params.remove("name").and_then(|name| Some(name.as_str()?.to_owned())).unwrap_or_default();
        RunSpec::for_task(&tree, Choice { name, params })
    }

    /// Returns true if the solver and the stops are those of a run that names none.
    pub(crate) fn is_usual(&self) -> bool {
        self.solver.entry.name == DEFAULT_SOLVER && self.stop.is_usual(self.solver.entry)
    }

    /// Looks up the registry's line of the task.
    ///
    /// # Errors
    ///
    /// For a task that is not in the registry.
    pub fn task_entry(&self) -> Result<&'static TaskEntry, Error> {
        find_task(&self.task.name)
    }

    /// Returns the stops that stay in force beside new ones when a run that ended for `reason` (`None`: it was cut
    /// short) goes on: not the one that ended it, and none but patience where they were the defaults.
    pub fn stops_beside_new(&self, reason: Option<StopReason>) -> StopSpec {
        let kept = match self.stop.is_usual(self.solver.entry) {
            true => StopSpec { patience: self.stop.patience, ..StopSpec::default() },
            false => self.stop.clone(),
        };
        kept.without(reason)
    }

    /// Writes the whole run as a tree that [`from_tree`](RunSpec::from_tree) reads back, with the paths as they are.
    pub fn to_tree(&self) -> Value {
        let mut tree = self.provenance();
        tree["task"] = self.task.table();
        tree["data"] = json!(self.data);
        tree["threads"] = json!(self.threads);
        if self.regularizer != RegularizerSpec::default() {
            tree["regularizer"] = json!(self.regularizer);
        }
        tree
    }

    /// Writes what defines the run beside its data, of which the model file has a fingerprint: no path, fold, output or
    /// thread count, nor how this machine runs an external program. Goes into the model file.
    pub fn provenance(&self) -> Value {
        let mut task = self.task.clone();
        task.params.retain(|key, _| !tasks::local_parameters(&task.name).contains(&key.as_str()));
        let mut tree = json!({
            "task": task.table(),
            "oracle": self.oracle,
            "solver": self.solver.table(),
            "lambda": self.lambda,
            "stop": self.stop,
            "seed": self.seed,
            "clock": self.clock,
            "evaluate": self.evaluate,
        });
        if self.regularizer != RegularizerSpec::default() {
            tree["regularizer"] = self.regularizer.provenance();
        }
        // Where the model is used, its columns are found by that.
        if let Some(ignored) = self.data.ignore.as_ref().filter(|ignored| !ignored.is_empty()) {
            tree["data"]["ignore"] = json!(ignored);
        }
        let reads_treebanks = find_task(&self.task.name).is_ok_and(|task| task.formats.contains(&&conllu::FORMAT));
        if let Some(label) = self.data.label_column.as_ref().filter(|_| reads_treebanks) {
            tree["data"]["label_column"] = json!(label);
        }
        if let Some(underscore) = self.data.underscore {
            tree["data"]["underscore"] = json!(underscore);
        }
        tree
    }
}

/// Says of a name at the top that is none there where it belongs: among the task's parameters, or in a table.
fn misplaced(tree: &Map<String, Value>, task: &Choice) -> Option<Error> {
    let fields = params_of::<RunFields>();
    let key = tree.keys().find(|key| fields.iter().all(|field| field.name != **key))?;
    let is_in = |params: &[Param]| params.iter().any(|param| param.name == *key);
    let table = fields.iter().find(|field| matches!(&field.kind, ParamKind::Table(params) if is_in(params)));
    let owner = if task.params.contains_key(key) { "task" } else { &table?.name };
    Some(Error::input(format!("unknown parameter `{key}`: did you mean `{owner}.{key}`?")))
}

/// Returns the parameters of every run: all but those of its task, its solver and wrappers of its oracle.
pub fn run_parameters() -> Vec<Param> {
    let elsewhere = |param: &Param| ["task", "solver", "oracle"].contains(&param.name.as_str());
    params_of::<RunFields>().into_iter().filter(|param| !elsewhere(param)).collect()
}

/// Refuses a number of threads that cannot be meant.
///
/// # Errors
///
/// The number, and the rule.
pub fn check_threads(threads: usize) -> Result<(), ParameterError> {
    require(threads <= MAX_THREADS, "threads", threads, &format!("must be at most {MAX_THREADS}"))
}

/// Longest delay of an oracle call, in microseconds.
const MAX_DELAY_US: f64 = 3.6e9;

/// Wrappers around the oracle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OracleSpec {
    /// Makes every call of the oracle, those of evaluation too, cost that many microseconds more: slept on the wall
    /// clock, counted on the work clock.
    pub delay_us: f64,
}

impl OracleSpec {
    /// Checks what the types cannot say.
    pub(super) fn validate(&self) -> Result<(), ParameterError> {
        let holds = (0.0..=MAX_DELAY_US).contains(&self.delay_us);
        require(holds, "delay_us", self.delay_us, &format!("must be between 0 and {MAX_DELAY_US} (an hour)"))
    }
}

/// What the regulariser pulls toward, and which weights do not move.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RegularizerSpec {
    /// A model file whose weights are the prior mean w0, instead of 0.
    pub prior: Option<PathBuf>,
    /// sha256 of the prior's weights. Filled in when they are read; where it is given, they must have it.
    pub prior_sha256: Option<String>,
    /// Weights that keep their prior value (0 without a prior): names of blocks, or indices and ranges in the layout of
    /// files, as in `pair,0..128`.
    #[serde(deserialize_with = "text::names")]
    #[schemars(with = "Value")]
    pub freeze: Option<Vec<String>>,
}

impl RegularizerSpec {
    /// Returns what of it defines the run: not where the prior lies.
    pub(crate) fn provenance(&self) -> Value {
        let prior = self.prior.as_ref().map(|_| self.prior_sha256.as_deref().unwrap_or("not read"));
        json!({ "prior": prior, "freeze": self.freeze })
    }
}
