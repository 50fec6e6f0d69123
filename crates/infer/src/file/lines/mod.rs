//! Lines of a data file, and reading numbers off them.
//!
//! Memory is one line. Its length is limited, so that a file without line ends is not swallowed whole.

use super::error::{DataError, human_bytes, quote};
use super::source::Source;
use std::path::Path;

const LINE_LIMIT: usize = 16 << 20;

/// Most blank lines that compressed data may have in a row: no honest file has millions, and a small one could hold
/// billions.
const MOST_BLANK: u64 = 1 << 22;

/// The lines of a file, one at a time, out of one buffer.
pub struct Lines {
    source: Source,
    buffer: Vec<u8>,
    /// Lines handed out so far.
    count: u64,
    /// True if the last of them had its end.
    ended: bool,
    /// Blank lines since the last one with content.
    blank: u64,
    most_blank: u64,
    /// Lines handed out, where they are kept.
    kept: Option<String>,
}

impl Lines {
    /// Opens a file.
    ///
    /// # Errors
    /// Those of [`Source::open`].
    pub fn open(path: &Path) -> Result<Self, DataError> {
        Source::open(path).map(Lines::of)
    }

    /// Reads the lines of bytes in memory, as if they were the file `path`.
    ///
    /// # Errors
    /// Those of [`Source::from_bytes`].
    pub fn from_bytes(path: impl AsRef<Path>, bytes: &[u8]) -> Result<Self, DataError> {
        Source::from_bytes(path, bytes).map(Lines::of)
    }

    /// Reads the lines of an open file.
    pub fn of(source: Source) -> Self {
        Lines { source, buffer: Vec::new(), count: 0, ended: true, blank: 0, most_blank: MOST_BLANK, kept: None }
    }

    /// Reads the next line without its end (`\n` or `\r\n`) and without a byte order mark before it, or `None` at the
    /// end of the file.
    ///
    /// # Errors
    /// A line over 16 MiB, text that is not UTF-8, gzip data that are damaged, cut off, wildly expanding, or blank for
    /// millions of lines.
    pub fn next_line(&mut self) -> Result<Option<Line<'_>>, DataError> {
        self.buffer.clear();
        self.source.line(LINE_LIMIT as u64 + 2, &mut self.buffer, self.count)?;
        if self.buffer.is_empty() {
            return Ok(None);
        }
        self.ended = self.buffer.ends_with(b"\n");
        if self.ended {
            self.buffer.pop();
            if self.buffer.ends_with(b"\r") {
                self.buffer.pop();
            }
        }
        self.count += 1;
        self.check_blank()?;
        if let Some(mut kept) = self.kept.take() {
            kept.push_str(self.line()?.text);
            kept.push('\n');
            self.kept = Some(kept);
        }
        self.line().map(Some)
    }

    /// Keeps the lines that are handed out from now on.
    pub fn keep(&mut self) {
        self.kept = Some(String::new());
    }

    /// Returns the lines kept so far, each with `\n` at its end, and forgets them.
    pub fn take_kept(&mut self) -> String {
        self.kept.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Returns true if the whole next line has arrived, so that reading it does not wait.
    pub fn has_arrived(&self) -> bool {
        self.source.arrived().contains(&b'\n')
    }

    /// Refuses compressed data that goes on and on without content: a gigabyte of line ends would take long to refuse.
    fn check_blank(&mut self) -> Result<(), DataError> {
        let is_blank = self.buffer.iter().all(u8::is_ascii_whitespace);
        self.blank = if is_blank { self.blank + 1 } else { 0 };
        if self.blank <= self.most_blank || !self.source.is_gzip() {
            return Ok(());
        }
        let message = format!("found more than {} blank lines in a row, expected data", self.most_blank);
        Err(DataError::at(self.source.path(), self.count, 1, message))
    }

    /// Returns the line that was handed out last, for whoever had no use for it yet.
    ///
    /// # Errors
    /// None that it was not handed out with.
    pub fn current(&self) -> Result<Line<'_>, DataError> {
        self.line()
    }

    fn line(&self) -> Result<Line<'_>, DataError> {
        let (path, number) = (self.source.path(), self.count);
        if self.buffer.len() > LINE_LIMIT {
            let limit = human_bytes(LINE_LIMIT as u128);
            let message = format!("found a line longer than {limit}, expected shorter ones");
            return Err(DataError::at(path, number, 1, message));
        }
        let text = match std::str::from_utf8(&self.buffer) {
            Ok(text) => text,
            Err(error) => {
                let at = error.valid_up_to();
                let message = format!("found byte 0x{:02x}, expected UTF-8 text", self.buffer[at]);
                return Err(DataError::at(path, number, column(&self.buffer, at), message));
            }
        };
        // Spreadsheets begin files with a mark, and files that are joined have it within.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Ok(Line { path, number, text })
    }

    /// Reads the next line of a stream whose last line must have its end, too: else nobody can tell a line from half of
    /// one.
    ///
    /// # Errors
    /// Those of [`next_line`](Lines::next_line), and a line that breaks off.
    pub fn next_whole_line(&mut self) -> Result<Option<Line<'_>>, DataError> {
        if self.next_line()?.is_none() {
            return Ok(None);
        }
        let line = self.line()?;
        match self.ended {
            true => Ok(Some(line)),
            false => {
                Err(line.error(line.text.len(), "found the end of the stream within a line, expected the rest of it"))
            }
        }
    }

    /// Makes the error of a file without content; `expected` says what a file must hold.
    pub fn nothing(&self, expected: &str) -> DataError {
        let found = match (self.count, self.source.is_gzip()) {
            (0, false) => "an empty file",
            (0, true) => "gzip data of an empty file",
            _ => "only blank lines or comments",
        };
        DataError::file(self.path(), format!("found {found}, expected {expected}"))
    }

    /// Returns the file, as it was given.
    pub fn path(&self) -> &Path {
        self.source.path()
    }

    /// Returns the number of lines handed out so far.
    pub fn count(&self) -> u64 {
        self.count
    }
}

/// One line; offsets into `text` are in bytes.
#[derive(Clone, Copy)]
pub struct Line<'a> {
    /// The file, as it was given.
    pub path: &'a Path,
    /// Counts from 1.
    pub number: u64,
    /// Without its end.
    pub text: &'a str,
}

impl Line<'_> {
    /// Makes an error at byte `at` of this line.
    #[cold]
    pub fn error(&self, at: usize, message: impl Into<String>) -> DataError {
        DataError::at(self.path, self.number, self.column(at), message)
    }

    /// Makes an error about one field: `found FIELD as WHAT, expected RULE`.
    #[cold]
    pub fn bad(&self, at: usize, field: &str, what: &str, rule: &str) -> DataError {
        self.error(at, format!("found {} as {what}, expected {rule}", quote(field)))
    }

    /// Returns the column, in characters from 1, of byte `at`.
    pub fn column(&self, at: usize) -> u64 {
        column(self.text.as_bytes(), at)
    }

    /// Reads a field that must be a finite number. Costs next to nothing for one digit, which most pixels are.
    ///
    /// # Errors
    /// Anything else, named by `what` with its line and column.
    pub fn finite(&self, at: usize, field: &str, what: &str) -> Result<f64, DataError> {
        if let [digit @ b'0'..=b'9'] = field.as_bytes() {
            return Ok(f64::from(digit - b'0'));
        }
        match field.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err(self.bad(at, field, what, "a finite number")),
        }
    }
}

fn column(bytes: &[u8], at: usize) -> u64 {
    let continues = |byte: &&u8| **byte & 0xc0 == 0x80; // inner byte of a character
    let before = &bytes[..at.min(bytes.len())];
    (before.len() - before.iter().filter(continues).count() + 1) as u64
}

/// Appends a number in the shortest form that reads back as the same double.
pub fn push_number(line: &mut String, value: f64) {
    use std::fmt::Write;
    let plain = value == 0.0 || (1e-5..1e16).contains(&value.abs());
    // Writing to a string cannot fail.
    let _ = if plain { write!(line, "{value}") } else { write!(line, "{value:e}") };
}

#[cfg(test)]
mod tests;
