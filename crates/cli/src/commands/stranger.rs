//! Commands and outputs that a checkpoint names: they are said first, and must be asked for again where the checkpoint
//! is another user's. A checkpoint holds the command of an external task and the paths of its run's outputs.

use std::path::{Path, PathBuf};

use multiplane::Error;
use serde_json::{Map, Value};

use crate::terminal::complain;

/// Commands and outputs of a job that its checkpoint names, and no argument.
#[derive(Default)]
pub(crate) struct Inherited {
    /// The command of its external program.
    command: Option<String>,
    /// Outputs, with the flags that would name them.
    outputs: Vec<(&'static str, PathBuf)>,
}

impl Inherited {
    /// The command that `saved` holds and `given` does not.
    pub(crate) fn new(saved: &Map<String, Value>, given: &Map<String, Value>) -> Self {
        let command = |tree: &Map<String, Value>| match tree.get("task")?.get("command")? {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            Value::Array(words) => Some(words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")),
            other => Some(other.to_string()),
        };
        let own = command(saved).filter(|text| !text.is_empty() && command(given).is_none());
        Inherited { command: own, outputs: Vec::new() }
    }

    /// Adds an output of the checkpoint's run, which `flag` would have named.
    pub(crate) fn add(&mut self, flag: &'static str, path: Option<&Path>) {
        self.outputs.extend(path.map(|path| (flag, path.to_path_buf())));
    }

    /// Returns true if the checkpoint names nothing that the arguments do not.
    pub(crate) fn is_empty(&self) -> bool {
        self.command.is_none() && self.outputs.is_empty()
    }

    /// An argument names this output after all.
    pub(crate) fn is_given(&mut self, flag: &str) {
        self.outputs.retain(|(other, _)| *other != flag);
    }

    /// Refuses a checkpoint of another user that would run or write something; else says what it does unless `quiet`.
    pub(crate) fn look(&self, checkpoint: &Path, quiet: bool) -> Result<(), Error> {
        let name = checkpoint.display();
        let mut parts: Vec<String> =
            self.outputs.iter().map(|(flag, path)| format!("{flag} {}", path.display())).collect();
        if let Some(command) = &self.command {
            parts.insert(0, format!("--set task.command='{command}'"));
        }
        if let (Some(owner), false) = (stranger(checkpoint), parts.is_empty()) {
            return Err(Error::input(format!(
                "{name}: it belongs to another user (uid {owner}), so what it would run and write must be given again; \
                 the checkpoint says {}",
                parts.join(" ")
            )));
        }
        if quiet {
            return Ok(());
        }
        if let Some(command) = &self.command {
            complain(&format!("{name}: resumes with the command {command}"));
        }
        if !self.outputs.is_empty() {
            let paths: Vec<String> = self.outputs.iter().map(|(_, path)| path.display().to_string()).collect();
            complain(&format!("{name}: writes {}", paths.join(", ")));
        }
        Ok(())
    }
}

/// The owner of a file, where that is somebody else.
#[cfg(unix)]
fn stranger(path: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    let owner = std::fs::metadata(path).ok()?.uid();
    (owner != nix::unistd::geteuid().as_raw()).then_some(owner)
}

/// The owner of a file, where that is somebody else: not known here.
#[cfg(not(unix))]
fn stranger(_path: &Path) -> Option<u32> {
    None
}
