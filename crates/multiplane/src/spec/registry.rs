//! Tasks, solvers and formats by name.

use multiplane_solvers::{SOLVERS, SolverEntry, find};
use multiplane_tasks::data::{self, FORMATS, Format};
use multiplane_tasks::entry::TaskEntry;
use multiplane_tasks::registry::{self, TASKS};

use crate::error::Error;
use crate::suggest;

/// What models call tasks that were handed over as objects.
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
