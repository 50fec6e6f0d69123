//! The end of a command.

use multiplane::Error;

/// The end of a command that was not refused.
pub(crate) enum Done {
    /// All went well.
    Finished,
    /// It ran, and what it says is a failure.
    Failed,
    /// A signal ended it; what there was is saved.
    Interrupted,
}

impl Done {
    /// Returns the end of a training command, or the failure to write what it should have written.
    pub(crate) fn of(failure: Option<String>, is_interrupted: bool) -> Result<Done, Error> {
        match (failure, is_interrupted) {
            (Some(failure), _) => Err(Error::failed(failure)),
            (None, true) => Ok(Done::Interrupted),
            (None, false) => Ok(Done::Finished),
        }
    }
}
