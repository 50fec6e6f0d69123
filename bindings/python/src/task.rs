//! Tasks that users write in Python, as the library's foreign tasks.
//!
//! The oracle runs on the thread that called `fit`, which gives up the interpreter lock while the library works; so
//! the user's methods see the context that they expect, and Ctrl-C reaches them.

use std::sync::{Arc, Mutex};

use multiplane::Problem;
use multiplane_core::executor::PoolStats;
use multiplane_core::oracle::OracleError;
use multiplane_tasks::foreign::{FeatureVector, ForeignProblem, Shape};
use multiplane_tasks::problem::MAX_DIM;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::errors::value_error;
use crate::features;
use crate::interrupt::{Interrupt, interruptible};
use crate::parts::{Parts, Processes};
use crate::remote::Remote;
use crate::worker::PythonWorker;

/// A user's task on examples.
#[pyclass(frozen, module = "multiplane._core")]
pub(crate) struct UserTask {
    pub(crate) parts: Arc<Parts>,
}

/// An attribute, called where it is a method; `None` where it is missing or None.
fn declared<'py>(task: &Bound<'py, PyAny>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    if !task.hasattr(name)? {
        return Ok(None);
    }
    let value = task.getattr(name)?;
    let value = if value.is_callable() { value.call0()? } else { value };
    Ok((!value.is_none()).then_some(value))
}

#[pymethods]
impl UserTask {
    /// Takes a task (`dim`, `features`, `loss`, `decode`) and lists of inputs and labels. `identity` says what it is
    /// in a model file. With `start`, which starts a worker elsewhere for lists of inputs and labels, so many `workers` decode,
    /// the asking thread among them if `here`; each may take `timeout` seconds for an answer.
    #[new]
    #[pyo3(signature = (task, xs, ys, identity, start=None, workers=1, timeout=600.0, here=true))]
    #[allow(clippy::too_many_arguments)] // keywords of one caller
    pub(crate) fn new(
        task: &Bound<'_, PyAny>,
        xs: &Bound<'_, PyList>,
        ys: &Bound<'_, PyList>,
        identity: String,
        start: Option<Py<PyAny>>,
        workers: usize,
        timeout: f64,
        here: bool,
    ) -> PyResult<Self> {
        let py = task.py();
        if xs.is_empty() {
            return Err(value_error("X is empty: expected at least one example"));
        }
        if xs.len() != ys.len() {
            return Err(value_error(format!("X has {} examples, Y has {}", xs.len(), ys.len())));
        }
        let method = |name: &str| -> PyResult<Py<PyAny>> {
            let found = task.getattr(name).ok().filter(|found| found.is_callable());
            found.map(Bound::unbind).ok_or_else(|| {
                let class = task.get_type();
                value_error(format!("the task {class} has no method `{name}`: expected dim, features, loss and decode"))
            })
        };
        let dim = method("dim")?.call0(py)?;
        let shown = dim.bind(py).repr()?;
        let dim: usize =
            dim.extract(py).map_err(|_| value_error(format!("dim() returned {shown}: expected a whole number > 0")))?;
        if dim == 0 || dim > MAX_DIM {
            return Err(value_error(format!("dim() returned {dim}: must be between 1 and {MAX_DIM}")));
        }
        let quality = declared(task, "quality")?.map(|name| {
            let known = name.extract::<String>().unwrap_or_default().replace("upper bound", "upper-bound");
            serde_json::from_value(known.into()).map_err(|_| {
                value_error(format!("quality is {name}: expected \"exact\", \"upper-bound\" or \"heuristic\""))
            })
        });
        let ranges: Vec<(usize, usize)> = match declared(task, "nonnegative")? {
            Some(ranges) => ranges
                .extract()
                .map_err(|_| value_error(format!("nonnegative is {ranges}: expected a list of (start, stop)")))?,
            None => Vec::new(),
        };
        // Processes decode one by one, and who decodes must not change a bit.
        let decode_many = if start.is_some() { None } else { method("decode_many").ok() };
        let processes = start.map(|start| Processes { start, workers, here, timeout });
        let fixed = method("fixed_score").ok();
        let batch = declared(task, "batch")?.map(|batch| batch.extract::<usize>()).transpose()?;
        let shape = Shape {
            examples: xs.len(),
            dim,
            nonnegative: ranges.into_iter().map(|(start, stop)| start..stop).collect(),
            fingerprint: identity,
            has_fixed_scores: fixed.is_some(),
            warnings: Vec::new(),
        };
        let parts = Parts {
            decode: method("decode")?,
            features: method("features")?,
            loss: method("loss")?,
            fixed,
            loose: Arc::new(Mutex::new(vec![f64::NAN; xs.len()])),
            bounded: py.import("multiplane._tasks")?.getattr("Bounded")?.unbind(),
            xs: xs.iter().map(Bound::unbind).collect(),
            ys: ys.iter().map(Bound::unbind).collect(),
            declared: quality.transpose()?,
            batch: if decode_many.is_some() { batch.unwrap_or(256).max(1) } else { 1 },
            decode_many,
            describe_many: method("describe_many").ok(),
            processes,
            shape,
        };
        Ok(UserTask { parts: Arc::new(parts) })
    }

    /// Decodes every example at `w` without the loss, in the workers elsewhere.
    fn decode(&self, py: Python<'_>, w: Vec<f64>) -> PyResult<Vec<Py<PyAny>>> {
        let interrupt = Interrupt::default();
        let problem = self.foreign(py, &interrupt, 0)?;
        let found = interruptible(py, &interrupt, || problem.labels(&w, 1))?;
        match (found, interrupt.take()) {
            (_, Some(stopped)) => Err(stopped),
            (Ok(labels), None) => Ok(labels.iter().map(|label| label.clone_ref(py)).collect()),
            (Err(error), None) => Err(lost_workers(py, &error)?),
        }
    }

    /// The excess of the bound of each example's last answer over the score of its labelling, None if the task declares
    /// no bounds.
    fn loose_bounds(&self) -> Option<Vec<f64>> {
        self.parts.has_bounds().then(|| self.parts.loose())
    }

    /// `(index, value)` pairs that the library reads from what `features` returned; raises for what it refuses.
    #[staticmethod]
    fn read_features(vector: &Bound<'_, PyAny>, dim: usize) -> PyResult<Vec<(u32, f64)>> {
        let mut out = FeatureVector::default();
        features::read(vector, dim, &mut out)?;
        Ok(out.iter().collect())
    }
}

impl UserTask {
    /// The same task on some of its examples, by their numbers.
    pub(crate) fn of(&self, py: Python<'_>, examples: &[usize]) -> UserTask {
        UserTask { parts: Arc::new(self.parts.of(py, examples)) }
    }

    /// The task as the library sees it. The first exception of the user's methods goes to `interrupt`.
    pub(crate) fn problem(&self, py: Python<'_>, interrupt: &Interrupt) -> PyResult<Arc<dyn Problem>> {
        let here = self.parts.processes.as_ref().is_none_or(|processes| processes.here);
        Ok(Arc::new(self.foreign(py, interrupt, usize::from(here))?))
    }

    /// The same, whose workers are elsewhere from this place on.
    fn foreign(
        &self,
        py: Python<'_>,
        interrupt: &Interrupt,
        elsewhere: usize,
    ) -> PyResult<ForeignProblem<PythonWorker>> {
        let fate = interrupt.clone();
        let stats = Arc::new(PoolStats::with_on_loss(move |error| {
            Python::attach(|py| match lost_workers(py, error) {
                Ok(lost) | Err(lost) => drop(fate.keep(lost)),
            });
        }));
        let (parts, interrupt, counts) = (self.parts.clone(), interrupt.clone(), stats.clone());
        let make = move |place: usize| -> Result<PythonWorker, String> {
            let remote = if place < elsewhere { None } else { Remote::start(&parts, &interrupt, &counts)? };
            Python::attach(|py| PythonWorker::new(py, &parts, &interrupt, remote)).map_err(|error| error.to_string())
        };
        let first = make(0).map_err(value_error)?;
        let shape = self.parts.shape.clone();
        let problem = py.detach(|| ForeignProblem::new("user", shape, first, Box::new(make), stats));
        let problem = problem.map_err(|error| value_error(error.to_string()))?;
        Ok(problem.with_workers(self.parts.processes.as_ref().map(|processes| processes.workers)))
    }
}

/// The exception for a question that lost workers left without an answer.
fn lost_workers(py: Python<'_>, error: &OracleError) -> PyResult<PyErr> {
    let kind = py.import("multiplane._processes")?.getattr("LostWorkers")?;
    Ok(PyErr::from_value(kind.call1((&error.reason, error.block))?))
}
