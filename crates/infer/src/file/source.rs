//! The bytes of a data file, decompressed where they are gzip, out of two 64 KiB buffers.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::mem;
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use super::error::{DataError, human_bytes};

const EXPANDED_FLOOR: u64 = 1 << 30;
const EXPANDED_RATIO: u64 = 200;
const BUFFER: usize = 1 << 16;
const GZIP: &[u8] = &[0x1f, 0x8b];

/// Other containers that data sets are published in, by the bytes that they begin with.
const CONTAINERS: [(&str, &[u8]); 4] =
    [("bzip2", b"BZh91AY&SY"), ("xz", b"\xfd7zXZ\0"), ("zstd", b"\x28\xb5\x2f\xfd"), ("zip", b"PK\x03\x04")];

/// A data file that is open for reading, plain or gzip.
///
/// Errors on the way tell the line that they came after, which the caller counts.
pub struct Source {
    path: PathBuf,
    reader: BufReader<Box<dyn Read>>,
    expanded_bytes: u64,
    pub(super) expanded_limit: u64,
    gzip: bool,
}

impl Source {
    /// Opens a file and finds out whether it is compressed.
    ///
    /// # Errors
    /// The file is missing, a directory or unreadable, or a container other than gzip.
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let facts = fs::metadata(path).map_err(|error| refused(path, &error))?;
        if facts.is_dir() {
            return Err(DataError::file(path, "found a directory, expected a data file"));
        }
        let file = File::open(path).map_err(|error| refused(path, &error))?;
        Source::new(path, file, facts.len())
    }

    /// Reads bytes in memory, as if they were the file `path`.
    ///
    /// # Errors
    /// Those of [`open`](Source::open) that have to do with content.
    pub fn from_bytes(path: impl AsRef<Path>, bytes: &[u8]) -> Result<Self, DataError> {
        Source::new(path.as_ref(), Cursor::new(bytes.to_vec()), bytes.len() as u64)
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
        let reader: Box<dyn Read> = match gzip {
            true => Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER, whole))),
            false => Box::new(whole),
        };
        let expanded_limit = match gzip {
            true => EXPANDED_FLOOR.max(bytes.saturating_mul(EXPANDED_RATIO)),
            false => u64::MAX,
        };
        let reader = BufReader::with_capacity(BUFFER, reader);
        Ok(Source { path: path.to_path_buf(), reader, expanded_bytes: 0, expanded_limit, gzip })
    }

    /// Reads a stream, plain or gzip, as if it were the file `path`. What it expands to is not limited: whoever reads
    /// it keeps no more than a window of it.
    ///
    /// # Errors
    /// A container other than gzip, and what the system says.
    pub fn stream(path: impl AsRef<Path>, bytes: impl Read + 'static) -> Result<Self, DataError> {
        let source = Source::new(path.as_ref(), bytes, 0)?;
        Ok(Source { expanded_limit: u64::MAX, ..source })
    }

    /// Returns the file, as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether its content is compressed.
    pub fn is_gzip(&self) -> bool {
        self.gzip
    }

    /// Returns lines to come, decompressed, up to the first that is neither blank nor a comment (`#`), or `most`
    /// bytes of them; they are read again afterwards.
    ///
    /// # Errors
    /// What the system says, and compressed data that are damaged.
    pub fn peek(&mut self, most: usize) -> Result<Vec<u8>, DataError> {
        let mut head = Vec::new();
        loop {
            let start = head.len();
            let left = (most - start.min(most)) as u64;
            let read = (&mut self.reader).take(left).read_until(b'\n', &mut head);
            let read = read.map_err(|error| self.unreadable(&error, 0))?;
            let content = head[start..].split(|&byte| byte == b'#').next().unwrap_or_default();
            if read == 0 || !content.iter().all(u8::is_ascii_whitespace) {
                break;
            }
        }
        let nothing: Box<dyn Read> = Box::new(io::empty());
        let rest = mem::replace(&mut self.reader, BufReader::new(nothing));
        let whole: Box<dyn Read> = Box::new(Cursor::new(head.clone()).chain(rest));
        self.reader = BufReader::with_capacity(BUFFER, whole);
        Ok(head)
    }

    /// Returns the bytes that have arrived and were not consumed.
    pub(super) fn arrived(&self) -> &[u8] {
        self.reader.buffer()
    }

    /// Appends the next line with its end, or `limit` bytes of it, and returns how many bytes that were.
    pub(super) fn line(&mut self, limit: u64, line: &mut Vec<u8>, after: u64) -> Result<usize, DataError> {
        let read = (&mut self.reader).take(limit).read_until(b'\n', line);
        let read = read.map_err(|error| self.unreadable(&error, after))?;
        self.count(read, after)?;
        Ok(read)
    }

    /// Returns the bytes that have been read and not consumed; none at the end of the file.
    #[inline]
    pub(crate) fn ready(&mut self, after: u64) -> Result<&[u8], DataError> {
        if self.reader.buffer().is_empty() {
            let read = self.reader.fill_buf().map(<[u8]>::len);
            let read = read.map_err(|error| self.unreadable(&error, after))?;
            self.count(read, after)?;
        }
        Ok(self.reader.buffer())
    }

    /// Takes that many of the bytes that [`ready`](Source::ready) showed.
    #[inline]
    pub(crate) fn consume(&mut self, bytes: usize) {
        self.reader.consume(bytes);
    }

    fn count(&mut self, read: usize, after: u64) -> Result<(), DataError> {
        self.expanded_bytes += read as u64;
        if self.expanded_bytes <= self.expanded_limit {
            return Ok(());
        }
        let limit = human_bytes(self.expanded_limit.into());
        let message = format!(
            "found gzip data that expands to more than {limit} (after line {after}), expected at most \
             1 GiB or {EXPANDED_RATIO} times the compressed size"
        );
        Err(DataError::file(&self.path, message))
    }

    fn unreadable(&self, error: &io::Error, after: u64) -> DataError {
        let (found, expected) = match (self.gzip, error.kind()) {
            (true, io::ErrorKind::UnexpectedEof) => ("gzip data that is cut off", "the whole file"),
            (true, _) => ("damaged gzip data", "an intact file"),
            (false, _) => ("a file that cannot be read on", "an intact file"),
        };
        let message = format!("found {found} after line {after} ({error}), expected {expected}");
        DataError::file(&self.path, message)
    }
}

fn refused(path: &Path, error: &io::Error) -> DataError {
    let found = match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        _ => format!("a file that cannot be read ({error})"),
    };
    DataError::file(path, format!("found {found}, expected a data file"))
}
