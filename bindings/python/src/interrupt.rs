//! Ctrl-C: library code runs on a thread of its own while the calling thread looks for signals.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

use crate::errors::panicked;

/// How often the calling thread looks for signals.
const POLL: Duration = Duration::from_millis(20);

/// A part of some work that is done on the thread that called `fit`.
type CallerJob = Box<dyn FnOnce() + Send>;

/// A wish to stop, and the exception that it came with.
#[derive(Clone, Default)]
pub(crate) struct Interrupt {
    /// True once the work shall end.
    pub(crate) end: Arc<AtomicBool>,
    /// True once it shall stop at once, without another call of the oracle.
    pub(crate) flag: Arc<AtomicBool>,
    raised: Arc<Mutex<Option<PyErr>>>,
    /// The way to the thread that called `fit`, if the work is on another one.
    caller: Arc<Mutex<Option<Sender<Option<CallerJob>>>>>,
}

impl Interrupt {
    /// True once the work shall stop.
    pub(crate) fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// Stops the work with an exception of the user's methods; its text is the reason.
    pub(crate) fn keep(&self, error: PyErr) -> String {
        let reason = error.to_string();
        self.stop(error);
        reason
    }

    /// Stops the work; the exception is kept if it is the first.
    pub(crate) fn stop(&self, error: PyErr) {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.end.store(true, Ordering::Relaxed);
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Runs a job on the thread that called `fit`, and waits for it.
    pub(crate) fn on_calling_thread(&self, job: impl FnOnce() + Send + 'static) {
        let caller = self.caller.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(caller) = caller else { return job() };
        let (done, waiting) = channel();
        let told = caller.send(Some(Box::new(move || {
            job();
            let _ = done.send(()); // the one who waits is there
        })));
        let _ = told.map(|()| waiting.recv());
    }

    /// Takes the exception that was kept.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Runs `work` on another thread, without the interpreter lock; jobs for the calling thread run here. A signal whose handler
/// raises (Ctrl-C) stops it, and the exception is kept.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    interrupt: &Interrupt,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let (done, waiting) = channel::<Option<CallerJob>>();
    let caller = |way| *interrupt.caller.lock().unwrap_or_else(PoisonError::into_inner) = way;
    caller(Some(done.clone()));
    let outcome = py.detach(move || {
        thread::scope(|scope| {
            let worker = scope.spawn(move || {
                let result = work();
                let _ = done.send(None); // the receiver may have gone after a signal
                result
            });
            let mut stopped = false;
            loop {
                match waiting.recv_timeout(POLL) {
                    Ok(Some(job)) => job(),
                    Ok(None) | Err(RecvTimeoutError::Disconnected) => break,
                    Err(RecvTimeoutError::Timeout) if worker.is_finished() => break, // by a panic
                    Err(RecvTimeoutError::Timeout) => {}
                }
                if !stopped && let Err(error) = Python::attach(|py| py.check_signals()) {
                    interrupt.stop(error);
                    stopped = true;
                }
            }
            worker.join()
        })
    });
    caller(None);
    outcome.map_err(|panic| panicked(&*panic))
}
