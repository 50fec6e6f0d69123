//! File formats of pairwise problems: one reader and writer per format, all with errors that name path, line and
//! column.
//!
//! Readers take plain or gzip text. They stream it, and answer bad input with a [`DataError`]: never with a panic, and
//! never with memory out of proportion to the file.

mod build;
pub mod cfn;
pub mod dimacs;
mod lexer;
pub mod network;
pub mod uai;
pub mod wcsp;
mod words;

use std::path::Path;

use crate::file::{DataError, Lines, Tokens};
use crate::mrf::Mrf;
use network::Flow;

/// A format with a reader of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// See [`uai`].
    Uai,
    /// See [`wcsp`].
    Wcsp,
    /// See [`cfn`].
    Cfn,
    /// See [`dimacs`].
    Max,
}

/// What a file holds.
#[derive(Clone, Debug)]
pub enum Instance {
    /// An energy to be minimised.
    Mrf(Mrf),
    /// A network whose maximum flow is sought.
    Flow(Flow),
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 4] = [Format::Uai, Format::Wcsp, Format::Cfn, Format::Max];

    /// Its name, which is the ending of its files' names.
    pub fn name(self) -> &'static str {
        match self {
            Format::Uai => "uai",
            Format::Wcsp => "wcsp",
            Format::Cfn => "cfn",
            Format::Max => "max",
        }
    }

    /// What the format holds, in one line.
    pub fn description(self) -> &'static str {
        match self {
            Format::Uai => "a graphical model as tables of positive factors (UAI, MARKOV or BAYES), energy -sum ln",
            Format::Wcsp => "a weighted constraint satisfaction problem with integer costs (toulbar2)",
            Format::Cfn => "a cost function network with decimal costs in JSON's manner (toulbar2)",
            Format::Max => "a flow network (DIMACS): maximum flow and minimum cut",
        }
    }

    /// The format of that name.
    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The format of a file, by the ending of its name without `.gz` or, where that tells nothing, by its first word.
    ///
    /// # Errors
    /// Neither tells, or the file cannot be read.
    pub fn of(path: &Path) -> Result<Format, DataError> {
        let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        if let Some(format) = name.rsplit_once('.').and_then(|(_, ending)| Format::from_name(ending)) {
            return Ok(format);
        }
        let mut tokens = Tokens::open(path)?;
        let first = tokens.expect(|| "a problem".into())?.to_ascii_uppercase();
        match first.as_str() {
            "MARKOV" | "BAYES" => Ok(Format::Uai),
            "C" | "P" => Ok(Format::Max),
            brace if brace.starts_with('{') => Ok(Format::Cfn),
            _ => {
                Err(tokens
                    .bad("first word", &format!("a problem of a known format, or a name that tells: {}", known())))
            }
        }
    }

    /// Reads a file of this format, plain or gzip.
    ///
    /// # Errors
    /// Those of the format's own reader.
    pub fn read(self, path: &Path) -> Result<Instance, DataError> {
        match self {
            Format::Uai => uai::read(path).map(Instance::Mrf),
            Format::Wcsp => wcsp::read(path).map(Instance::Mrf),
            Format::Cfn => cfn::read(path).map(Instance::Mrf),
            Format::Max => dimacs::read(path).map(Instance::Flow),
        }
    }

    /// Reads bytes in memory, as if they were the file `path`.
    ///
    /// # Errors
    /// Those of the format's own reader.
    pub fn read_bytes(self, path: &str, bytes: &[u8]) -> Result<Instance, DataError> {
        match self {
            Format::Uai => uai::parse(Tokens::from_bytes(path, bytes)?).map(Instance::Mrf),
            Format::Wcsp => wcsp::parse(Tokens::from_bytes(path, bytes)?).map(Instance::Mrf),
            Format::Cfn => cfn::parse(Tokens::from_bytes(path, bytes)?).map(Instance::Mrf),
            Format::Max => dimacs::parse(Lines::from_bytes(path, bytes)?).map(Instance::Flow),
        }
    }
}

/// Reads a problem from a file, plain or gzip, whose format [`Format::of`] finds.
///
/// # Errors
/// Those of [`Format::of`] and of the format's reader.
pub fn read(path: &Path) -> Result<Instance, DataError> {
    Format::of(path)?.read(path)
}

fn known() -> String {
    let known = Format::ALL.map(|format| format!(".{} ({})", format.name(), format.description()));
    known.join("; ")
}
