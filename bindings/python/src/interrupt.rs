//! Ctrl-C: library code runs on a thread of its own while the calling thread looks for signals.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

use crate::errors::panicked;

/// How often the calling thread looks for signals.
const POLL: Duration = Duration::from_millis(20);

/// A wish to stop, and the exception that it came with.
#[derive(Clone, Default)]
pub(crate) struct Interrupt {
    /// Set once somebody wants to stop.
    pub(crate) flag: Arc<AtomicBool>,
}

/// Runs `work` on another thread, without the interpreter lock. A signal whose handler raises (Ctrl-C) sets the flag;
/// the exception is returned beside what the work then comes to.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    interrupt: &Interrupt,
    work: impl FnOnce() -> T + Send,
) -> PyResult<(T, Option<PyErr>)> {
    let flag = &interrupt.flag;
    let (done, waiting) = channel();
    let (outcome, raised) = py.detach(move || {
        thread::scope(|scope| {
            let worker = scope.spawn(move || {
                let result = work();
                let _ = done.send(()); // the receiver may have gone after a signal
                result
            });
            let mut raised = None;
            while let Err(RecvTimeoutError::Timeout) = waiting.recv_timeout(POLL) {
                if raised.is_none()
                    && let Err(error) = Python::attach(|py| py.check_signals())
                {
                    flag.store(true, Ordering::Relaxed);
                    raised = Some(error);
                }
            }
            (worker.join(), raised)
        })
    });
    match outcome {
        Ok(result) => Ok((result, raised)),
        Err(panic) => Err(panicked(&*panic)),
    }
}
