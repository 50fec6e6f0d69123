//! Errors on their way to Python: bad input is a ValueError, a file that cannot be written an OSError, a failure or a panic a
//! RuntimeError.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use multiplane::Error;
use pyo3::PyErr;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// The Python exception for an error of the library.
pub(crate) fn raised(error: Error) -> PyErr {
    match error {
        Error::Input(reason) => PyValueError::new_err(reason),
        Error::Parameter(fault) => PyValueError::new_err(fault.to_string()),
        Error::Failed(reason) => PyRuntimeError::new_err(reason),
        // With its number Python makes it a FileNotFoundError, a PermissionError, ...
        Error::Unwritten(reason, error) => match error.raw_os_error() {
            Some(number) => PyOSError::new_err((number, reason)),
            None => PyOSError::new_err(reason),
        },
    }
}

/// A ValueError.
pub(crate) fn value_error(reason: impl Into<String>) -> PyErr {
    PyValueError::new_err(reason.into())
}

/// Runs library code; a panic there, which is a bug, becomes a RuntimeError instead of an exception that
/// `except Exception` does not catch.
pub(crate) fn guarded<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(panicked(&*panic)))
}

/// The exception for a panic.
pub(crate) fn panicked(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("no message");
    PyRuntimeError::new_err(format!("multiplane has a bug: it panicked: {text}"))
}
