//! Errors on their way to Python: bad input is a ValueError, a file that cannot be read or written an OSError, a failure or a panic
//! a RuntimeError.

use std::any::Any;
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use multiplane::Error;
use pyo3::PyErr;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde_json::{Map, Value};

/// The Python exception for an error of the library.
pub(crate) fn raised(error: Error) -> PyErr {
    match error {
        Error::Input(reason) => PyValueError::new_err(reason),
        Error::Parameter(fault) => PyValueError::new_err(fault.to_string()),
        Error::Failed(reason) => PyRuntimeError::new_err(reason),
        Error::Unwritten(reason, error) => os_error(&error, reason),
    }
}

/// An OSError; with its number Python makes it a FileNotFoundError, a PermissionError, ...
fn os_error(error: &io::Error, reason: String) -> PyErr {
    match error.raw_os_error() {
        Some(number) => PyOSError::new_err((number, reason)),
        None => PyOSError::new_err(reason),
    }
}

/// The Python exception for an error of the library that reading this file has led to: where the system does not let it be
/// read, an OSError, as that of Python's `open`.
pub(crate) fn unread(path: &Path, error: Error) -> PyErr {
    match (error, refusal(path)) {
        (Error::Input(reason), Some(system)) => os_error(&system, reason),
        (error, _) => raised(error),
    }
}

/// What the system says against reading a file. Pipes and the like are not asked: they would wait.
fn refusal(path: &Path) -> Option<io::Error> {
    let asked = std::fs::metadata(path).and_then(|facts| match facts.is_file() || facts.is_dir() {
        true => std::fs::File::open(path)?.read(&mut [0]).map(|_| ()),
        false => Ok(()),
    });
    asked.err().filter(|error| error.raw_os_error().is_some())
}

/// A ValueError.
pub(crate) fn value_error(reason: impl Into<String>) -> PyErr {
    PyValueError::new_err(reason.into())
}

/// The tree of a specification, of JSON text.
pub(crate) fn tree_of(spec: &str) -> PyResult<Map<String, Value>> {
    serde_json::from_str(spec).map_err(|_| value_error("the specification is no JSON object"))
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
