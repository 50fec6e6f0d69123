//! Those who watch a run: its records, a Python callable, and a look at signals.

use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use multiplane::observe::{Observer, Record, Tick};
use pyo3::prelude::*;

use crate::interrupt::Interrupt;
use crate::parts::Parts;

/// How often a watcher hears of a run between records.
const TICK: Duration = Duration::from_millis(100);

/// Returns a record as JSON text; of a task that declares bounds with the part of the gap that is due to them.
fn text_of(record: &Record, bounds: Option<&Parts>) -> io::Result<String> {
    let Some(parts) = bounds else { return Ok(serde_json::to_string(record)?) };
    let mut value = serde_json::to_value(record)?;
    let loose = parts.loose();
    let known = loose.iter().filter(|loose| loose.is_finite());
    value["bound_gap"] = (known.sum::<f64>() / loose.len() as f64).into();
    value["without_bound"] = loose.iter().filter(|loose| loose.is_infinite()).count().into();
    Ok(value.to_string())
}

/// Writes records for the report, one a line.
pub(crate) struct Recorder {
    pub(crate) history: Arc<Mutex<String>>,
    pub(crate) bounds: Option<Arc<Parts>>,
}

impl Observer for Recorder {
    fn evaluated(&mut self, record: &Record) -> io::Result<()> {
        let line = text_of(record, self.bounds.as_deref())? + "\n";
        self.history.lock().unwrap_or_else(PoisonError::into_inner).push_str(&line);
        Ok(())
    }
}

/// A Python callable that hears of records (`JSON text`), of progress between them (`pass, calls, seconds`) and of what
/// is to be said before the run (`kind, text`), on the thread that called `fit`. If it returns True the run ends; an
/// exception in it stops the run, as Ctrl-C does.
pub(crate) struct Watcher {
    pub(crate) callable: Arc<Py<PyAny>>,
    pub(crate) bounds: Option<Arc<Parts>>,
    pub(crate) interrupt: Interrupt,
    pub(crate) told: Instant,
}

impl Watcher {
    /// Says how a choice of lambda goes on, or a hint.
    pub(crate) fn say(&self, kind: &'static str, text: String) {
        self.tell((kind, text));
    }

    fn tell<A>(&self, told: A)
    where
        A: for<'py> pyo3::call::PyCallArgs<'py> + Send + 'static,
    {
        let (callable, interrupt) = (self.callable.clone(), self.interrupt.clone());
        self.interrupt.on_calling_thread(move || {
            Python::attach(|py| match callable.bind(py).call1(told).and_then(|answer| answer.is_truthy()) {
                Ok(true) => interrupt.end.store(true, Ordering::Relaxed),
                Ok(false) => {}
                Err(error) => interrupt.stop(error),
            });
        });
    }
}

impl Observer for Watcher {
    fn evaluated(&mut self, record: &Record) -> io::Result<()> {
        self.tell((text_of(record, self.bounds.as_deref())?,));
        Ok(())
    }
    fn ticked(&mut self, tick: Tick) {
        if self.told.elapsed() < TICK {
            return;
        }
        self.told = Instant::now();
        self.tell((tick.pass, tick.oracle_calls + tick.evaluation_calls, tick.seconds));
    }
}

/// Looks for signals between the calls of a user's oracle, which runs on the calling thread.
pub(crate) struct Signals {
    pub(crate) interrupt: Interrupt,
    pub(crate) looked: Instant,
}

impl Observer for Signals {
    fn evaluated(&mut self, _record: &Record) -> io::Result<()> {
        Ok(())
    }
    fn ticked(&mut self, _tick: Tick) {
        if self.looked.elapsed() < TICK / 5 {
            return;
        }
        self.looked = Instant::now();
        if let Err(error) = Python::attach(|py| py.check_signals()) {
            self.interrupt.stop(error);
        }
    }
}
