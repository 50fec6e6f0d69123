//! A process that holds a user's task with its examples: questions go out as pickles, answers come back.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use multiplane_core::executor::{Connection, Patience, PoolStats, RESTARTS, Transport};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::errors::value_error;
use crate::interrupt::Interrupt;
use crate::parts::Parts;

/// A worker that Python starts: an object with `send(number, message)`, `receive(seconds)` and `kill()`. Ctrl-C while
/// it is asked stops the work.
struct PythonTransport(Py<PyAny>, Interrupt);

/// The text of an exception, which is the reason that users read.
fn text(py: Python<'_>, error: &PyErr, interrupt: &Interrupt) -> String {
    if !error.is_instance_of::<PyException>(py) {
        return interrupt.keep(error.clone_ref(py));
    }
    match error.is_instance_of::<pyo3::exceptions::PyOSError>(py)
        || error.is_instance_of::<pyo3::exceptions::PyEOFError>(py)
    {
        true => error.value(py).to_string(),
        false => error.to_string(),
    }
}

impl Transport for PythonTransport {
    fn send(&mut self, number: u64, message: Vec<u8>) -> Result<(), String> {
        Python::attach(|py| {
            let sent = self.0.bind(py).call_method1("send", (number, PyBytes::new(py, &message)));
            sent.map(drop).map_err(|error| text(py, &error, &self.1))
        })
    }

    fn receive(&mut self, limit: Duration) -> Result<Option<(u64, Vec<u8>)>, String> {
        Python::attach(|py| {
            let came = self.0.bind(py).call_method1("receive", (limit.as_secs_f64(),));
            let read = came.and_then(|came| came.extract::<Option<(u64, Bound<'_, PyBytes>)>>());
            let read = read.map_err(|error| text(py, &error, &self.1))?;
            Ok(read.map(|(number, message)| (number, message.as_bytes().to_vec())))
        })
    }

    fn kill(&mut self) {
        Python::attach(|py| {
            let _ = self.0.bind(py).call_method0("kill"); // it is gone in any case
        });
    }
}

/// The answer of a process about an example: labelling, features, loss and seconds; the first time the features and the
/// loss of the truth as well.
pub(crate) type Described = (Py<PyAny>, Py<PyAny>, Py<PyAny>, f64, Option<(Py<PyAny>, Py<PyAny>)>);

/// A request that a process has been sent.
struct Begun {
    number: u64,
    examples: Vec<usize>,
    w: Arc<Vec<f64>>,
}

/// A hold on a process.
pub(crate) struct Remote {
    connection: Connection<PythonTransport>,
    /// The weights that the process has.
    sent: Option<Arc<Vec<f64>>>,
    begun: Vec<Begun>,
    /// Features and losses of truths that came with answers, until they are asked for.
    pub(crate) truths: HashMap<usize, (Py<PyAny>, Py<PyAny>)>,
}

fn same(one: &[f64], other: &[f64]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.to_bits() == other.to_bits())
}

impl Remote {
    /// Starts a process for the task of `parts`.
    pub(crate) fn start(
        parts: &Arc<Parts>,
        interrupt: &Interrupt,
        stats: &Arc<PoolStats>,
    ) -> Result<Option<Remote>, String> {
        let Some(processes) = &parts.processes else { return Ok(None) };
        let patience = Patience {
            limit: Duration::try_from_secs_f64(processes.timeout).unwrap_or(Duration::MAX),
            hint: "",
            // Machines of a cluster come and go; a question that costs several workers is given up in any case.
            restarts: if processes.here { RESTARTS } else { usize::MAX },
            stop: interrupt.flag.clone(),
        };
        let (again, interrupt) = (parts.clone(), interrupt.clone());
        let start = move |py: Python<'_>| -> PyResult<PythonTransport> {
            let start = again.processes.as_ref().map(|processes| processes.start.bind(py));
            let chosen = |from: &[Py<PyAny>]| PyList::new(py, from.iter().map(|one| one.bind(py)));
            let start = start.ok_or_else(|| value_error("there are no processes"))?;
            let worker = start.call1((chosen(&again.xs)?, chosen(&again.ys)?))?.unbind();
            Ok(PythonTransport(worker, interrupt.clone()))
        };
        let first = Python::attach(&start).map_err(|error| error.to_string())?;
        let restart = move || Python::attach(&start).map_err(|error| format!("it could not be started again: {error}"));
        let connection = Connection::new(first, Box::new(restart), patience, stats.clone());
        Ok(Some(Remote { connection, sent: None, begun: Vec::new(), truths: HashMap::new() }))
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.connection.fault().is_some()
    }

    pub(crate) fn restart(&mut self) -> Result<(), String> {
        self.connection.restart()?;
        self.sent = None;
        self.begun.clear();
        Ok(())
    }

    /// Asks about some examples at `w`, with the loss added if `augmented`. If the process cannot be asked,
    /// [`reply`](Remote::reply) reports it and blames the examples in hand, not these.
    pub(crate) fn begin(&mut self, examples: &[usize], w: &[f64], augmented: bool) -> Result<(), String> {
        if let Some(reason) = self.connection.fault() {
            return Err(reason.into());
        }
        let known = self.sent.clone().filter(|sent| same(sent, w));
        let weights = known.clone().unwrap_or_else(|| Arc::new(w.to_vec()));
        let bytes = known.is_none().then(|| w.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>());
        let pickled = Python::attach(|py| -> PyResult<Vec<u8>> {
            let request = (bytes.map(|bytes| PyBytes::new(py, &bytes)), examples.to_vec(), augmented);
            let pickled = py.import("pickle")?.call_method1("dumps", (request,))?;
            Ok(pickled.cast::<PyBytes>()?.as_bytes().to_vec())
        });
        let message = pickled.map_err(|error| error.to_string())?;
        let number = self.connection.send(|_| message)?;
        self.sent = Some(weights.clone());
        self.begun.push(Begun { number, examples: examples.to_vec(), w: weights });
        Ok(())
    }

    /// Waits for the reply about some examples at `w`, which are asked about now if that was not begun.
    pub(crate) fn reply(&mut self, examples: &[usize], w: &[f64], augmented: bool) -> Result<Vec<u8>, String> {
        let begun = |begun: &Begun| augmented && begun.examples == examples && same(&begun.w, w);
        let place = self
            .begun
            .iter()
            .position(begun)
            .map_or_else(|| self.begin(examples, w, augmented).map(|()| self.begun.len() - 1), Ok);
        let received = place.and_then(|place| self.connection.receive(self.begun.remove(place).number));
        received.inspect_err(|reason| self.connection.fail(reason.clone()))
    }

    /// Counts usable answers.
    pub(crate) fn earn(&mut self, answers: usize) {
        self.connection.earn(answers);
    }
}
