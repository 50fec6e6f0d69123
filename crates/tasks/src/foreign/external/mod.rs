//! Tasks in any language: a program that answers JSON lines (docs/external-oracles.md). A call costs a round trip, and
//! the text of a labelling with its features.

mod command;
mod labels;
mod process;
mod protocol;
mod worker;

pub use command::CommandLine;
pub use process::kill_all;
pub use protocol::PROTOCOL;
pub use worker::ExternalTask;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::data::Opaque;
use crate::dataset::Dataset;
use crate::foreign::{ForeignProblem, Shape};
use crate::problem::{MAX_DIM, OpenError, Problem, Vocabulary};

/// Parameters that say how this machine runs the program. They stay out of model files: a model must not depend on
/// where things are, and nobody should run a program because a model file says so.
pub const LOCAL: &[&str] = &["command", "timeout_seconds", "start_seconds", "batch", "line_megabytes"];

/// Longest time limit, in seconds.
const MAX_SECONDS: f64 = 3.2e7;

/// Most megabytes of a line.
const MAX_LINE: usize = 4096;

/// Parameters of the task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExternalSpec {
    /// The program with its arguments, split as by a shell (quotes, backslashes, no expansions), or a list of words.
    pub command: CommandLine,
    /// How long the program may take for an answer.
    pub timeout_seconds: f64,
    /// How long it may take to start, read its data and answer hello.
    pub start_seconds: f64,
    /// Most examples of a request, where the program takes several.
    pub batch: usize,
    /// Longest line that the program may write, in megabytes.
    pub line_megabytes: usize,
}

impl Default for ExternalSpec {
    fn default() -> Self {
        ExternalSpec {
            command: CommandLine::default(),
            timeout_seconds: 600.0,
            start_seconds: 600.0,
            batch: 32,
            line_megabytes: 256,
        }
    }
}

impl ExternalSpec {
    fn check(&self) -> Result<(), String> {
        for (name, seconds) in [("timeout_seconds", self.timeout_seconds), ("start_seconds", self.start_seconds)] {
            if !(seconds > 0.0 && seconds <= MAX_SECONDS) {
                return Err(format!("task.{name} = {seconds}: must be greater than 0 and at most {MAX_SECONDS}"));
            }
        }
        if self.batch == 0 {
            return Err("task.batch = 0: must be at least 1".into());
        }
        if self.line_megabytes == 0 || self.line_megabytes > MAX_LINE {
            return Err(format!("task.line_megabytes = {}: must be between 1 and {MAX_LINE}", self.line_megabytes));
        }
        Ok(())
    }
}

/// Opens the task: starts the program on a data set, with what it wanted to be remembered where there is a model.
pub fn open(
    spec: &ExternalSpec,
    data: Dataset,
    vocabulary: Option<&Vocabulary>,
) -> Result<Box<dyn Problem>, OpenError> {
    spec.check()?;
    let Dataset::Opaque(data) = data else {
        return Err(OpenError::new(format!(
            "task `external` hands its data to the program as it is (format opaque), found {}",
            data.describe()
        )));
    };
    let given = vocabulary.and_then(|vocabulary| vocabulary.memory.clone());
    let spec = Arc::new(spec.clone());
    let path = data.path().map(|path| path.to_string_lossy().into_owned());
    let make = move || ExternalTask::start(&spec, path.as_deref(), given.as_ref());
    let first = make()?;
    let dim = first.dim();
    if dim > MAX_DIM {
        return Err(OpenError::new(first.blame(format!("dim = {dim}: must be at most {MAX_DIM}"))));
    }
    let mut warnings = Vec::new();
    if !data.is_hashed() && first.fingerprint().is_none() {
        warnings.push(
            "the data is no file and the program gives no fingerprint: other data would go unnoticed at resume and verify"
                .into(),
        );
    }
    let shape = Shape {
        examples: first.examples(),
        dim,
        nonnegative: first.nonnegative(),
        fingerprint: fingerprint(&data, &first),
        warnings,
    };
    let memory: Option<Value> = first.memory().cloned();
    let expected = first.welcome().clone();
    let make_more = move || {
        let worker = make()?;
        if !worker.agrees(&expected) {
            return Err(worker.blame("a second process of the program described another problem".into()));
        }
        Ok(worker)
    };
    let problem = ForeignProblem::new("external", shape, first, Box::new(make_more))?;
    Ok(Box::new(problem.with_vocabulary(Vocabulary { memory, ..Vocabulary::default() })))
}

/// sha256 of the data file, what the program says of its data, and the problem's size.
fn fingerprint(data: &Opaque, program: &ExternalTask) -> String {
    let mut sha = Sha256::new();
    sha.update(b"external");
    sha.update(data.digest());
    let own = program.fingerprint().unwrap_or_default();
    sha.update((own.len() as u64).to_le_bytes());
    sha.update(own);
    sha.update((program.examples() as u64).to_le_bytes());
    sha.update((program.dim() as u64).to_le_bytes());
    sha.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
