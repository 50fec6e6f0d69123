//! File formats of pairwise problems: one reader and writer per format, all with errors that name path, line and
//! column.
//!
//! Readers take plain or gzip text. They stream it, and answer bad input with a [`DataError`]: never with a panic, and
//! never with memory out of proportion to the file.
//!
//! ```no_run
//! use multiplane_infer::format::{self, Instance, network::Flow};
//! match format::read("problem.uai.gz".as_ref())? {
//!     Instance::Mrf(mrf) => println!("{} nodes, {} edges", mrf.nodes(), mrf.edges().len()),
//!     Instance::Flow(Flow::Whole(network)) => println!("flow {}", network.cut().solve()),
//!     Instance::Flow(Flow::Real(network)) => println!("flow {}", network.cut().solve()),
//! }
//! # Ok::<(), multiplane_infer::file::DataError>(())
//! ```

mod build;
pub mod cfn;
pub mod dimacs;
mod lexer;
pub mod network;
mod shared;
pub mod uai;
pub mod wcsp;
mod words;

use std::path::Path;

use crate::file::{DataError, Lines, Source, Tokens};
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

    /// The format that the ending of a file's name tells, `.gz` left out.
    pub fn from_path(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        Format::from_name(name.rsplit_once('.')?.1)
    }

    /// The format that the first bytes of a file tell.
    fn from_start(bytes: &[u8]) -> Option<Format> {
        match bytes.trim_ascii_start().to_ascii_uppercase().as_slice() {
            [b'M', b'A', b'R', b'K', b'O', b'V', ..] | [b'B', b'A', b'Y', b'E', b'S', ..] => Some(Format::Uai),
            [b'C' | b'P', end, ..] if end.is_ascii_whitespace() => Some(Format::Max),
            [b'{', ..] => Some(Format::Cfn),
            _ => None,
        }
    }

    /// Reads a file of this format.
    ///
    /// # Errors
    /// Names the place of whatever breaks the format.
    pub fn read(self, source: Source) -> Result<Instance, DataError> {
        match self {
            Format::Uai => uai::parse(Tokens::of(source)?).map(Instance::Mrf),
            Format::Wcsp => wcsp::parse(Tokens::of(source)?).map(Instance::Mrf),
            Format::Cfn => cfn::parse(Tokens::of(source)?).map(Instance::Mrf),
            Format::Max => dimacs::parse(Lines::of(source)).map(Instance::Flow),
        }
    }
}

/// Reads a problem from a file, plain or gzip. The ending of the name tells the format or, where it does not, the first
/// word.
///
/// # Errors
/// The file cannot be read, or its format is not known; and those of [`Format::read`].
pub fn read(path: &Path) -> Result<Instance, DataError> {
    let mut source = Source::open(path)?;
    let format = match Format::from_path(path) {
        Some(format) => Some(format),
        None => Format::from_start(source.ready(0)?),
    };
    if let Some(format) = format {
        return format.read(source);
    }
    let known = Format::ALL.map(|format| format!(".{} ({})", format.name(), format.description())).join("; ");
    let mut tokens = Tokens::of(source)?;
    tokens.expect(|| "a problem".into())?;
    Err(tokens.bad("first word", &format!("a problem of a known format, or a name that tells: {known}")))
}
