//! A data file that only an external program can read: its path, and a digest of its bytes.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::format::FormatEntry;
use crate::dataset::{Data, Dataset};
use multiplane_infer::file::DataError;

/// The format as users name it; it is never guessed.
pub const FORMAT: FormatEntry =
    FormatEntry::new("opaque", "anything that an external program reads (task `external`)", |path, _| {
        Opaque::read(path).map(Dataset::new)
    });

/// Data for an external program: a file, anything else that has a path, or nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opaque {
    path: Option<PathBuf>,
    digest: Option<[u8; 32]>,
}

impl Opaque {
    /// Takes the digest of a regular file; of a folder, pipe or device only that it is there.
    ///
    /// # Errors
    ///
    /// The path cannot be looked at or read.
    pub fn read(path: &Path) -> Result<Opaque, DataError> {
        let fault = |error: std::io::Error| DataError::file(path, error.to_string());
        let meta = std::fs::metadata(path).map_err(fault)?;
        let mut digest = None;
        if meta.is_file() {
            let mut file = File::open(path).map_err(fault)?;
            let (mut sha, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
            loop {
                match file.read(&mut buffer).map_err(fault)? {
                    0 => break,
                    count => sha.update(&buffer[..count]),
                }
            }
            digest = Some(sha.finalize().into());
        }
        Ok(Opaque { path: Some(path.into()), digest })
    }

    /// Returns where it is.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Returns true if the digest is of the content: no data, or a regular file.
    pub fn is_hashed(&self) -> bool {
        self.digest.is_some()
    }

    /// Returns the sha256 of the file's bytes; zeros where there is no file.
    pub fn digest(&self) -> [u8; 32] {
        self.digest.unwrap_or_default()
    }
}

impl Data for Opaque {
    fn len(&self) -> usize {
        0
    }
    fn subset(&self, _examples: &[usize]) -> Dataset {
        Dataset::new(self.clone())
    }
    fn describe(&self) -> &'static str {
        "data for an external program (opaque)"
    }
    fn hash_into(&self, sha: &mut Sha256) {
        sha.update(b"opaque");
        sha.update(self.digest());
    }
}
