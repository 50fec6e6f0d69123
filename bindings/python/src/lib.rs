//! `multiplane._core`: what the Python package needs of the Rust library, and nothing that users see.
//!
//! Data comes in as arrays or file names, specifications and reports cross as JSON text, models as the bytes of their
//! files. Parameters are defined in the Rust config structs alone; `describe` hands them
//! over.

mod arrays;
mod command;
mod dataset;
mod describe;
mod errors;
mod examples;
mod features;
mod fit;
mod forecast;
mod infer;
mod interrupt;
mod learner;
mod look;
mod model;
mod parts;
mod path;
mod probe;
mod remote;
mod task;
mod train;
mod watch;
mod worker;

use pyo3::prelude::*;

/// The module that Python imports.
#[pymodule(gil_used = true)]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::command::run_command;
    #[pymodule_export]
    use crate::dataset::Dataset;
    #[pymodule_export]
    use crate::describe::describe;
    #[pymodule_export]
    use crate::examples::dataset;
    #[pymodule_export]
    use crate::fit::Fit;
    #[pymodule_export]
    use crate::forecast::Forecast;
    #[pymodule_export]
    use crate::infer::{Energies, engines, read_problem};
    #[pymodule_export]
    use crate::learner::Learner;
    #[pymodule_export]
    use crate::look::{feature_names, feature_rows, look};
    #[pymodule_export]
    use crate::model::{Model, PathModel, load};
    #[pymodule_export]
    use crate::path::path;
    #[pymodule_export]
    use crate::probe::{check, check_data};
    #[pymodule_export]
    use crate::task::UserTask;
    #[pymodule_export]
    use crate::train::train;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
