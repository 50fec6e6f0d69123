//! Answers as Python takes them: tuples, with labels as the bytes of an array of 32 bit integers.

use multiplane::infer::Answer;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

/// `(labels, energy, bound, exact, engine, seconds, iterations, stopped)`; no labels where no allowed ones were found.
pub(crate) type Found = (Option<Py<PyByteArray>>, f64, f64, bool, &'static str, f64, u64, &'static str);

/// An answer with its labels.
pub(crate) fn found(
    py: Python<'_>,
    labels: &[u32],
    answer: Answer,
    engine: &'static str,
    seconds: f64,
    stopped: &'static str,
) -> PyResult<Found> {
    let Answer { energy, bound, iterations } = answer;
    let labels = if energy < f64::INFINITY { Some(label_bytes(py, labels)?) } else { None };
    let stopped = if answer.is_exact() { "" } else { stopped };
    Ok((labels, energy, bound, answer.is_exact(), engine, seconds, iterations, stopped))
}

/// The bytes of labels as native 32 bit integers.
pub(crate) fn label_bytes(py: Python<'_>, labels: &[u32]) -> PyResult<Py<PyByteArray>> {
    let fill = |bytes: &mut [u8]| {
        let (chunks, _) = bytes.as_chunks_mut::<4>();
        chunks.iter_mut().zip(labels).for_each(|(bytes, label)| *bytes = label.to_ne_bytes());
        Ok(())
    };
    PyByteArray::new_with(py, 4 * labels.len(), fill).map(Bound::unbind)
}
