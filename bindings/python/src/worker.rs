//! One thread's hold on a user's task: asks its methods and reads their answers.
//!
//! Every call costs one attachment to the interpreter (some 0.1 us where the thread has a state already) and the copy
//! of w into one read-only array.

use std::slice;
use std::sync::{Arc, PoisonError};

use multiplane::oracle::Quality;
use multiplane_core::executor::{HandOut, MESSAGE_SECONDS};
use multiplane_tasks::foreign::{
    DeclaredQuality, Examinable, FeatureVector, ForeignAnswer, ForeignTask, LOSS_ROUNDING, WorkerControl,
};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};

use crate::arrays::{RowsArgument, array, numbers};
use crate::errors::value_error;
use crate::features;
use crate::interrupt::Interrupt;
use crate::parts::{Label, Parts};
use crate::remote::{Described, Remote};

/// One thread's hold on a user's task, with its array of weights.
pub(crate) struct PythonWorker {
    parts: Arc<Parts>,
    /// What the user sees: read-only, refreshed in place.
    weights: Py<PyAny>,
    /// Where it is written.
    buffer: PyBuffer<f64>,
    interrupt: Interrupt,
    /// The process that decodes, if it is not done here.
    remote: Option<Remote>,
}

impl PythonWorker {
    pub(crate) fn new(
        py: Python<'_>,
        parts: &Arc<Parts>,
        interrupt: &Interrupt,
        remote: Option<Remote>,
    ) -> PyResult<PythonWorker> {
        let weights = py.import("numpy")?.call_method1("zeros", (parts.shape.dim,))?;
        let view = weights.call_method0("view")?;
        view.getattr("flags")?.setattr("writeable", false)?;
        let (parts, interrupt, buffer) = (parts.clone(), interrupt.clone(), array(&weights, "float64")?);
        Ok(PythonWorker { parts, weights: view.unbind(), buffer, interrupt, remote })
    }

    /// Runs Python code about an example; an exception is kept for the caller of `fit`, its text is the reason.
    fn ask<T>(&self, example: usize, work: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T, String> {
        Python::attach(|py| work(py).map_err(|error| self.interrupt.keep(noted(py, error, example))))
    }

    fn refresh(&self, py: Python<'_>, w: &[f64]) -> PyResult<()> {
        self.buffer.copy_from_slice(py, w)
    }

    /// Inputs, weights and truths of some examples, as `decode_many` takes them.
    fn question<'py>(
        &self,
        py: Python<'py>,
        examples: &[usize],
        w: &[f64],
        augmented: bool,
    ) -> PyResult<Bound<'py, PyTuple>> {
        self.refresh(py, w)?;
        let chosen = |from: &[Py<PyAny>]| PyList::new(py, examples.iter().map(|&example| from[example].bind(py)));
        let truths = if augmented { chosen(&self.parts.ys)?.into_any() } else { py.None().into_bound(py) };
        PyTuple::new(py, [chosen(&self.parts.xs)?.into_any(), self.weights.bind(py).clone(), truths])
    }

    /// Takes the answers of the process. Features and loss come with them, and those of truths that it sees first.
    fn take_reply(
        &mut self,
        examples: &[usize],
        reply: &[u8],
        out: &mut [ForeignAnswer<Label>],
    ) -> Result<(), (usize, String)> {
        Python::attach(|py| {
            let read = py.import("pickle").and_then(|pickle| pickle.call_method1("loads", (PyBytes::new(py, reply),)));
            let (found, failed) = read
                .and_then(|read| read.extract::<(Vec<Described>, Bound<'_, PyAny>)>())
                .map_err(|error| (0, self.interrupt.keep(error)))?;
            // An exception of a process has its example's number from there.
            if !failed.is_none() {
                return Err((0, self.interrupt.keep(PyErr::from_value(failed))));
            }
            for (slot, ((&example, answer), described)) in examples.iter().zip(out).zip(found).enumerate() {
                let taken = self.take_described(py, example, described, answer);
                taken.map_err(|error| (slot, self.interrupt.keep(noted(py, error, example))))?;
            }
            Ok(())
        })
    }

    /// Answers come without features if the task has no truths.
    fn take_described(
        &mut self,
        py: Python<'_>,
        example: usize,
        (answer, vector, loss, seconds, truth): Described,
        out: &mut ForeignAnswer<Label>,
    ) -> PyResult<()> {
        let (label, quality) = self.judged(answer.into_bound(py))?;
        (out.quality, out.label, out.seconds) = (quality, Some(Arc::new(label)), Some(seconds));
        out.features.clear();
        if let (Some(truth), Some(remote)) = (truth, &mut self.remote) {
            remote.truths.insert(example, truth);
        }
        if !vector.is_none(py) {
            self.read_vector(vector.bind(py), example, &mut out.features)?;
            out.loss = read_number(loss.bind(py), example)?;
            if let Some(label) = &out.label {
                out.features.fixed = self.parts.fixed_score(py, example, label)?;
            }
        }
        Ok(())
    }

    /// Features and loss of a label, if it is the truth and the process has told them.
    fn told(&self, example: usize, label: &Label) -> Option<&(Py<PyAny>, Py<PyAny>)> {
        let told = self.remote.as_ref()?.truths.get(&example)?;
        label.is(&self.parts.ys[example]).then_some(told)
    }

    /// Asks for features and losses of many labellings at once.
    fn describe_many(
        &self,
        py: Python<'_>,
        describe: &Py<PyAny>,
        examples: &[usize],
        labels: &[Py<PyAny>],
        out: &mut [ForeignAnswer<Label>],
    ) -> PyResult<()> {
        let chosen = |from: &[Py<PyAny>]| PyList::new(py, examples.iter().map(|&example| from[example].bind(py)));
        let (xs, truths) = (chosen(&self.parts.xs)?, chosen(&self.parts.ys)?);
        let (features, losses): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
            describe.bind(py).call1((xs, truths, PyList::new(py, labels)?))?.extract()?;
        let features = RowsArgument::read(&features, "describe_many: features")?;
        let losses = numbers::<f64>(&losses, "float64")?;
        let (count, dim) = (examples.len(), self.parts.shape.dim);
        if (features.rows, features.columns, losses.len()) != (count, dim, count) {
            let (rows, columns, others) = (features.rows, features.columns, losses.len());
            return Err(value_error(format!(
                "describe_many returned {rows} x {columns} features and {others} losses: expected {count} x {dim} \
                 and {count}"
            )));
        }
        let mut read = Ok(());
        let mut answers = examples.iter().zip(losses).zip(labels.iter().zip(out));
        features.each_row("describe_many: features", |columns, values| {
            let Some(((&example, loss), (label, answer))) = answers.next() else { return };
            answer.features.clear();
            let mut entries = columns.iter().zip(values);
            let pushed = entries.try_for_each(|(&column, &value)| answer.features.push(column.into(), value, dim));
            let described = pushed.map_err(value_error).and_then(|()| {
                answer.loss = checked_loss(loss, example)?;
                answer.features.fixed = self.parts.fixed_score(py, example, label)?;
                Ok(())
            });
            if read.is_ok() {
                read = described;
            }
        })?;
        read
    }

    /// A labelling with how far it can be trusted: where no bound came with it, or nothing is declared, not at all.
    fn judged(&self, answer: Bound<'_, PyAny>) -> PyResult<(Py<PyAny>, Quality)> {
        let (label, bound) = self.parts.split(answer)?;
        let quality = self.parts.declared.and_then(|declared| declared.of_answer(bound));
        Ok((label, quality.unwrap_or(Quality::Heuristic)))
    }

    fn decoded(&self, py: Python<'_>, example: usize, augmented: bool) -> PyResult<(Py<PyAny>, Quality)> {
        let (decode, x) = (self.parts.decode.bind(py), self.parts.xs[example].bind(py));
        let w = self.weights.bind(py);
        let answer =
            if augmented { decode.call1((x, w, self.parts.ys[example].bind(py)))? } else { decode.call1((x, w))? };
        self.judged(answer)
    }

    fn read_features(
        &self,
        py: Python<'_>,
        example: usize,
        label: &Py<PyAny>,
        out: &mut FeatureVector,
    ) -> PyResult<()> {
        let vector = self.parts.features.bind(py).call1((self.parts.xs[example].bind(py), label.bind(py)))?;
        self.read_vector(&vector, example, out)?;
        out.fixed = self.parts.fixed_score(py, example, label)?;
        Ok(())
    }

    /// Notes by how much the bound of an answer exceeds the score of its labelling.
    fn note_bound(&self, example: usize, w: &[f64], answer: &ForeignAnswer<Label>) {
        if self.parts.has_bounds() {
            let loose = match answer.quality {
                Quality::UpperBound(bound) => (bound - answer.features.score(w) - answer.loss).max(0.0),
                _ => f64::INFINITY,
            };
            self.parts.loose.lock().unwrap_or_else(PoisonError::into_inner)[example] = loose;
        }
    }

    fn read_vector(&self, vector: &Bound<'_, PyAny>, example: usize, out: &mut FeatureVector) -> PyResult<()> {
        features::read(vector, self.parts.shape.dim, out)
            .map_err(|error| located(vector.py(), error, example, "features(x, y)"))
    }

    fn read_loss(&self, py: Python<'_>, example: usize, label: &Py<PyAny>) -> PyResult<f64> {
        let loss = self.parts.loss.bind(py).call1((self.parts.ys[example].bind(py), label.bind(py)))?;
        read_number(&loss, example)
    }

    fn take(
        &self,
        py: Python<'_>,
        example: usize,
        found: (Py<PyAny>, Quality),
        out: &mut ForeignAnswer<Label>,
    ) -> PyResult<()> {
        out.features.clear();
        self.read_features(py, example, &found.0, &mut out.features)?;
        out.loss = self.read_loss(py, example, &found.0)?;
        out.quality = found.1;
        out.label = Some(Arc::new(found.0));
        Ok(())
    }
}

/// An exception with the number of its example.
fn noted(py: Python<'_>, error: PyErr, example: usize) -> PyErr {
    if error.is_instance_of::<PyException>(py) {
        let note = format!("while training on example {example}");
        let _ = error.value(py).call_method1("add_note", (note,)); // a note less is no harm
    }
    error
}

/// A loss, checked.
fn read_number(loss: &Bound<'_, PyAny>, example: usize) -> PyResult<f64> {
    let wrong = |_| value_error(format!("example {example}: loss(truth, y) returned {loss}: expected a number"));
    checked_loss(loss.extract().map_err(wrong)?, example)
}

/// Refuses a number that is no loss.
fn checked_loss(value: f64, example: usize) -> PyResult<f64> {
    if !(value.is_finite() && value >= -LOSS_ROUNDING) {
        return Err(value_error(format!(
            "example {example}: loss(truth, y) returned {value}: expected a finite number >= 0"
        )));
    }
    Ok(value)
}

/// Says of which example and method an error is, where it is the library's own.
fn located(py: Python<'_>, error: PyErr, example: usize, what: &str) -> PyErr {
    match error.is_instance_of::<pyo3::exceptions::PyValueError>(py) && error.traceback(py).is_none() {
        true => value_error(format!("example {example}: {what}: {}", error.value(py))),
        false => error,
    }
}

impl ForeignTask for PythonWorker {
    type Label = Label;

    fn truth(&mut self, example: usize) -> Result<Label, String> {
        Ok(Python::attach(|py| Arc::new(self.parts.ys[example].clone_ref(py))))
    }

    fn features(&mut self, example: usize, label: &Label, out: &mut FeatureVector) -> Result<(), String> {
        self.ask(example, |py| match self.told(example, label) {
            Some((vector, _)) => {
                self.read_vector(vector.bind(py), example, out)?;
                out.fixed = self.parts.fixed_score(py, example, label)?;
                Ok(())
            }
            None => self.read_features(py, example, label, out),
        })
    }

    fn loss(&mut self, example: usize, label: &Label) -> Result<f64, String> {
        self.ask(example, |py| match self.told(example, label) {
            Some((_, loss)) => read_number(loss.bind(py), example),
            None => self.read_loss(py, example, label),
        })
    }

    fn decode(&mut self, example: usize, w: &[f64], augmented: bool) -> Result<(Label, Quality), String> {
        if self.remote.is_some() {
            let mut answer = ForeignAnswer::default();
            self.answer(example, w, augmented, &mut answer)?;
            return answer.label.map(|label| (label, answer.quality)).ok_or_else(|| "no answer".into());
        }
        self.ask(example, |py| {
            self.refresh(py, w)?;
            let (label, quality) = self.decoded(py, example, augmented)?;
            Ok((Arc::new(label), quality))
        })
    }

    fn show(&mut self, label: &Label) -> Result<String, String> {
        self.ask(0, |py| Ok(label.bind(py).repr()?.to_string()))
    }

    fn answer(
        &mut self,
        example: usize,
        w: &[f64],
        augmented: bool,
        out: &mut ForeignAnswer<Label>,
    ) -> Result<(), String> {
        if self.remote.is_some() {
            return self.answers(&[example], w, augmented, slice::from_mut(out)).map_err(|(_, reason)| reason);
        }
        self.ask(example, |py| {
            self.refresh(py, w)?;
            let found = self.decoded(py, example, augmented)?;
            self.take(py, example, found, out)?;
            if augmented {
                self.note_bound(example, w, out);
            }
            Ok(())
        })
    }

    /// Asked about labellings of an earlier fit: an exception says that the task has changed, and is no error of this one.
    fn describe(&mut self, example: usize, label: &Label, out: &mut ForeignAnswer<Label>) -> Result<(), String> {
        out.features.clear();
        let told = Python::attach(|py| {
            let told = self.read_features(py, example, label, &mut out.features);
            match told.and_then(|()| self.read_loss(py, example, label)) {
                Err(error) if error.is_instance_of::<PyException>(py) => Ok(Err(error.to_string())),
                told => told.map(Ok),
            }
        });
        out.loss = self.ask(example, |_| told)??;
        Ok(())
    }

    fn declared(&self) -> String {
        self.parts.declared.map_or("nothing", DeclaredQuality::name).into()
    }

    fn answers(
        &mut self,
        examples: &[usize],
        w: &[f64],
        augmented: bool,
        out: &mut [ForeignAnswer<Label>],
    ) -> Result<(), (usize, String)> {
        if let Some(remote) = &mut self.remote {
            let reply = remote.reply(examples, w, augmented).map_err(|reason| (0, reason))?;
            remote.earn(examples.len());
            remote.truths.clear();
            self.take_reply(examples, &reply, out)?;
            if augmented {
                examples.iter().zip(&*out).for_each(|(&example, answer)| self.note_bound(example, w, answer));
            }
            return Ok(());
        }
        let Some(decode_many) = &self.parts.decode_many else {
            for (slot, (&example, answer)) in examples.iter().zip(out).enumerate() {
                self.answer(example, w, augmented, answer).map_err(|reason| (slot, reason))?;
            }
            return Ok(());
        };
        let labels = self.ask(examples.first().copied().unwrap_or(0), |py| {
            let found = decode_many.bind(py).call1(self.question(py, examples, w, augmented)?)?;
            let found = PyTuple::new(py, found.try_iter()?.collect::<PyResult<Vec<_>>>()?)?;
            if found.len() != examples.len() {
                let (asked, came) = (examples.len(), found.len());
                return Err(value_error(format!("decode_many returned {came} labellings for {asked} examples")));
            }
            Ok(found.iter().map(Bound::unbind).collect::<Vec<_>>())
        });
        let labels = labels.map_err(|reason| (0, reason))?;
        if let Some(describe) = &self.parts.describe_many {
            let described = self.ask(examples.first().copied().unwrap_or(0), |py| {
                let judged = labels.into_iter().map(|label| self.judged(label.into_bound(py)));
                let (labels, qualities): (Vec<_>, Vec<_>) = judged.collect::<PyResult<Vec<_>>>()?.into_iter().unzip();
                self.describe_many(py, describe, examples, &labels, out)?;
                for ((&example, answer), (label, quality)) in
                    examples.iter().zip(out).zip(labels.into_iter().zip(qualities))
                {
                    (answer.label, answer.quality) = (Some(Arc::new(label)), quality);
                    if augmented {
                        self.note_bound(example, w, answer);
                    }
                }
                Ok(())
            });
            return described.map_err(|reason| (0, reason));
        }
        for (slot, ((&example, answer), label)) in examples.iter().zip(out).zip(labels).enumerate() {
            let described = self.ask(example, |py| {
                let found = self.judged(label.into_bound(py))?;
                self.take(py, example, found, answer)?;
                if augmented {
                    self.note_bound(example, w, answer);
                }
                Ok(())
            });
            described.map_err(|reason| (slot, reason))?;
        }
        Ok(())
    }
}

impl WorkerControl for PythonWorker {
    /// The thread that called `fit` is not to be lost on an example that a process was lost on.
    fn hand_out(&self) -> HandOut {
        let lasting = HandOut::lasting(MESSAGE_SECONDS);
        match (&self.remote, &self.parts.processes) {
            (Some(_), _) => HandOut { batches: 2, ..lasting },
            (None, Some(_)) => HandOut { suspects: false, ..lasting },
            (None, None) => HandOut::of(self.parts.batch),
        }
    }

    fn begin(&mut self, examples: &[usize], w: &[f64]) {
        if let Some(remote) = &mut self.remote {
            let _ = remote.begin(examples, w, true); // what goes wrong is said by `answers`
        }
    }

    fn is_lost(&self) -> bool {
        self.remote.as_ref().is_some_and(Remote::is_lost)
    }

    fn restart(&mut self) -> Result<(), String> {
        self.remote.as_mut().map_or(Ok(()), Remote::restart)
    }

    /// Looks for Ctrl-C.
    fn goes_on_waiting(&mut self) -> bool {
        Python::attach(|py| {
            if let Err(error) = py.check_signals() {
                self.interrupt.keep(error);
            }
        });
        !self.interrupt.is_set()
    }
}

/// The doctor asks in Python.
impl Examinable for PythonWorker {}
