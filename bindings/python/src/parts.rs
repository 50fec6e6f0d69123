//! A user's task and its examples, taken apart once, for all who ask it.

use std::sync::Arc;

use multiplane_tasks::foreign::{DeclaredQuality, Shape};
use pyo3::prelude::*;

/// A labelling, shared.
pub(crate) type Label = Arc<Py<PyAny>>;

/// Workers elsewhere that decode besides the asking thread.
pub(crate) struct Processes {
    /// `start(xs, ys)` starts one: an object with `send(number, message)`, `receive(seconds)` and `kill()`.
    pub(crate) start: Py<PyAny>,
    /// Number of workers, the asking thread among them.
    pub(crate) workers: usize,
    /// Seconds that an answer may take.
    pub(crate) timeout: f64,
}

/// A task and its examples.
pub(crate) struct Parts {
    pub(crate) decode: Py<PyAny>,
    pub(crate) decode_many: Option<Py<PyAny>>,
    /// The workers elsewhere, if there are some.
    pub(crate) processes: Option<Processes>,
    pub(crate) features: Py<PyAny>,
    pub(crate) loss: Py<PyAny>,
    pub(crate) bounded: Py<PyAny>,
    pub(crate) xs: Vec<Py<PyAny>>,
    pub(crate) ys: Vec<Py<PyAny>>,
    /// What the task declares of its decoder, if it does.
    pub(crate) declared: Option<DeclaredQuality>,
    pub(crate) batch: usize,
    pub(crate) shape: Shape,
}

impl Parts {
    /// The same task on some of its examples, by their numbers.
    pub(crate) fn of(&self, py: Python<'_>, examples: &[usize]) -> Parts {
        let method = |method: &Py<PyAny>| method.clone_ref(py);
        let chosen = |all: &[Py<PyAny>]| examples.iter().map(|&i| all[i].clone_ref(py)).collect();
        Parts {
            decode: method(&self.decode),
            decode_many: self.decode_many.as_ref().map(method),
            processes: self.processes.as_ref().map(|all| Processes { start: method(&all.start), ..*all }),
            features: method(&self.features),
            loss: method(&self.loss),
            bounded: method(&self.bounded),
            xs: chosen(&self.xs),
            ys: chosen(&self.ys),
            declared: self.declared,
            batch: self.batch,
            shape: Shape { examples: examples.len(), ..self.shape.clone() },
        }
    }

    /// Takes what `decode` returned apart: a labelling, with its bound where the task declares bounds and gave one.
    pub(crate) fn split(&self, answer: Bound<'_, PyAny>) -> PyResult<(Py<PyAny>, Option<f64>)> {
        let bounded = self.declared == Some(DeclaredQuality::UpperBound);
        if bounded && answer.is_instance(self.bounded.bind(answer.py()))? {
            let (label, bound): (Py<PyAny>, f64) = answer.extract()?;
            return Ok((label, Some(bound)));
        }
        Ok((answer.unbind(), None))
    }
}
