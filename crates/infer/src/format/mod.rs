//! File formats of pairwise problems: one reader and writer per format, all with errors that name path, line and
//! column.
//!
//! Readers take plain or gzip text. They stream it, and answer bad input with a [`DataError`]: never with a panic, and
//! never with memory out of proportion to the file.
//!
//! ```no_run
//! use multiplane_infer::format::{self, Instance, flow::Flow};
//! match format::read("problem.uai.gz".as_ref())? {
//!     Instance::Mrf(mrf) => println!("{} nodes, {} edges", mrf.nodes(), mrf.edges().len()),
//!     Instance::Forbidden { variables, .. } => println!("{variables} nodes, no labelling"),
//!     Instance::Flow(Flow::Whole(network)) => println!("flow {}", network.cut().solve()),
//!     Instance::Flow(Flow::Real(network)) => println!("flow {}", network.cut().solve()),
//! }
//! # Ok::<(), multiplane_infer::file::DataError>(())
//! ```

mod build;
pub mod cfn;
pub mod dimacs;
mod entry;
pub mod flow;
mod lexer;
pub mod uai;
pub mod wcsp;
mod words;

use std::path::Path;

use crate::file::{DataError, Source, Tokens};
pub use entry::{Instance, ProblemFormat};

/// The formats, in the order in which they are listed to users.
pub const FORMATS: &[ProblemFormat] = &[uai::ENTRY, wcsp::ENTRY, cfn::ENTRY, dimacs::ENTRY];

/// Returns the format of this name.
pub fn find(name: &str) -> Option<&'static ProblemFormat> {
    FORMATS.iter().find(|format| format.name == name)
}

/// Returns the format that the ending of a file's name tells, `.gz` left out.
pub fn of_path(path: &Path) -> Option<&'static ProblemFormat> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    find(name.rsplit_once('.')?.1)
}

/// Returns the format that the first bytes of a file tell.
fn of_start(bytes: &[u8]) -> Option<&'static ProblemFormat> {
    let start = bytes.trim_ascii_start().to_ascii_uppercase();
    FORMATS.iter().find(|format| (format.recognises)(&start))
}

/// Reads a problem from a file, plain or gzip. The ending of the name tells the format or, where it does not, the first
/// word.
///
/// # Errors
/// A file that cannot be read, a format that is not known, and what the format's reader refuses.
pub fn read(path: &Path) -> Result<Instance, DataError> {
    let mut source = Source::open(path)?;
    let format = match of_path(path) {
        Some(format) => Some(format),
        None => of_start(source.ready(0)?),
    };
    if let Some(format) = format {
        return (format.read)(source);
    }
    let known: Vec<String> =
        FORMATS.iter().map(|format| format!(".{} ({})", format.name, format.description)).collect();
    let known = known.join("; ");
    let mut tokens = Tokens::of(source)?;
    tokens.expect(|| "a problem".into())?;
    Err(tokens.bad("first word", &format!("a problem of a known format, or a name that tells: {known}")))
}
