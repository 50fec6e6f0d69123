//! Ctrl-C: library code runs on a thread of its own while the calling thread looks for signals.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use crate::errors::panicked;

/// How often the calling thread looks for signals.
const POLL: Duration = Duration::from_millis(20);

/// A wish to stop, and the exception that it came with.
#[derive(Clone, Default)]
pub(crate) struct Interrupt {
    /// True once the work shall stop.
    pub(crate) flag: Arc<AtomicBool>,
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl Interrupt {
    /// True once the work shall stop.
    pub(crate) fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// Keeps an exception of the user's methods for the caller of `fit`, if it is the first; its text is the reason.
    /// One that is no `Exception`, as that of Ctrl-C, and one that keeps results stop the work.
    pub(crate) fn keep(&self, py: Python<'_>, error: PyErr) -> String {
        let reason = error.to_string();
        let keeps_results = || error.value(py).hasattr("keeps_results").unwrap_or(false);
        if !error.is_instance_of::<PyException>(py) || keeps_results() {
            self.flag.store(true, Ordering::Relaxed);
        }
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        reason
    }

    /// Stops the work; the exception is kept if it is the first.
    pub(crate) fn stop(&self, error: PyErr) {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Takes the exception that was kept.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Runs `work` on another thread, without the interpreter lock. A signal whose handler raises (Ctrl-C) stops it, and
/// the exception is kept.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    interrupt: &Interrupt,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let (done, waiting) = channel();
    let outcome = py.detach(move || {
        thread::scope(|scope| {
            let worker = scope.spawn(move || {
                let result = work();
                let _ = done.send(()); // the receiver may have gone after a signal
                result
            });
            let mut stopped = false;
            while let Err(RecvTimeoutError::Timeout) = waiting.recv_timeout(POLL) {
                if !stopped && let Err(error) = Python::attach(|py| py.check_signals()) {
                    interrupt.stop(error);
                    stopped = true;
                }
            }
            worker.join()
        })
    });
    outcome.map_err(|panic| panicked(&*panic))
}
