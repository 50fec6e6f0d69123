//! The bytes of a file, mapped into memory: what is not looked at is not read, and what is read counts as the system's
//! cache, shared by all processes that map the file.

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;
use multiplane_infer::file::DataError;

/// A part of a file's bytes. A clone costs nothing.
#[derive(Clone, Debug)]
pub struct Bytes {
    map: Arc<Mmap>,
    range: Range<usize>,
}

impl Bytes {
    /// Maps a file.
    ///
    /// The file must stay as it is while it is mapped: writing into it changes the data under a run, and cutting it
    /// short ends the process. Programs that replace files by renaming, as ours do, do no harm.
    ///
    /// # Errors
    ///
    /// The file cannot be opened, or is no regular file.
    pub fn open(path: &Path) -> Result<Bytes, DataError> {
        let fault = |error: std::io::Error| DataError::file(path, error.to_string());
        let file = File::open(path).map_err(fault)?;
        if !file.metadata().map_err(fault)?.is_file() {
            return Err(DataError::file(path, "a container must be a regular file, which can be mapped into memory"));
        }
        // SAFETY: the map is read only, and bytes of any value are valid. That nobody else changes the file is what the
        // documentation asks of the user, as every program that maps files must.
        #[allow(unsafe_code)]
        let map = unsafe { Mmap::map(&file) }.map_err(fault)?;
        let range = 0..map.len();
        Ok(Bytes { map: Arc::new(map), range })
    }

    /// Returns a part of these bytes.
    pub fn part(&self, range: Range<usize>) -> Bytes {
        let start = self.range.start;
        Bytes { map: self.map.clone(), range: start + range.start..start + range.end }
    }

    /// Returns the bytes.
    pub fn as_slice(&self) -> &[u8] {
        &self.map[self.range.clone()]
    }
}
