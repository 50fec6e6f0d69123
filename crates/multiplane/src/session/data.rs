//! Reading the data of a task.

use std::path::Path;

use multiplane_tasks::data::{self, Format};
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::entry::TaskEntry;

use crate::error::Error;

/// Reads a data set and selects its folds.
pub fn read_data(path: &Path, format: Option<Format>, folds: Option<&[u32]>) -> Result<Dataset, Error> {
    let data = data::read(path, format)?;
    match folds {
        Some(folds) => data.select_folds(folds).map_err(|reason| Error::input(format!("{}: {reason}", path.display()))),
        None => Ok(data),
    }
}

/// Whether a task learns from files, and not only from what a program of its own knows.
pub fn needs_data(task: &TaskEntry) -> bool {
    task.without_data.is_none()
}

/// Reads what a task learns from: a task that reads nothing itself needs no data, and what it gets is not guessed at.
pub fn read_task_data(
    task: &TaskEntry,
    path: Option<&Path>,
    format: Option<Format>,
    folds: Option<&[u32]>,
) -> Result<Dataset, Error> {
    let only = match task.formats {
        [only] => Some(*only),
        _ => None,
    };
    match (path, task.without_data) {
        (Some(path), _) => read_data(path, format.or(only), folds),
        (None, Some(make)) => Ok(make()),
        (None, None) => Err(Error::input("no data given")),
    }
}
