//! Lines of a data file, plain or gzip: opening, decompressing, counting, and reading numbers off them.
//!
//! Memory is one line and two 64 KiB buffers. Hostile files are stopped by two limits: the length of a line,
//! and what compressed data may expand to.

use super::error::{DataError, human_bytes, quote};
use flate2::bufread::MultiGzDecoder;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

const LINE_LIMIT: usize = 16 << 20;
const EXPANDED_FLOOR: u64 = 1 << 30;
const EXPANDED_RATIO: u64 = 200;
const BUFFER: usize = 1 << 16;
const GZIP: &[u8] = &[0x1f, 0x8b];

/// Other containers that data sets are published in, by the bytes that they begin with.
const CONTAINERS: [(&str, &[u8]); 4] =
    [("bzip2", b"BZh91AY&SY"), ("xz", b"\xfd7zXZ\0"), ("zstd", b"\x28\xb5\x2f\xfd"), ("zip", b"PK\x03\x04")];

/// The lines of a file, one at a time, out of one buffer.
pub(super) struct Lines {
    path: PathBuf,
    source: BufReader<Box<dyn Read>>,
    buffer: Vec<u8>,
    /// Lines handed out so far.
    count: u64,
    expanded_bytes: u64,
    expanded_limit: u64,
    gzip: bool,
}

impl Lines {
    /// Opens a file and finds out whether it is compressed.
    pub(super) fn open(path: &Path) -> Result<Self, DataError> {
        let facts = fs::metadata(path).map_err(|error| refused(path, &error))?;
        if facts.is_dir() {
            return Err(DataError::file(path, "found a directory, expected a data file"));
        }
        let file = File::open(path).map_err(|error| refused(path, &error))?;
        Lines::new(path, file, facts.len())
    }

    fn new(path: &Path, mut file: impl Read + 'static, bytes: u64) -> Result<Self, DataError> {
        let mut head = Vec::new(); // kept apart, as a pipe cannot be read twice
        let first = file.by_ref().take(10).read_to_end(&mut head);
        first.map_err(|error| refused(path, &error))?;
        for (name, magic) in CONTAINERS {
            if head.starts_with(magic) {
                let message = format!("found {name} data, expected plain text or gzip");
                return Err(DataError::file(path, message));
            }
        }
        let gzip = head.starts_with(GZIP);
        let whole = Cursor::new(head).chain(file);
        let source: Box<dyn Read> = match gzip {
            true => Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER, whole))),
            false => Box::new(whole),
        };
        Ok(Lines {
            path: path.to_path_buf(),
            source: BufReader::with_capacity(BUFFER, source),
            buffer: Vec::new(),
            count: 0,
            expanded_bytes: 0,
            expanded_limit: match gzip {
                true => EXPANDED_FLOOR.max(bytes.saturating_mul(EXPANDED_RATIO)),
                false => u64::MAX,
            },
            gzip,
        })
    }

    /// The next line without its end (`\n` or `\r\n`), or `None` at the end of the file.
    ///
    /// Errors: a line over 16 MiB, text that is not UTF-8, damaged or cut-off or wildly expanding gzip data.
    pub(super) fn next_line(&mut self) -> Result<Option<Line<'_>>, DataError> {
        self.buffer.clear();
        let mut limited = (&mut self.source).take(LINE_LIMIT as u64 + 2);
        let read = limited.read_until(b'\n', &mut self.buffer);
        self.expanded_bytes += read.map_err(|error| self.unreadable(&error))? as u64;
        if self.expanded_bytes > self.expanded_limit {
            let (count, limit) = (self.count, human_bytes(self.expanded_limit.into()));
            let message = format!(
                "found gzip data that expands to more than {limit} (after line {count}), expected at most 1 GiB or {EXPANDED_RATIO} times the compressed size"
            );
            return Err(DataError::file(&self.path, message));
        }
        if self.buffer.is_empty() {
            return Ok(None);
        }
        if self.buffer.ends_with(b"\n") {
            self.buffer.pop();
            if self.buffer.ends_with(b"\r") {
                self.buffer.pop();
            }
        }
        self.count += 1;
        self.line().map(Some)
    }

    fn line(&self) -> Result<Line<'_>, DataError> {
        let (path, number) = (&*self.path, self.count);
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
        let text = match number {
            1 => text.strip_prefix('\u{feff}').unwrap_or(text), // spreadsheets put it there
            _ => text,
        };
        Ok(Line { path, number, text })
    }

    /// The error of a file without content; `expected` says what a file must hold.
    pub(super) fn nothing(&self, expected: &str) -> DataError {
        let found = match (self.count, self.gzip) {
            (0, false) => "an empty file",
            (0, true) => "gzip data of an empty file",
            _ => "only blank lines or comments",
        };
        DataError::file(&self.path, format!("found {found}, expected {expected}"))
    }

    /// The file, as it was given.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn unreadable(&self, error: &io::Error) -> DataError {
        let (found, expected) = match (self.gzip, error.kind()) {
            (true, io::ErrorKind::UnexpectedEof) => ("gzip data that is cut off", "the whole file"),
            (true, _) => ("damaged gzip data", "an intact file"),
            (false, _) => ("a file that cannot be read on", "an intact file"),
        };
        let message = format!("found {found} after line {} ({error}), expected {expected}", self.count);
        DataError::file(&self.path, message)
    }
}

/// One line; offsets into `text` are in bytes.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    path: &'a Path,
    /// Counts from 1.
    pub(super) number: u64,
    /// Without its end.
    pub(super) text: &'a str,
}

impl Line<'_> {
    /// An error at byte `at` of this line.
    #[cold]
    pub(super) fn error(&self, at: usize, message: impl Into<String>) -> DataError {
        DataError::at(self.path, self.number, self.column(at), message)
    }

    /// An error about one field: `found FIELD as WHAT, expected RULE`.
    #[cold]
    pub(super) fn bad(&self, at: usize, field: &str, what: &str, rule: &str) -> DataError {
        self.error(at, format!("found {} as {what}, expected {rule}", quote(field)))
    }

    /// The column, in characters from 1, of byte `at`.
    pub(super) fn column(&self, at: usize) -> u64 {
        column(self.text.as_bytes(), at)
    }

    /// A field that must be a finite number. Costs next to nothing for one digit, which most pixels are.
    pub(super) fn finite(&self, at: usize, field: &str, what: &str) -> Result<f64, DataError> {
        if let [digit @ b'0'..=b'9'] = field.as_bytes() {
            return Ok(f64::from(digit - b'0'));
        }
        match field.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err(self.bad(at, field, what, "a finite number")),
        }
    }

    /// A field that must be a label: an integer, also where it is written like `1.0` or `3e0`.
    pub(super) fn label(&self, at: usize, field: &str) -> Result<i64, DataError> {
        const EXACT: f64 = (1_u64 << 53) as f64; // above it doubles skip integers
        if let Ok(label) = field.parse::<i64>() {
            return Ok(label);
        }
        match field.parse::<f64>() {
            Ok(value) if value.fract() == 0.0 && value.abs() <= EXACT => Ok(value as i64),
            Ok(value) if value.fract() == 0.0 => {
                Err(self.bad(at, field, "label", "an integer of at most 2^53 in size"))
            }
            _ => Err(self.bad(at, field, "label", "an integer")),
        }
    }
}

fn refused(path: &Path, error: &io::Error) -> DataError {
    let found = match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        _ => format!("a file that cannot be read ({error})"),
    };
    DataError::file(path, format!("found {found}, expected a data file"))
}

fn column(bytes: &[u8], at: usize) -> u64 {
    let continues = |byte: &&u8| **byte & 0xc0 == 0x80; // inner byte of a character
    let before = &bytes[..at.min(bytes.len())];
    (before.len() - before.iter().filter(continues).count() + 1) as u64
}

/// Appends a number in the shortest form that reads back as the same double.
pub(super) fn push_number(line: &mut String, value: f64) {
    use std::fmt::Write;
    let plain = value == 0.0 || (1e-5..1e16).contains(&value.abs());
    // Writing to a string cannot fail.
    let _ = if plain { write!(line, "{value}") } else { write!(line, "{value:e}") };
}

#[cfg(test)]
impl Lines {
    /// The lines of bytes in memory, as if they were the file `path`.
    pub(super) fn from_bytes(path: &str, bytes: &[u8]) -> Result<Self, DataError> {
        let source = Cursor::new(bytes.to_vec());
        Lines::new(Path::new(path), source, bytes.len() as u64)
    }
}

/// The bytes as one gzip member.
#[cfg(test)]
pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = flate2::bufread::GzEncoder::new(bytes, flate2::Compression::fast());
    encoder.read_to_end(&mut out).unwrap();
    out
}

/// Parses each case as the file `f` and compares the error's text, so that a table of bad files is one list.
#[cfg(test)]
pub(super) fn assert_errors<T>(parse: fn(Lines) -> Result<T, DataError>, cases: &[(&[u8], &str)]) {
    for (bytes, expected) in cases {
        let shown = String::from_utf8_lossy(bytes);
        match Lines::from_bytes("f", bytes).and_then(parse) {
            Ok(_) => panic!("{shown:?} was accepted, expected: {expected}"),
            Err(error) => assert_eq!(error.to_string(), *expected, "for {shown:?}"),
        }
    }
}

#[cfg(test)]
mod tests;
