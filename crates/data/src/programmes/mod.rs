//! Integer programmes with features of their variables and true vectors (feature `highs`): a safetensors container of
//! many, or a table of features next to MPS and LP files.

mod container;
mod examples;
mod table;

pub use examples::{ProgrammeExample, Programmes};

use std::path::Path;

use multiplane_infer::file::DataError;

use crate::container::tensor_names;
use crate::dataset::Dataset;
use crate::format::FormatEntry;
use crate::rules::ReadRules;

/// The format as users name it.
pub const FORMAT: FormatEntry = FormatEntry {
    tensor: Some("variable_offsets"),
    known_by: Some((0, |line| table::is_head(line.text))),
    ..FormatEntry::new(
        "ilp",
        "integer programmes in a safetensors file, or a table of features of MPS and LP files",
        read,
    )
};

/// Reads a container or a table.
fn read(path: &Path, _: &ReadRules) -> Result<Dataset, DataError> {
    let programmes = if tensor_names(path).is_some() { container::read(path)? } else { table::read(path)? };
    Ok(Dataset::new(programmes))
}
