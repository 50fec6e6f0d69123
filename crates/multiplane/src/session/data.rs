//! Reading the data of a task.

use std::path::Path;

use multiplane_tasks::data::{Format, Opaque};
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::tasks::TaskEntry;

use crate::error::Error;

/// Reads a data set and selects its folds.
pub fn read_data(path: &Path, format: Option<Format>, folds: Option<&[u32]>) -> Result<Dataset, Error> {
    let data = Dataset::read(path, format)?;
    match folds {
        Some(folds) => data.select_folds(folds).map_err(|reason| Error::input(format!("{}: {reason}", path.display()))),
        None => Ok(data),
    }
}

/// Whether a task learns from files, and not only from what a program of its own knows.
pub fn needs_data(task: &TaskEntry) -> bool {
    task.formats != [Format::Opaque.name()]
}

/// Reads what a task learns from: a task that reads nothing itself needs no data, and what it gets is not guessed at.
pub fn read_task_data(
    task: &TaskEntry,
    path: Option<&Path>,
    format: Option<Format>,
    folds: Option<&[u32]>,
) -> Result<Dataset, Error> {
    let opaque = !needs_data(task);
    match path {
        Some(path) => read_data(path, format.or(opaque.then_some(Format::Opaque)), folds),
        None if opaque => Ok(Dataset::Opaque(Opaque::default())),
        None => Err(Error::input("no data given")),
    }
}
