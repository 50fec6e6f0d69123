//! An observer that keeps records.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use multiplane::observe::{Observer, Record};

/// Keeps the records of a run for later. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct RecordKeeper(Arc<Mutex<Vec<Record>>>);

impl RecordKeeper {
    /// Returns the records so far.
    pub(crate) fn records(&self) -> Vec<Record> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Observer for RecordKeeper {
    fn evaluated(&mut self, record: &Record) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(record.clone());
        Ok(())
    }
}
