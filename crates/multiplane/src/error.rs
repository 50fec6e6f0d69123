//! Kinds of failure, which the command line maps to its exit codes.

use multiplane_core::oracle::OracleError;
use multiplane_core::parameter::ParameterError;
use multiplane_core::run::RunError;
use multiplane_infer::file::one_line;
use multiplane_tasks::data::DataError;
use multiplane_tasks::problem::OpenError;

/// Why something did not work, in one line: what it repeats of a file is bounded, and adds no lines.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something impossible was asked for: bad data, parameter, model or path (exit code 2).
    #[error("{}", one_line(.0))]
    Input(String),
    /// A parameter is at fault (exit code 2).
    #[error("{}", one_line(&.0.to_string()))]
    Parameter(#[from] ParameterError),
    /// It ran, but failed: full disk, oracle error, overflow (exit code 1).
    #[error("{}", one_line(.0))]
    Failed(String),
    /// A file could not be written: full disk, no such directory (exit code 1). With the message the reason.
    #[error("{}", one_line(.0))]
    Unwritten(String, std::io::Error),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Text of a file, a parameter or a program cannot add lines of its own, whatever kind of failure tells of it.
    #[test]
    fn errors_are_lines() {
        let parameter = ParameterError::new("lambda", "x\nerror: y", "must be a number");
        for error in [Error::input("x\nerror: y"), Error::failed("x\nerror: y"), parameter.into()] {
            assert!(!error.to_string().contains('\n') && error.to_string().contains("x\\nerror: y"), "{error}");
        }
        assert!(Error::input("x".repeat(1 << 20)).to_string().len() < 4096);
    }
}
