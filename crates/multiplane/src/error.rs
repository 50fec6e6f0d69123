//! Kinds of failure, which the command line maps to its exit codes.

use multiplane_core::oracle::OracleError;
use multiplane_core::parameter::ParameterError;
use multiplane_core::run::RunError;
use multiplane_tasks::data::DataError;
use multiplane_tasks::problem::OpenError;

/// Why something did not work.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was asked for is not possible: bad data, parameter, model or path (exit code 2).
    #[error("{0}")]
    Input(String),
    /// A parameter is at fault (exit code 2).
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// It ran, but failed: full disk, oracle error, overflow (exit code 1).
    #[error("{0}")]
    Failed(String),
}

impl Error {
    /// Says what is wrong with the input.
    pub fn input(message: impl Into<String>) -> Self {
        Error::Input(message.into())
    }

    /// Says what failed that was rightly asked for.
    pub fn failed(message: impl Into<String>) -> Self {
        Error::Failed(message.into())
    }
}

impl From<DataError> for Error {
    fn from(error: DataError) -> Self {
        Error::Input(error.to_string())
    }
}

impl From<OpenError> for Error {
    fn from(error: OpenError) -> Self {
        Error::Input(error.to_string())
    }
}

impl From<RunError> for Error {
    fn from(error: RunError) -> Self {
        Error::Failed(error.to_string())
    }
}

impl From<OracleError> for Error {
    fn from(error: OracleError) -> Self {
        Error::Failed(error.to_string())
    }
}
