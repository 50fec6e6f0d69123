//! Data files: one reader per text format, all with errors that name path, line and column, and one file per kind of
//! data that they fill.
//!
//! Every reader takes plain or gzip-compressed text (told apart by content), streams it line by line, and
//! answers bad input with a [`DataError`]: never with a panic, and never with memory out of proportion to
//! the file.

pub mod boxes;
mod classified;
mod columns;
pub mod conll;
pub mod conllu;
pub mod container;
pub mod crfsuite;
pub mod csv;
pub mod dataset;
mod example_windows;
pub mod format;
pub mod formats;
pub mod graphs;
pub mod hmm;
mod json_text;
pub mod jsonl;
mod label_sets;
pub mod letter;
pub mod libsvm;
pub mod mrf;
pub mod multilabel;
pub mod opaque;
mod pairwise;
pub mod poses;
#[cfg(feature = "highs")]
pub mod programmes;
mod row_labels;
mod row_reader;
mod rows;
mod rules;
mod strings;
pub mod synth;
mod tagged;
pub mod templates;
pub mod text;
pub mod trees;
pub mod weights;
mod words;

#[cfg(test)]
mod tests;

pub use classified::Classified;
pub use columns::Columns;
pub use format::{Appended, FirstLine, Format, FormatEntry, ReadWindows, StreamRules, Windows};
pub use formats::{FORMATS, find, guess, guess_for, guess_line, read, read_with};
pub use label_sets::LabelSets;
pub use multiplane_infer::file::DataError;
pub use opaque::Opaque;
pub use pairwise::NodesAndEdges;
pub use row_reader::{TOO_LONG, is_too_long};
pub use rows::{MAX_FEATURES, Row, SparseRows};
pub use rules::{Column, ReadRules};
pub use strings::Strings;
pub use tagged::Tagged;
pub use trees::Trees;
pub use words::Words;
