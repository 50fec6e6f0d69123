//! The command line's forecast of a run's end, for Python's progress line.

use multiplane::StopSpec;
use multiplane::observe::Tick;
use pyo3::prelude::*;

/// When a fit will end, by the stops of its specification. `unit` is what seconds are called.
#[pyclass]
pub(crate) struct Forecast {
    inner: multiplane_cli::Eta,
    unit: String,
}

fn tick(passes: f64, calls: u64, seconds: f64) -> Tick {
    Tick { pass: passes, oracle_calls: calls, seconds, ..Tick::default() }
}

#[pymethods]
impl Forecast {
    /// Of stops as JSON text; those that cannot be read are none, as the fit refuses them itself.
    #[new]
    fn new(stop: &str, unit: String) -> Self {
        let stop: StopSpec = serde_json::from_str(stop).unwrap_or_default();
        Forecast { inner: multiplane_cli::Eta::new(stop.gap, stop), unit }
    }

    fn push(&mut self, seconds: f64, gap: f64, primal: f64) {
        self.inner.push(seconds, gap, primal);
    }

    #[getter]
    fn wanted(&self) -> f64 {
        self.inner.wanted()
    }

    #[getter]
    fn unit(&self) -> &str {
        &self.unit
    }

    fn share(&self, passes: f64, calls: u64, seconds: f64) -> f64 {
        self.inner.share(tick(passes, calls, seconds))
    }

    fn remaining(&self, passes: f64, calls: u64, seconds: f64) -> String {
        self.inner.remaining(tick(passes, calls, seconds), &self.unit)
    }
}
