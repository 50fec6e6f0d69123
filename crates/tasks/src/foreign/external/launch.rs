//! How a copy of an external program is started and greeted, the first time and again.

use std::time::Duration;

use multiplane_core::executor::Transport;
use serde_json::Value;

use crate::foreign::external::process::Process;
use crate::foreign::external::protocol::{self, PROTOCOL, Request, Welcome};
use crate::foreign::external::spec::ExternalSpec;

/// The question at the end of a message about a late answer.
const FLUSH: &str = "; does it flush after every line?";

/// How a copy of the program is started.
pub(super) struct Launch {
    /// The parameters.
    pub(super) spec: ExternalSpec,
    /// The command, for messages.
    pub(super) name: String,
    words: Vec<String>,
    data: Option<String>,
    memory: Option<Value>,
}

impl Launch {
    /// The command of `spec` on a data file, with what the program wanted to be remembered.
    pub(super) fn new(spec: ExternalSpec, data: Option<String>, memory: Option<Value>) -> Result<Self, String> {
        let words = spec.command.words()?;
        Ok(Launch { name: words.join(" "), spec, words, data, memory })
    }

    /// Starts a copy and greets it. The error names the program.
    pub(super) fn greet(&self) -> Result<(Process, Welcome), String> {
        let failed = |reason: String| format!("external program `{}`: {reason}", self.name);
        let mut process = Process::start(&self.words, self.spec.line_megabytes << 20).map_err(failed)?;
        let (data, memory) = (self.data.as_deref(), self.memory.as_ref());
        let limit = self.spec.start_seconds;
        let late = || format!("no answer came within {limit} s (task.start_seconds){FLUSH}");
        process.send(0, Request::Hello { protocol: PROTOCOL, data, memory }.line()).map_err(failed)?;
        let greeted = process.receive(Duration::from_secs_f64(limit)).and_then(|came| came.ok_or_else(late));
        let welcome = greeted.and_then(|(_, line)| protocol::welcome(&line)).map_err(failed)?;
        let ranges = welcome.nonnegative.iter();
        if let Some((from, to)) = ranges.clone().find(|(from, to)| from > to || *to > welcome.dim) {
            return Err(failed(format!("nonnegative [{from}, {to}]: must lie within 0 to {}", welcome.dim)));
        }
        Ok((process, welcome))
    }
}
