//! Tasks, solvers and formats by name; the task and the solver of a run, read once into what they configure.

use std::sync::Arc;

use multiplane_solvers::{SOLVERS, SolverConfig, SolverEntry, find};
use multiplane_tasks::data::{self, FORMATS, Format};
use multiplane_tasks::entry::TaskEntry;
use multiplane_tasks::registry::{self, TASKS};
use serde_json::{Map, Value};

use super::params::{from_schema, overlay};
use crate::error::Error;
use crate::suggest;

/// The solver that `auto` stands for.
pub const DEFAULT_SOLVER: &str = "auto";

/// A named thing with parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Its registered name.
    pub name: String,
    /// All its parameters, defaults filled in.
    pub params: Map<String, Value>,
}

impl Choice {
    /// Writes the thing as a table.
    pub(super) fn table(&self) -> Value {
        let mut table = self.params.clone();
        table.insert("name".into(), Value::String(self.name.clone()));
        Value::Object(table)
    }

    /// Reads a task of the registry and its parameters.
    pub(super) fn task(value: &Value) -> Result<Choice, Error> {
        let (name, changes) = split_name(value, "task", None)?;
        let entry = find_task(&name)?;
        let table = overlaid((entry.defaults)(), &changes, &(entry.schema)(), "task", entry.name)?;
        let config = (entry.parse)(&table).map_err(|error| error.under("task"))?;
        let params = match config.value() {
            Value::Object(params) => params,
            _ => Map::new(), // parameters are a table
        };
        Ok(Choice { params, name: entry.name.into() })
    }
}

/// The solver of a run.
#[derive(Clone)]
pub struct SolverChoice {
    /// The registry's line.
    pub entry: &'static SolverEntry,
    /// All its parameters, defaults filled in, as they were written.
    pub params: Map<String, Value>,
    /// The same, read and checked.
    pub config: Arc<dyn SolverConfig>,
}

impl SolverChoice {
    /// Reads a solver and its parameters.
    pub(super) fn parse(value: &Value) -> Result<SolverChoice, Error> {
        let (name, changes) = split_name(value, "solver", Some(DEFAULT_SOLVER))?;
        let entry = find_solver(&name)?;
        let params = overlaid((entry.preset)(), &changes, &(entry.schema)(), "solver", entry.name)?;
        let config = (entry.parse)(&params).map_err(|error| error.under("solver"))?;
        let params = params.as_object().cloned().unwrap_or_default();
        Ok(SolverChoice { entry, params, config: config.into() })
    }

    /// Writes the solver as a table.
    pub(crate) fn table(&self) -> Value {
        Choice { name: self.entry.name.into(), params: self.params.clone() }.table()
    }
}

impl std::fmt::Debug for SolverChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:?}", self.entry.name, self.config)
    }
}

/// Takes apart `"name"` or `{name: ..., parameters}`; nothing at all means `usual`.
fn split_name(value: &Value, what: &str, usual: Option<&str>) -> Result<(String, Map<String, Value>), Error> {
    match (value, usual) {
        (Value::String(name), _) => Ok((name.clone(), Map::new())),
        (Value::Null, Some(usual)) => Ok((usual.into(), Map::new())),
        (Value::Object(table), _) => {
            let mut table = table.clone();
            match (table.remove("name"), usual) {
                (Some(Value::String(name)), _) => Ok((name, table)),
                (None, Some(usual)) => Ok((usual.into(), table)),
                (Some(other), _) => Err(Error::input(format!("{what}: expected a name, found {other}"))),
                (None, None) => Err(Error::input(format!("{what}: no name given: {what}.name is missing"))),
            }
        }
        (other, _) => Err(Error::input(format!("{what}: expected a name, found {other}"))),
    }
}

fn overlaid(
    defaults: Value,
    changes: &Map<String, Value>,
    schema: &schemars::Schema,
    what: &str,
    name: &str,
) -> Result<Value, Error> {
    let mut base = defaults.as_object().cloned().unwrap_or_default();
    let path = format!("{what} `{name}`");
    overlay(&mut base, &Value::Object(changes.clone()), &from_schema(schema), &path).map_err(Error::Input)?;
    Ok(Value::Object(base))
}

/// The name in models of tasks that were handed over as objects.
const USER_TASK: &str = "user";

/// Finds the format of this name.
///
/// # Errors
///
/// The names that are near, where there is none of this one.
pub fn format_by_name(name: &str) -> Result<Format, Error> {
    data::find(name)
        .ok_or_else(|| Error::input(suggest::unknown("format", name, FORMATS.iter().map(|format| format.name))))
}

/// Finds the task of this name.
///
/// # Errors
///
/// The names that are near, where there is none of this one.
pub fn find_task(name: &str) -> Result<&'static TaskEntry, Error> {
    registry::find(name).ok_or_else(|| match name {
        USER_TASK => Error::input(
            "task `user` is one that its user wrote in Python: only there are its features, loss and decode; \
             StructuredSVM.load(path, task) reads its models, and `multiplane show` their weights",
        ),
        "ilp" => Error::input(
            "task `ilp`: this program was built without HiGHS, which solves integer programmes: `cargo install --path \
             crates/cli --features highs` builds it (it needs cmake, a C++ compiler and libclang), and the Python \
             package `multiplane[ilp]` has it",
        ),
        _ => Error::input(suggest::unknown("task", name, TASKS.iter().map(|entry| entry.name))),
    })
}

/// Finds the solver of this name.
///
/// # Errors
///
/// The names that are near, where there is none of this one.
pub fn find_solver(name: &str) -> Result<&'static SolverEntry, Error> {
    find(name).ok_or_else(|| Error::input(suggest::unknown("solver", name, SOLVERS.iter().map(|entry| entry.name))))
}
