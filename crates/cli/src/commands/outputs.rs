//! Outputs: those that would destroy something are refused, models are saved, and reports printed.

use std::path::{Path, PathBuf};

use multiplane::{Error, is_special, leads_to};
use serde::Serialize;

use crate::args::OutputArgs;
use crate::interrupt;
use crate::terminal::{print, print_json};

/// Saves a model and returns the name of its file. A reader of a pipe may never come: a signal does not wait for it.
pub(crate) fn save_model(path: &Path, save: impl FnOnce(&Path) -> Result<(), Error>) -> Result<String, Error> {
    if is_special(path) {
        interrupt::leave_at_once();
    }
    save(path)?;
    Ok(path.display().to_string())
}

impl OutputArgs {
    /// Prints a summary: as JSON, or as text unless nothing is to be said.
    pub(crate) fn report(&self, summary: &impl Serialize, text: impl FnOnce() -> String) -> Result<(), Error> {
        match (self.json, self.quiet) {
            (true, _) => print_json(summary),
            (false, true) => Ok(()),
            (false, false) => print(&text()),
        }
    }
}

/// Refuses outputs that are the same file as each other or as an input.
pub(crate) fn refuse_overwriting<'a>(
    inputs: impl IntoIterator<Item = &'a PathBuf>,
    outputs: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<(), Error> {
    let mut taken: Vec<&PathBuf> = inputs.into_iter().collect();
    for output in outputs {
        if let Some(other) = taken.iter().find(|path| is_same_file(path, output)) {
            let (output, other) = (output.display(), other.display());
            return Err(Error::input(format!("{output}: it would overwrite {other}, which the same command uses")));
        }
        taken.push(output);
    }
    Ok(())
}

/// Returns true if two paths lead to one regular file, which need not exist yet: by links of either kind.
fn is_same_file(one: &Path, other: &Path) -> bool {
    // A file may stand behind standard input.
    let one = if one == Path::new("-") { Path::new("/dev/stdin") } else { one };
    if one.exists() && !one.is_file() {
        return false;
    }
    let place = |path: &Path| {
        let path = leads_to(path).ok()?;
        path.canonicalize().ok().or_else(|| {
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            Some(parent.canonicalize().ok()?.join(path.file_name()?))
        })
    };
    place(one).is_some_and(|place_of_one| place(other) == Some(place_of_one)) || is_one_inode(one, other)
}

/// Returns true if two names are of one file.
#[cfg(unix)]
fn is_one_inode(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let inode = |path: &Path| path.metadata().ok().map(|meta| (meta.dev(), meta.ino()));
    inode(one).is_some_and(|inode_of_one| inode(other) == Some(inode_of_one))
}

#[cfg(not(unix))]
fn is_one_inode(_one: &Path, _other: &Path) -> bool {
    false
}
