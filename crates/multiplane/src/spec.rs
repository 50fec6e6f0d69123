//! `RunSpec`: everything that defines a training run, as one tree. A file, dotted overrides and flags all end here.

mod resolve;

use std::path::PathBuf;

use multiplane_core::clock::ClockKind;
use multiplane_core::divide::MAX_THREADS;
use multiplane_core::run::GapTarget;
use multiplane_core::solvers::{self, SolverEntry};
use multiplane_tasks::data::{self, FORMATS, Format};
use multiplane_tasks::entry::TaskEntry;
use multiplane_tasks::registry as tasks;
use resolve::{clock, resolve_solver, resolve_task, scalar, section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::lambda::Lambda;
use crate::names;
use crate::prior::RegularizerSpec;

/// What `auto` stands for.
pub const DEFAULT_SOLVER: &str = "auto";

/// Longest delay of an oracle call, in microseconds.
const MAX_DELAY_US: f64 = 3.6e9;

/// Where the examples come from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DataSpec {
    /// The training data.
    pub path: Option<PathBuf>,
    /// The test data, if any.
    pub test: Option<PathBuf>,
    /// The format; guessed from name and content where not given.
    pub format: Option<String>,
    /// The folds of letter.data to use, as a list or as in `0,3`; all where not given.
    pub folds: Option<Value>,
}

/// Wrappers around the oracle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OracleSpec {
    /// Makes every training call of the oracle cost that many microseconds more: slept on the wall clock, counted
    /// on the work clock.
    pub delay_us: f64,
}

/// The parameters under `oracle.`.
pub fn oracle_schema() -> schemars::Schema {
    schemars::schema_for!(OracleSpec)
}

/// When to stop; the first that is reached counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StopSpec {
    /// The duality gap: a number, or percent of the primal as in `1%`.
    pub gap: Option<Value>,
    /// Whether a gap that is only an estimate, as the oracle is a heuristic, ends the run as well.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
    /// Oracle calls / n.
    pub passes: Option<f64>,
    /// Oracle calls.
    pub calls: Option<u64>,
    /// Training seconds.
    pub seconds: Option<f64>,
}

/// A named thing with parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// Its registered name.
    pub name: String,
    /// All its parameters, defaults filled in.
    pub params: Map<String, Value>,
}

/// A training run.
#[derive(Clone, Debug)]
pub struct RunSpec {
    /// Where the examples come from.
    pub data: DataSpec,
    /// The task.
    pub task: Named,
    /// Wrappers around its oracle.
    pub oracle: OracleSpec,
    /// The solver.
    pub solver: Named,
    /// Strength of the regulariser.
    pub lambda: Lambda,
    /// Prior weights and frozen weights.
    pub regularizer: RegularizerSpec,
    /// When to stop.
    pub stop: StopSpec,
    /// Seed of all chance.
    pub seed: u64,
    /// Threads for gap passes, batch steps, evaluation and prediction. No bit of the result depends on it.
    pub threads: usize,
    /// Which clock measures training.
    pub clock: ClockKind,
}

/// A named thing as a table.
fn table(named: &Named) -> Value {
    let mut table = named.params.clone();
    table.insert("name".into(), json!(named.name));
    Value::Object(table)
}

/// A value as a user would type it.
pub(crate) fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

impl RunSpec {
    /// Reads a tree: `task` is required, everything else has a default. Unknown names are refused.
    pub fn from_tree(tree: &Map<String, Value>) -> Result<RunSpec, Error> {
        let Some(task) = tree.get("task") else {
            let known = tasks::TASKS.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ");
            return Err(Error::input(format!("no task given: --task is one of {known}")));
        };
        RunSpec::for_task(tree, resolve_task(task)?)
    }

    /// As [`from_tree`](RunSpec::from_tree), for a task that need not be in the registry.
    pub fn for_task(tree: &Map<String, Value>, task: Named) -> Result<RunSpec, Error> {
        const KEYS: [&str; 10] =
            ["data", "task", "oracle", "solver", "lambda", "regularizer", "stop", "seed", "threads", "clock"];
        if let Some(key) = tree.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(Error::input(names::unknown("parameter", key, KEYS)));
        }
        let stop: StopSpec = section(tree, "stop")?;
        let mut spec = RunSpec {
            data: section(tree, "data")?,
            task,
            oracle: section(tree, "oracle")?,
            solver: resolve_solver(tree.get("solver").unwrap_or(&Value::Null))?,
            lambda: tree.get("lambda").map_or(Ok(Lambda::OneOverN), Lambda::parse)?,
            regularizer: section(tree, "regularizer")?,
            stop,
            seed: scalar(tree, "seed", 0)?,
            threads: scalar(tree, "threads", 1)?,
            clock: clock(tree)?,
        };
        let estimated = spec.stop.estimated;
        if (StopSpec { estimated: false, ..spec.stop.clone() }) == StopSpec::default() {
            spec.stop = StopSpec { estimated, ..default_stop(spec.solver_entry()?.has_dual) };
        }
        spec.check()?;
        spec.normalize()?;
        Ok(spec)
    }

    /// Writes what can be written in several ways in one: the same problem must give the same model bytes.
    fn normalize(&mut self) -> Result<(), Error> {
        self.stop.gap = self.gap_target()?.map(|target| match target {
            GapTarget::Absolute(gap) => json!(gap),
            GapTarget::Percent(percent) => json!(format!("{percent}%")),
        });
        self.regularizer.normalize();
        self.data.folds = self.folds()?.map(|mut folds| {
            folds.sort_unstable();
            folds.dedup();
            json!(folds)
        });
        Ok(())
    }

    fn check(&self) -> Result<(), Error> {
        let delay = self.oracle.delay_us;
        if !(0.0..=MAX_DELAY_US).contains(&delay) {
            return Err(Error::input(format!(
                "oracle.delay_us = {delay}: must be between 0 and {MAX_DELAY_US} (an hour)"
            )));
        }
        check_threads(self.threads)?;
        for (name, limit) in [("passes", self.stop.passes), ("seconds", self.stop.seconds)] {
            if let Some(limit) = limit.filter(|limit| limit.is_nan() || *limit <= 0.0) {
                return Err(Error::input(format!("stop.{name} = {limit}: must be greater than 0")));
            }
        }
        if self.stop.calls == Some(0) {
            return Err(Error::input("stop.calls = 0: must be at least 1"));
        }
        self.gap_target()?;
        self.folds()?;
        self.format()?;
        Ok(())
    }

    /// The gap to stop at.
    pub fn gap_target(&self) -> Result<Option<GapTarget>, Error> {
        let Some(value) = &self.stop.gap else { return Ok(None) };
        let text = shown(value);
        let (number, percent) = match text.strip_suffix('%') {
            Some(number) => (number, true),
            None => (text.as_str(), false),
        };
        match number.trim().parse::<f64>() {
            Ok(gap) if gap.is_finite() && gap >= 0.0 => {
                Ok(Some(if percent { GapTarget::Percent(gap) } else { GapTarget::Absolute(gap) }))
            }
            _ => Err(Error::input(format!("gap = {text}: must be a number >= 0, or percent as in 1%"))),
        }
    }

    /// The folds to use; `None` for all.
    pub fn folds(&self) -> Result<Option<Vec<u32>>, Error> {
        folds(self.data.folds.as_ref())
    }

    /// The format given, if any.
    pub fn format(&self) -> Result<Option<Format>, Error> {
        self.data.format.as_deref().map(format_by_name).transpose()
    }

    /// The registry's line of the task.
    pub fn task_entry(&self) -> Result<&'static TaskEntry, Error> {
        find_task(&self.task.name)
    }

    /// The registry's line of the solver.
    pub fn solver_entry(&self) -> Result<&'static SolverEntry, Error> {
        find_solver(&self.solver.name)
    }

    /// The whole run as a tree that [`from_tree`](RunSpec::from_tree) reads back, with the paths as they are.
    pub fn to_tree(&self) -> Value {
        let mut tree = self.provenance();
        tree["task"] = table(&self.task);
        tree["data"] = json!(self.data);
        tree["threads"] = json!(self.threads);
        if self.regularizer != RegularizerSpec::default() {
            tree["regularizer"] = json!(self.regularizer);
        }
        tree
    }

    /// What defines the run beside its data, of which the model file has a fingerprint: no path, fold, output or
    /// thread count, nor how this machine runs an external program. Goes into the model file.
    pub fn provenance(&self) -> Value {
        let mut task = self.task.clone();
        task.params.retain(|key, _| !tasks::local_parameters(&task.name).contains(&key.as_str()));
        let mut tree = json!({
            "task": table(&task),
            "oracle": self.oracle,
            "solver": table(&self.solver),
            "lambda": self.lambda.to_value(),
            "stop": self.stop,
            "seed": self.seed,
            "clock": self.clock,
        });
        if self.regularizer != RegularizerSpec::default() {
            tree["regularizer"] = self.regularizer.provenance();
        }
        tree
    }
}

/// Refuses a number of threads that cannot be meant.
pub fn check_threads(threads: usize) -> Result<(), Error> {
    match threads {
        0 => Err(Error::input("threads = 0: must be at least 1")),
        1..=MAX_THREADS => Ok(()),
        _ => Err(Error::input(format!("threads = {threads}: must be at most {MAX_THREADS}"))),
    }
}

/// Reads `data.folds`: a number, a list, or text such as `0,3`.
pub fn folds(value: Option<&Value>) -> Result<Option<Vec<u32>>, Error> {
    let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(None) };
    let texts: Vec<String> = match value {
        Value::Array(items) => items.iter().map(shown).collect(),
        other => shown(other).split(',').map(str::to_string).collect(),
    };
    let parsed: Result<Vec<u32>, _> = texts.iter().map(|text| text.trim().parse()).collect();
    match parsed {
        Ok(folds) if !folds.is_empty() => Ok(Some(folds)),
        _ => Err(Error::input(format!("data.folds = {}: must be fold numbers as in 0,3", shown(value)))),
    }
}

/// The format of this name.
pub fn format_by_name(name: &str) -> Result<Format, Error> {
    data::find(name)
        .ok_or_else(|| Error::input(names::unknown("format", name, FORMATS.iter().map(|format| format.name))))
}

/// The task of this name.
pub fn find_task(name: &str) -> Result<&'static TaskEntry, Error> {
    tasks::find(name)
        .ok_or_else(|| Error::input(names::unknown("task", name, tasks::TASKS.iter().map(|entry| entry.name))))
}

/// The solver of this name.
pub fn find_solver(name: &str) -> Result<&'static SolverEntry, Error> {
    solvers::find(name)
        .ok_or_else(|| Error::input(names::unknown("solver", name, solvers::SOLVERS.iter().map(|entry| entry.name))))
}

/// The stops of a run that names none.
pub(crate) fn default_stop(has_dual: bool) -> StopSpec {
    StopSpec { gap: has_dual.then(|| json!("1%")), passes: Some(1000.0), ..StopSpec::default() }
}

#[cfg(test)]
mod tests;
