//! A user's task and its examples, taken apart once, for all who ask it.

use std::sync::{Arc, Mutex, PoisonError};

use multiplane_tasks::foreign::{DeclaredQuality, Shape};
use pyo3::prelude::*;

use crate::errors::value_error;

/// A labelling, shared.
pub(crate) type Label = Arc<Py<PyAny>>;

/// Workers elsewhere.
pub(crate) struct Processes {
    /// `start(xs, ys)` starts one: an object with `send(number, message)`, `receive(seconds)` and `kill()`.
    pub(crate) start: Py<PyAny>,
    /// Number of workers.
    pub(crate) workers: usize,
    /// True if the asking thread is one of them; false if they are on a cluster.
    pub(crate) here: bool,
    /// Seconds that an answer may take.
    pub(crate) timeout: f64,
}

/// A task and its examples.
pub(crate) struct Parts {
    pub(crate) decode: Py<PyAny>,
    pub(crate) decode_many: Option<Py<PyAny>>,
    /// Features and losses of many labellings at once, if the task has a method for that.
    pub(crate) describe_many: Option<Py<PyAny>>,
    /// The workers elsewhere, if there are some.
    pub(crate) processes: Option<Processes>,
    pub(crate) features: Py<PyAny>,
    pub(crate) loss: Py<PyAny>,
    /// The part of the score that is not learned, if there is one.
    pub(crate) fixed: Option<Py<PyAny>>,
    /// The excess of the bound of each example's last answer over the score of its labelling: infinite without a bound,
    /// NaN before the first answer.
    pub(crate) loose: Arc<Mutex<Vec<f64>>>,
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
            describe_many: self.describe_many.as_ref().map(method),
            processes: self.processes.as_ref().map(|all| Processes { start: method(&all.start), ..*all }),
            features: method(&self.features),
            loss: method(&self.loss),
            fixed: self.fixed.as_ref().map(method),
            loose: Arc::new(Mutex::new(vec![f64::NAN; examples.len()])),
            bounded: method(&self.bounded),
            xs: chosen(&self.xs),
            ys: chosen(&self.ys),
            declared: self.declared,
            batch: self.batch,
            shape: Shape { examples: examples.len(), ..self.shape.clone() },
        }
    }

    /// Takes what `decode` returned apart: a labelling, with its bound where the task declares bounds and gave one
    /// that is not infinite.
    pub(crate) fn split(&self, answer: Bound<'_, PyAny>) -> PyResult<(Py<PyAny>, Option<f64>)> {
        if self.has_bounds() && answer.is_instance(self.bounded.bind(answer.py()))? {
            let (label, bound): (Py<PyAny>, f64) = answer.extract()?;
            return Ok((label, (bound != f64::INFINITY).then_some(bound)));
        }
        Ok((answer.unbind(), None))
    }

    /// The part of a labelling's score that is not learned.
    pub(crate) fn fixed_score(&self, py: Python<'_>, example: usize, label: &Py<PyAny>) -> PyResult<f64> {
        let Some(fixed) = &self.fixed else { return Ok(0.0) };
        let found = fixed.bind(py).call1((self.xs[example].bind(py), label.bind(py)))?;
        match found.extract::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err(value_error(format!(
                "example {example}: fixed_score(x, y) returned {found}: expected a finite number"
            ))),
        }
    }

    /// True if the task declares bounds.
    pub(crate) fn has_bounds(&self) -> bool {
        self.declared == Some(DeclaredQuality::UpperBound)
    }

    /// Returns by how much bounds exceed scores, example by example.
    pub(crate) fn loose(&self) -> Vec<f64> {
        self.loose.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
