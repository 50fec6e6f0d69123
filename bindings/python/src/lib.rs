//! `multiplane._core`: what the Python package needs of the Rust library, and nothing that users see.
//!
//! Data comes in as arrays or file names, specifications and reports cross as JSON text, models as the bytes of their
//! files. Parameters are defined in the Rust config structs alone; `describe` hands them
//! over.

mod arrays;
mod attributes;
mod checkpoints;
mod dataset;
mod describe;
mod errors;
mod examples;
mod features;
mod infer;
mod interrupt;
mod learner;
mod look;
mod model;
mod parts;
mod path;
mod probe;
mod programme;
mod progress;
mod remote;
mod shard;
mod task;
mod train;
mod watch;
mod worker;

/// The module that Python imports.
#[pyo3::pymodule(gil_used = true)]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::{
        dataset::DatasetObject,
        describe::describe,
        examples::dataset,
        infer::{Energies, read_problem},
        learner::LearnerObject,
        look::{detections, feature_names, feature_rows, look, report},
        model::{ModelObject, PathModelObject, load},
        path::path,
        probe::{check, check_data},
        programme::ProgrammeObject,
        progress::{Progress, fitted},
        shard::{CoordinatorObject, ShardData, ShardObject, merge_facts, verify_parts},
        task::UserTask,
        train::{Fit, influence, train},
    };

    /// Runs a command line, the program's name first, and returns the exit code, as `multiplane_cli::run`. From here on the
    /// process is the command's: Ctrl-C and SIGTERM no longer come to Python.
    #[pyfunction]
    fn run_command(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
        py.detach(|| multiplane_cli::run(arguments))
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
