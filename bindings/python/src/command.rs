//! The command line `multiplane`, for the script that `pip install` puts beside Python.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs a command line, the program's name first, and returns the exit code, as `multiplane_cli::run`. From here on the
/// process is the command's: Ctrl-C and SIGTERM no longer come to Python.
#[pyfunction]
pub(crate) fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| multiplane_cli::run(arguments))
}
