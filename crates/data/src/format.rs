//! Entries of the registry of data formats; each reader has its entry next to it.

use std::fmt;
use std::path::Path;

use multiplane_infer::file::{DataError, Lines};

use super::rules::ReadRules;
use crate::dataset::Dataset;

/// Reads a file, plain or gzip, by the rules that its format knows.
pub type ReadFile = fn(&Path, &ReadRules) -> Result<Dataset, DataError>;

/// Begins to read a stream in windows.
pub type ReadWindows = fn(Lines, StreamRules) -> Box<dyn Windows>;

/// The rules of a stream, besides those of its format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamRules {
    /// Label names; if unknown, those of the first window.
    pub labels: Option<Vec<i64>>,
    /// Most features; if not given, as many as the format allows.
    pub features: Option<u32>,
    /// True if the last line needs its end, as a stream may break off.
    pub whole_lines: bool,
    /// True if a window ends as soon as nothing more of the stream has arrived.
    pub prompt: bool,
    /// True if the lines read are kept, for [`Windows::take_text`].
    pub keep_text: bool,
    /// The rules of a reader of files.
    pub reading: ReadRules,
}

/// A stream that is read in windows: so many examples at a time, in their order.
pub trait Windows {
    /// Reads the next `most` examples, or what is left of them; `None` at the end. Examples before a fault come first,
    /// and the fault is told when the next ones are asked for; after it there are none.
    ///
    /// # Errors
    ///
    /// The stream cannot be read, or a line breaks a rule; the place is told.
    fn next(&mut self, most: usize) -> Result<Option<Dataset>, DataError>;

    /// Returns the lines that were read since it was last asked, with their ends, where the rules say that they are
    /// kept.
    fn take_text(&mut self) -> String;
}

/// True if a file that begins with this line is one of the format.
pub type GuessRule = fn(&FirstLine<'_>) -> bool;

/// The way to append predictions to the lines of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// A column to the line of each token.
    Tokens,
    /// A column to each row of a table.
    Rows,
}

/// A format of data files with a reader of its own.
pub struct FormatEntry {
    /// The name that users give.
    pub name: &'static str,
    /// Its look, in one line.
    pub description: &'static str,
    /// Reads a file.
    pub read: ReadFile,
    /// The way to append predictions to its lines, if there is one.
    pub appended: Option<Appended>,
    /// Reads a stream in windows, where the format can be read so.
    pub windows: Option<ReadWindows>,
    /// Endings of the names that such files have (`csv`), or whole names (`letter.data`).
    pub names: &'static [&'static str],
    /// A test by which a first line of the format is known, with its rank. Formats are asked by ascending rank: a rule
    /// that takes more lines comes later. A line in which something is amiss should still be known by the rest of it,
    /// so that the reader says what.
    pub known_by: Option<(u8, GuessRule)>,
    /// A test of first lines that are taken for ones of the format if a task reads no other that they could be of.
    pub likely: Option<GuessRule>,
    /// The tensor by which a safetensors container of the format is known.
    pub tensor: Option<&'static str>,
}

/// A format.
pub type Format = &'static FormatEntry;

/// The first line of a file that is neither blank nor a comment.
pub struct FirstLine<'a> {
    /// The line up to a `#`.
    pub text: &'a str,
    /// True if the file's name is one of the format that is asked.
    pub is_named: bool,
}

impl FormatEntry {
    /// Makes a format that is never guessed.
    pub const fn new(name: &'static str, description: &'static str, read: ReadFile) -> Self {
        FormatEntry {
            name,
            description,
            read,
            appended: None,
            windows: None,
            names: &[],
            known_by: None,
            likely: None,
            tensor: None,
        }
    }

    /// Returns true if the format is one of tables, whose columns users may speak of.
    pub(super) fn is_table(&self) -> bool {
        self.appended == Some(Appended::Rows)
    }

    /// Returns true if a rule of the format takes a file that begins with this line.
    pub(super) fn takes(&self, rule: Option<GuessRule>, text: &str, path: &Path) -> bool {
        rule.is_some_and(|rule| rule(&FirstLine { text, is_named: self.is_name(path) }))
    }

    /// Returns true if files of the format are named so; a `.gz` at the end does not count.
    pub fn is_name(&self, path: &Path) -> bool {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        name.rsplit_once('.').is_some_and(|(_, ending)| self.names.iter().any(|own| *own == ending || *own == name))
    }
}

impl PartialEq for FormatEntry {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for FormatEntry {}

impl fmt::Debug for FormatEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
