//! The bytes of a file, read once: what becomes of the file later changes nothing.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use multiplane_infer::file::DataError;

/// A part of a file's bytes. A clone costs nothing.
#[derive(Clone, Debug)]
pub struct Bytes {
    whole: Arc<Vec<u8>>,
    range: Range<usize>,
}

impl Bytes {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is no regular file, or is larger than the memory that the system gives.
    pub fn open(path: &Path) -> Result<Bytes, DataError> {
        let fault = |error: std::io::Error| DataError::file(path, error.to_string());
        if !std::fs::metadata(path).map_err(fault)?.is_file() {
            return Err(DataError::file(path, "a container must be a regular file"));
        }
        let whole = std::fs::read(path).map_err(fault)?;
        let range = 0..whole.len();
        Ok(Bytes { whole: Arc::new(whole), range })
    }

    /// Returns a part of these bytes.
    pub fn part(&self, range: Range<usize>) -> Bytes {
        let start = self.range.start;
        Bytes { whole: self.whole.clone(), range: start + range.start..start + range.end }
    }

    /// Returns the bytes.
    pub fn as_slice(&self) -> &[u8] {
        &self.whole[self.range.clone()]
    }
}
