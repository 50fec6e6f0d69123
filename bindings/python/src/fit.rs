//! What a training run comes to.

use std::sync::Mutex;

use multiplane::WarmState;
use pyo3::prelude::*;

use crate::model::ModelObject;

/// A finished run: model, report and history.
#[pyclass(frozen, module = "multiplane._core")]
pub(crate) struct Fit {
    #[pyo3(get)]
    pub(crate) model: Py<ModelObject>,
    /// The report of `train --json`.
    #[pyo3(get)]
    pub(crate) summary: String,
    /// One JSON object per line and outer iteration.
    #[pyo3(get)]
    pub(crate) history: String,
    /// What a user should know.
    #[pyo3(get)]
    pub(crate) warnings: Vec<String>,
    /// Since when nothing has moved and why, where that is long.
    #[pyo3(get)]
    pub(crate) standstill: Option<String>,
    /// What is to be said of weights that are far from the optimum.
    #[pyo3(get)]
    pub(crate) doubt: Option<String>,
    /// The exception that ended it early, if one did; the model is what there was by then.
    #[pyo3(get)]
    pub(crate) interrupted: Option<Py<PyAny>>,
    /// sha256 of the training data.
    #[pyo3(get)]
    pub(crate) fingerprint: String,
    /// What the next run can start from.
    pub(crate) warm: Mutex<Option<WarmState>>,
}
