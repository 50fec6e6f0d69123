//! Learning from a stream: what `partial_fit` stands on.

use std::sync::{Mutex, MutexGuard, PoisonError};

use multiplane::{Error, Learner, StreamSpec, StreamSummary};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::dataset::DatasetObject;
use crate::errors::{guarded, raised, tree_of};
use crate::model::ModelObject;

/// A learner of a stream.
#[pyclass(frozen, name = "Learner", module = "multiplane._core")]
pub(crate) struct LearnerObject {
    inner: Mutex<Learner>,
}

impl LearnerObject {
    fn lock(&self) -> MutexGuard<'_, Learner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl LearnerObject {
    /// Begins; `spec` is the tree of a run and a stream as JSON text.
    #[new]
    fn new(spec: &str) -> PyResult<LearnerObject> {
        guarded(|| {
            let (stream, run) = StreamSpec::take(&mut tree_of(spec)?).map_err(raised)?;
            let inner = Mutex::new(Learner::new(run, stream).map_err(raised)?);
            Ok(LearnerObject { inner })
        })
    }

    /// Predicts the examples of a piece, then learns from them, in windows of the stream's size: all or none; returns the mean
    /// loss of the predictions.
    fn learn(&self, py: Python<'_>, data: &DatasetObject) -> PyResult<f64> {
        let data = data.data()?.clone();
        guarded(|| py.detach(|| self.lock().learn_piece(&data).map_err(raised)))
    }

    /// What is to be said where more examples have come than `stream.n` announced.
    fn length_warning(&self) -> Option<String> {
        self.lock().length_warning(false)
    }

    /// What is to be said where lambda has no effect.
    fn lambda_warning(&self) -> Option<String> {
        self.lock().lambda_warning()
    }

    /// The model as it stands.
    fn model(&self) -> PyResult<ModelObject> {
        guarded(|| Ok(self.lock().model().map_err(raised)?.into()))
    }

    /// The report as JSON text.
    fn summary(&self) -> PyResult<String> {
        serde_json::to_string(&StreamSummary::of(&self.lock()))
            .map_err(|error| raised(Error::failed(error.to_string())))
    }

    /// What there is as bytes.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &guarded(|| self.lock().save().map_err(raised))?))
    }

    /// Goes on from what `save` wrote.
    fn restore(&self, state: &[u8]) -> PyResult<()> {
        guarded(|| self.lock().restore(state).map_err(raised))
    }
}
