//! Parameters of external tasks.

use multiplane_core::executor::RESTARTS;
use multiplane_core::parameter::{ParameterError, require};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::foreign::external::command::CommandLine;

/// Parameters that say how this machine runs the program. They stay out of model files: a model must not depend on
/// where things are, and no program should run because a model file says so.
pub(super) const LOCAL: &[&str] =
    &["command", "timeout_seconds", "start_seconds", "restarts", "batch", "line_megabytes"];

/// Longest time limit, in seconds.
const MAX_SECONDS: f64 = 3.2e7;

/// Most restarts: more would hide a fault.
const MAX_RESTARTS: usize = 1000;

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
    /// How often a copy that ends, takes too long or breaks the protocol is started again; earned back by 100 answers.
    pub restarts: usize,
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
            restarts: RESTARTS,
            batch: 32,
            line_megabytes: 64,
        }
    }
}

impl ExternalSpec {
    /// Checks the values of the parameters.
    ///
    /// # Errors
    ///
    /// A time limit, the batch or the line is 0 or too large.
    pub fn validate(&self) -> Result<(), ParameterError> {
        for (name, seconds) in [("timeout_seconds", self.timeout_seconds), ("start_seconds", self.start_seconds)] {
            let rule = format!("must be greater than 0 and at most {MAX_SECONDS}");
            require(seconds > 0.0 && seconds <= MAX_SECONDS, name, seconds, &rule)?;
        }
        require(self.restarts <= MAX_RESTARTS, "restarts", self.restarts, &format!("must be at most {MAX_RESTARTS}"))?;
        require(self.batch > 0, "batch", self.batch, "must be at least 1")?;
        let rule = format!("must be between 1 and {MAX_LINE}");
        require((1..=MAX_LINE).contains(&self.line_megabytes), "line_megabytes", self.line_megabytes, &rule)
    }
}
