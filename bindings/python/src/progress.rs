//! The command line's progress line, for Python's.

use multiplane::StopSpec;
use multiplane::clock::ClockKind;
use multiplane::observe::{Certificate, Tick};
use multiplane_cli::{RunProgress, StatusPart};
use pyo3::prelude::*;
use serde_json::{Value, from_str, from_value};

use crate::errors::value_error;

/// The progress of a fit, in the parts of its line.
#[pyclass]
pub(crate) struct Progress(RunProgress);

#[pymethods]
impl Progress {
    /// The progress of a fit with these stops, as JSON text. Stops that cannot be read are left out, as the fit refuses
    /// them itself.
    #[new]
    fn new(label: &str, stop: &str, clock: &str) -> Self {
        let stop: StopSpec = from_str(stop).unwrap_or_default();
        let clock = if clock == "wall" { ClockKind::Wall } else { ClockKind::Work };
        Progress(RunProgress::new(label, stop.gap, stop, clock))
    }

    /// Hears of a record, as JSON text, after so many seconds.
    fn hear(&mut self, record: &str, seconds: f64) -> PyResult<()> {
        let unread = |error: serde_json::Error| value_error(error.to_string());
        let record: Value = from_str(record).map_err(unread)?;
        let watched = &record["early_stopping"];
        let watched = watched["loss"].as_f64().zip(watched["since"].as_u64());
        let certificate: Certificate = from_value(record.clone()).map_err(unread)?;
        self.0.hear(seconds, &certificate, record["gap_estimate"].as_f64(), watched);
        Ok(())
    }

    /// The parts of the line in their order, each with its rank.
    fn parts(&self, passes: f64, calls: u64, seconds: f64) -> Vec<(u8, String)> {
        let tick = Tick { pass: passes, oracle_calls: calls, seconds, ..Tick::default() };
        self.0.parts(tick).into_iter().map(|part| (part.rank, part.text)).collect()
    }
}

/// Joins the parts that fit into so many columns, in their order: those of the highest rank are left out first.
#[pyfunction]
pub(crate) fn fitted(parts: Vec<(u8, String)>, columns: i64) -> String {
    let parts: Vec<_> = parts.into_iter().map(|(rank, text)| StatusPart::new(rank, text)).collect();
    multiplane_cli::fitted(&parts, usize::try_from(columns).unwrap_or(0))
}
