//! The record file of a run that may be resumed: knows how far it is written, and can be cut back to there.

#[cfg(unix)]
use std::fs::TryLockError;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::container::hexadecimal;
use super::durable::is_special;
use crate::error::Error;

/// The end of the written part of a record file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordPosition {
    /// The file.
    pub path: PathBuf,
    /// Bytes.
    pub bytes: u64,
    /// sha256 of these bytes.
    pub sha256: String,
}

/// A record file, shared by the one who writes it and the one who asks how far it is.
#[derive(Clone)]
pub struct RecordFile {
    path: PathBuf,
    inner: Arc<Mutex<SharedRecord>>,
}

struct SharedRecord {
    file: File,
    bytes: u64,
    hash: Sha256,
}

impl RecordFile {
    /// Creates a new file, in the place of what is there. Devices are written to as they are. The file is locked until
    /// it is dropped: two runs would write between each other's lines.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] with whatever the system says, or where another process writes its record.
    pub fn create(path: &Path) -> Result<RecordFile, Error> {
        let open = || {
            let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
            lock(&file)?;
            if file.metadata()?.is_file() {
                file.set_len(0)?; // not before it is ours
            }
            Ok(file)
        };
        let file = open().map_err(|error: io::Error| Error::input(format!("{}: {error}", path.display())))?;
        Ok(RecordFile::new(path, SharedRecord { file, bytes: 0, hash: Sha256::new() }))
    }

    /// Opens the file as it was at `position`: what was written after that is cut off.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where it cannot be opened, or is another file.
    pub fn reopen(position: &RecordPosition) -> Result<RecordFile, Error> {
        let path = &position.path;
        let refuse = |reason: &dyn std::fmt::Display| Error::input(format!("{}: {reason}", path.display()));
        if is_special(path) {
            return RecordFile::create(path);
        }
        let advice = "give another place for the record";
        let open = OpenOptions::new().read(true).write(true).open(path);
        let mut file = open.map_err(|error| refuse(&format!("the record cannot be continued: {error}: {advice}")))?;
        lock(&file).map_err(|error| refuse(&error))?;
        let (mut hash, mut found) = (Sha256::new(), 0);
        let mut buffer = vec![0; 1 << 16];
        while found < position.bytes {
            let wanted = buffer.len().min((position.bytes - found) as usize);
            match file.read(&mut buffer[..wanted]).map_err(|error| refuse(&error))? {
                0 => break,
                read => {
                    hash.update(&buffer[..read]);
                    found += read as u64;
                }
            }
        }
        if found != position.bytes || hexadecimal(&hash.clone().finalize()) != position.sha256 {
            return Err(refuse(&format!("it is not the record that the checkpoint belongs to: {advice}")));
        }
        let cut = file.set_len(found).and_then(|()| file.seek(SeekFrom::Start(found)));
        cut.map_err(|error| refuse(&error))?;
        Ok(RecordFile::new(path, SharedRecord { file, bytes: found, hash }))
    }

    fn new(path: &Path, inner: SharedRecord) -> RecordFile {
        RecordFile { path: path.into(), inner: Arc::new(Mutex::new(inner)) }
    }

    /// Returns the end of the written part, which is synced first.
    pub fn position(&self) -> RecordPosition {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = inner.file.sync_data(); // a pipe cannot
        let path = std::path::absolute(&self.path).unwrap_or_else(|_| self.path.clone());
        RecordPosition { path, bytes: inner.bytes, sha256: hexadecimal(&inner.hash.clone().finalize()) }
    }
}

/// Locks a record for its writer. Where locks keep readers away as well there is none: records are there to be read.
#[cfg(unix)]
fn lock(file: &File) -> io::Result<()> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) if file.metadata()?.is_file() => {
            Err(io::Error::other("another run is writing its record there"))
        }
        _ => Ok(()), // a file system without locks: better no lock than no record
    }
}

#[cfg(not(unix))]
fn lock(_file: &File) -> io::Result<()> {
    Ok(())
}

impl Write for RecordFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let told = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", self.path.display()));
        let written = inner.file.write(bytes).map_err(told)?;
        inner.bytes += written as u64;
        inner.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Lines after the position are cut off, and writing continues there; another file is refused and left alone.
    #[test]
    fn cut_back_and_continued() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("record");
        let mut file = RecordFile::create(&path).unwrap();
        file.write_all(b"one\n").unwrap();
        let position = file.position();
        file.write_all(b"two\n").unwrap();
        #[cfg(unix)]
        assert!(RecordFile::create(&path).err().unwrap().to_string().contains("another run"));
        #[cfg(unix)]
        assert_eq!(fs::read(&path).unwrap(), b"one\ntwo\n");
        drop(file);
        let mut again = RecordFile::reopen(&position).unwrap();
        again.write_all(b"three\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one\nthree\n");
        assert_eq!(again.position().bytes, 10);
        drop(again);
        for other in ["On", "Oneandmore\n", ""] {
            fs::write(&path, other).unwrap();
            assert!(RecordFile::reopen(&position).is_err());
            assert_eq!(fs::read(&path).unwrap(), other.as_bytes());
        }
        fs::remove_file(&path).unwrap();
        assert!(RecordFile::reopen(&position).is_err());
    }
}
